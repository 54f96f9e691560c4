/**
 * JSON as plain data that loses nothing: its numbers, and a check of its depth that cannot itself be exhausted.
 *
 * A double prints `9007199254740993`, `1.10` or `-0` differently from how they were written. Such a number is read as
 * a {@link RawNumber}, which `JSON.stringify` prints as it was written. Every other number is a plain one.
 */

declare const asWritten: unique symbol;

/** A number as it was written; opaque, for {@link isRawNumber} and {@link numberText}. It cannot be cloned or sent by RPC. */
export interface RawNumber {
  readonly [asWritten]: true;
}

export type Json = string | number | boolean | null | RawNumber | Json[] | JsonObject;
export type JsonObject = { [member: string]: Json };

/** How deeply a body may nest. Far above any real payload, far below what a recursive reader survives. */
export const JSON_DEPTH_MAX = 64;

/** "JSON.parse source text access" of ECMAScript: workerd and Node 22 have it, and older engines of clients do not. */
interface SourceText {
  rawJSON?(text: string): RawNumber;
  isRawJSON?(value: unknown): boolean;
}
const engine: JSON & SourceText = JSON;

/** Whether this JavaScript engine can keep a number as it was written. The gateway's own engines can. */
export function keepsNumbers(): boolean {
  return engine.rawJSON !== undefined;
}

/** True for `{…}`: what a JSON body of ours always is. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** True for a number that a double would print differently. */
export function isRawNumber(value: unknown): value is RawNumber {
  return typeof value === "object" && engine.isRawJSON?.(value) === true;
}

/** The text of a number, as it was written. */
export function numberText(value: number | RawNumber): string {
  return JSON.stringify(value);
}

/**
 * Reads JSON without changing a number.
 *
 * @throws SyntaxError for text that is not JSON, and for a number that this engine cannot keep ({@link keepsNumbers})
 */
export function parseJson(text: string): Json {
  return scanJson(text).exact ? JSON.parse(text) : JSON.parse(text, keepNumber);
}

/** As {@link parseJson}. @returns undefined where the text is not JSON */
export function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function keepNumber(_member: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number") return value;
  const source = context?.source;
  if (source === undefined || engine.rawJSON === undefined) {
    throw new SyntaxError("This JavaScript engine cannot keep a number as it was written.");
  }
  return String(value) === source ? value : engine.rawJSON(source);
}

/** What a text holds, found without parsing it. */
export interface JsonScan {
  /** How deeply arrays and objects nest: 0 for a scalar, 1 for `{}` or `[]`, and so on. */
  readonly depth: number;
  /** A double prints each of its numbers as it is written. */
  readonly exact: boolean;
  /** How many members its objects have, those that are written twice counted twice. */
  readonly members: number;
}

/**
 * Looks through a JSON text without parsing it: parsers and validators recurse, so a body of 100 000 brackets must be
 * refused before it reaches one.
 *
 * @param text any text; what is found in one that is not JSON is irrelevant, since the parser refuses it
 */
export function scanJson(text: string): JsonScan {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let exact = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === COLON) members++;
    else if (c === MINUS || isDigit(c)) {
      const end = endOfNumber(text, i);
      exact &&= isExact(text, i, end);
      i = end - 1;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
  }
  return { depth: deepest, exact, members };
}

/** As {@link scanJson}, of the depth alone. */
export function jsonDepth(text: string): number {
  return scanJson(text).depth;
}

/** Where the string ends that begins at `start`: at its closing quote. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i;
  }
  return text.length;
}

/** Behind the last character that can belong to the number. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
  return end;
}

/** An integer of so many digits is below 2^53, and is printed with the same digits. */
const PLAIN_DIGITS_MAX = 15;

function isExact(text: string, start: number, end: number): boolean {
  if (end - start <= PLAIN_DIGITS_MAX && text.charCodeAt(start) !== MINUS) {
    let i = start + 1;
    while (i < end && isDigit(text.charCodeAt(i))) i++;
    if (i === end) return true;
  }
  const written = text.slice(start, end);
  return String(Number(written)) === written;
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= NINE;
}

function isOfNumber(c: number): boolean {
  return isDigit(c) || c === POINT || c === PLUS || c === MINUS || c === SMALL_E || c === LARGE_E;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LARGE_E = 0x45;
const SMALL_E = 0x65;
