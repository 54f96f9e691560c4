import { exactNumberOf, type JsonScan, scanJson } from "./json-scan.ts";

/**
 * JSON as plain data that loses nothing.
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

/** A value as JSON text: how values travel between the Worker and its objects, since a raw number cannot. */
export type JsonText = string;

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
 * The number that is meant, where a double holds its value, however it is spelt: 1 for `1.0`, 100 for `1E+2`.
 *
 * @returns undefined for a number that a double would round, such as `9007199254740993`
 */
export function exactNumber(value: RawNumber): number | undefined {
  return exactNumberOf(numberText(value));
}

/**
 * Reads JSON without changing a number.
 *
 * @param scan what is known of the text already
 * @throws SyntaxError for text that is not JSON, and for a number that this engine cannot keep ({@link keepsNumbers})
 */
export function parseJson(text: string, scan: JsonScan = scanJson(text)): Json {
  return scan.exact ? JSON.parse(text) : JSON.parse(text, keepSpelling);
}

/** How many members the objects of a value have, in all. Its depth is bounded: it is walked by recursion. */
export function countMembers(value: Json): number {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else for (const name in value) count += 1 + countMembers(value[name] ?? null);
  return count;
}

/** As {@link parseJson}, of an object's text. @throws also for a text of anything else */
export function objectOf(text: JsonText): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new SyntaxError("This JSON is not of an object.");
  return value;
}

/** As {@link parseJson}. @returns undefined where the text is not JSON */
export function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads JSON for a program that calculates: a number is plain where a double holds its value, however it is spelt.
 *
 * @throws as {@link parseJson}
 */
export function parseJsonValues(text: string, scan: JsonScan = scanJson(text)): Json {
  return scan.held ? JSON.parse(text) : JSON.parse(text, keepValue);
}

type Reviver = (member: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Keeps the numbers that a double would change as they were written. */
function keeping(isKept: (written: string, value: number) => boolean): Reviver {
  return (_member, value, context) => {
    if (typeof value !== "number") return value;
    const written = context?.source;
    if (written === undefined || engine.rawJSON === undefined) {
      throw new SyntaxError("This JavaScript engine cannot keep a number as it was written.");
    }
    return isKept(written, value) ? engine.rawJSON(written) : value;
  };
}
const keepSpelling = keeping((written, value) => String(value) !== written);
const keepValue = keeping((written) => exactNumberOf(written) === undefined);
