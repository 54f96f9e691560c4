/** JSON as plain data, and a check of its depth that cannot itself be exhausted. */

export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = { [member: string]: Json };

/** How deeply a body may nest. Far above any real payload, far below what a recursive reader survives. */
export const JSON_DEPTH_MAX = 64;

/** True for `{…}`: what a JSON body of ours always is. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @returns the value of a JSON text; undefined where it is none */
export function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * How deeply arrays and objects nest in a JSON text, found without parsing it: parsers and validators recurse,
 * so a body of 100 000 brackets must be refused before it reaches one.
 *
 * @param text any text; a text that is not JSON gives a number that the parser's own refusal makes irrelevant
 * @returns 0 for a scalar, 1 for `{}` or `[]`, and so on
 */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inString = false;
    } else if (c === QUOTE) inString = true;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
