import type { Decision } from "./limiter.ts";
import type { PolicyReport } from "./policy-report.ts";

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): structured-field lists of quoted
 * names with integer parameters. Written here and read here, for the Worker and for clients alike.
 */

/** One entry of `RateLimit-Policy`: quota `q`, and the window `w` in seconds where the quota comes back at all. */
export interface QuotaPolicy {
  readonly name: string;
  readonly q: number;
  readonly w?: number;
}

/**
 * One entry of `RateLimit`: remaining `r`, and seconds `t`, where that time comes: for a limit that refused, until the
 * refused cost fits it; for any other, until the whole quota is there again.
 */
export interface ServiceLimit {
  readonly name: string;
  readonly r: number;
  readonly t?: number;
}

export function quotaPolicies(reports: readonly PolicyReport[]): QuotaPolicy[] {
  return reports.map(({ name, limit, windowSeconds }) =>
    windowSeconds === null ? { name, q: limit } : { name, q: limit, w: windowSeconds },
  );
}

/** @param decision what is told of each limit, and for a refusal when its cost fits those that refused */
export function serviceLimits(decision: Decision): ServiceLimit[] {
  const fitsIn = new Map(decision.outcome === "rate_limited" ? Object.entries(decision.fitsInSeconds) : []);
  return decision.reports.map(({ name, remaining, resetSeconds }) => {
    const t = fitsIn.get(name) ?? resetSeconds;
    return t === null ? { name, r: remaining } : { name, r: remaining, t };
  });
}

/** The value of `RateLimit-Policy`. Names must be printable ASCII, which the policy schema holds. */
export function writePolicyHeader(policies: readonly QuotaPolicy[]): string {
  return policies.map(({ name, q, w }) => `${quoted(name)};q=${q}${w === undefined ? "" : `;w=${w}`}`).join(", ");
}

/** The value of `RateLimit`. */
export function writeLimitHeader(limits: readonly ServiceLimit[]): string {
  return limits.map(({ name, r, t }) => `${quoted(name)};r=${r}${t === undefined ? "" : `;t=${t}`}`).join(", ");
}

/** @returns the entries, or null for a value that is not of this form (unknown parameters are passed over) */
export function parsePolicyHeader(value: string): QuotaPolicy[] | null {
  return parseList(value, ({ name, parameters }) => {
    const { q, w } = parameters;
    return q === undefined ? null : w === undefined ? { name, q } : { name, q, w };
  });
}

/** @returns the entries, or null for a value that is not of this form */
export function parseLimitHeader(value: string): ServiceLimit[] | null {
  return parseList(value, ({ name, parameters }) => {
    const { r, t } = parameters;
    return r === undefined ? null : t === undefined ? { name, r } : { name, r, t };
  });
}

function quoted(name: string): string {
  return SPECIAL.test(name) ? `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : `"${name}"`;
}

const SPECIAL = /["\\]/;

interface Item {
  readonly name: string;
  readonly parameters: Record<string, number | undefined>;
}

// One list member: a quoted string, then `;key` or `;key=value`, where only integer values are of use here
// (RFC 9651 allows strings, tokens, byte sequences and booleans beside them).
const MEMBER =
  /\s*"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"((?:;\s*[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\.)*"|[^;,"\s]+))?)*)\s*/y;
const PARAMETER = /;\s*([a-z*][a-z0-9_.*-]*)(?:=("(?:[^"\\]|\\.)*"|[^;,"\s]+))?/g;

function parseList<T>(value: string, read: (item: Item) => T | null): T[] | null {
  const entries: T[] = [];
  for (let at = 0; at < value.length; ) {
    MEMBER.lastIndex = at;
    const match = MEMBER.exec(value);
    if (match === null) return null;
    const [whole, name = "", rest = ""] = match;
    const entry = read({ name: name.replace(/\\(["\\])/g, "$1"), parameters: integers(rest) });
    if (entry === null) return null;
    entries.push(entry);
    at += whole.length;
    if (at === value.length) return entries;
    if (value[at] !== ",") return null;
    at += 1;
    if (value.slice(at).trim() === "") return null;
  }
  return entries.length > 0 ? entries : null;
}

function integers(text: string): Record<string, number | undefined> {
  const found: Record<string, number | undefined> = Object.create(null);
  for (const [, key = "", value = ""] of text.matchAll(PARAMETER)) {
    if (/^-?\d{1,15}$/.test(value)) found[key] = Number(value);
  }
  return found;
}
