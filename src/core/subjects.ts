import type { Policy, Scope } from "./policy.ts";

/**
 * Whose use a limit counts, and the id of the meter that counts it. An id tells type, scope, policy and subject, and no
 * two differ in these and share one: so a policy that changes its type or scope finds other meters, and its old ones
 * when it changes back.
 */

/** What a request tells of itself. Names are opaque here. */
export interface Subjects {
  /** The API key's id, or the token's subject. */
  readonly credential: string | null;
  /** As `addressKey` gives it. */
  readonly ip: string | null;
  /** What the caller named. */
  readonly key: string | null;
}

export const NOBODY: Subjects = { credential: null, ip: null, key: null };

/** Whoever shows no credential or address shares one limit: leaving it out is no way around. */
const UNKNOWN = "unknown";

/** The subject that a scope counts, "" for the tenant; null when the policy does not apply to this request. */
export function subjectOf(scope: Scope, subjects: Subjects): string | null {
  switch (scope) {
    case "tenant":
      return "";
    case "credential":
    case "ip":
      return wellFormed(subjects[scope]) ?? UNKNOWN;
    case "key":
      return wellFormed(subjects.key);
  }
}

/** Lone surrogates do not survive the disk: what would be one row must be one meter. An empty name is none. */
function wellFormed(name: string | null): string | null {
  return name === null || name === "" ? null : name.toWellFormed();
}

const TYPE_MARKS: Readonly<Record<Policy["type"], string>> = {
  "token-bucket": "b",
  "fixed-window": "f",
  "sliding-window": "s",
};
const SCOPE_MARKS: Readonly<Record<Scope, string>> = { tenant: "t", credential: "c", ip: "i", key: "k" };
/** Policy names are printable ASCII: the first of these in an id ends the name. */
const SEPARATOR = "\n";

/** What all ids of a policy's meters begin with; the whole id for scope `tenant`. */
export function policyKey({ type, scope, name }: Pick<Policy, "type" | "scope" | "name">): string {
  return TYPE_MARKS[type] + SCOPE_MARKS[scope] + name;
}

/** @param subject not empty */
export function subjectId(key: string, subject: string): string {
  return key + SEPARATOR + subject;
}

/** The meter that subjects of a policy share for whom there is no room. */
export function overflowId(key: string): string {
  return key + SEPARATOR;
}

/** Whether an id is that of a shared meter. */
export function isOverflowId(id: string): boolean {
  return id.endsWith(SEPARATOR);
}

/** The {@link policyKey} of a meter's id. */
export function keyOfId(id: string): string {
  const end = id.indexOf(SEPARATOR);
  return end < 0 ? id : id.slice(0, end);
}

/** Whether an id is a single subject's: those are the ones that are many. */
export function isSubjectId(id: string): boolean {
  const end = id.indexOf(SEPARATOR);
  return end >= 0 && end < id.length - 1;
}

/** The type of a meter's policy; null for an id that is none of ours. */
export function typeOfId(id: string): Policy["type"] | null {
  switch (id[0]) {
    case TYPE_MARKS["token-bucket"]:
      return "token-bucket";
    case TYPE_MARKS["fixed-window"]:
      return "fixed-window";
    case TYPE_MARKS["sliding-window"]:
      return "sliding-window";
    default:
      return null;
  }
}
