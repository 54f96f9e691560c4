import { isRawNumber, type Json } from "./json.ts";

/**
 * A caller's own name for a command, so that sending it twice is sending it once (draft-ietf-httpapi-idempotency-key).
 * The same key with the same body gets the first answer again; with another body it is a mistake; while the first is
 * still being answered, the second has to wait.
 */

/** What is kept of a key that was used. */
export interface UsedKey<Answer> {
  /** Of the body it was used with. */
  readonly fingerprint: string;
  readonly answer: Answer;
  /** When it was used, Unix milliseconds. */
  readonly atMs: number;
}

/** A key whose first request has not been answered yet. */
export interface ClaimedKey {
  readonly fingerprint: string;
  /** When it is answered at the latest: past this the claim is void, so that no crash locks a key. */
  readonly untilMs: number;
}

export type KeyVerdict<Answer> =
  | { readonly verdict: "fresh" }
  | { readonly verdict: "repeated"; readonly answer: Answer }
  | { readonly verdict: "in_flight"; readonly retryAfterSeconds: number }
  | { readonly verdict: "conflict" };

/** @param keepMs how long a used key is kept, in milliseconds */
export function judgeKey<Answer>(
  fingerprint: string,
  used: UsedKey<Answer> | null,
  claimed: ClaimedKey | null,
  keepMs: number,
  nowMs: number,
): KeyVerdict<Answer> {
  const claim = claimed !== null && claimed.untilMs > nowMs ? claimed : null;
  const kept = used !== null && nowMs - used.atMs < keepMs ? used : null;
  const first = claim ?? kept;
  if (first !== null && first.fingerprint !== fingerprint) return { verdict: "conflict" };
  if (claim !== null) {
    const seconds = Math.ceil((claim.untilMs - nowMs) / 1000);
    return { verdict: "in_flight", retryAfterSeconds: Math.min(IN_FLIGHT_SECONDS_MAX, Math.max(1, seconds)) };
  }
  return kept === null ? { verdict: "fresh" } : { verdict: "repeated", answer: kept.answer };
}

/** The first request may be answered at any moment: waiting for the latest that it can be would mostly be in vain. */
const IN_FLIGHT_SECONDS_MAX = 5;

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The key that a header names: as it stands, or as the quoted string of a structured field. Only a quoted key may hold a
 * comma: two fields of this name arrive as one text with a comma between them, and the command would have either name.
 *
 * @returns null when it is no key
 */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1];
  if (quoted === undefined && text.includes(",")) return null;
  const key = quoted === undefined ? text : quoted.replace(/\\(["\\])/g, "$1");
  return KEY.test(key) ? key : null;
}

/**
 * JSON as one text, whatever the order of members and the spaces were: members sorted by UTF-16 units, strings as
 * `JSON.stringify` writes them (the rules of RFC 8785), numbers as they were written: to a backend `1.0` may be another
 * request than `1`, and a double cannot tell whether two long numbers are one.
 *
 * @param value as deep as a body may be: it is walked by recursion
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null || isRawNumber(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
