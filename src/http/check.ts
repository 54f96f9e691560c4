import type { z } from "@hono/zod-openapi";
import { exactNumber, isRawNumber, type Json } from "../core/json.ts";
import type { FieldFault } from "../core/problem.ts";

/**
 * Values against schemas. A number that a double prints differently passes where anything may stand. Where a schema
 * wants a number it is one if a double holds its value (`1.0`), and else a fault of its field: nothing is rounded.
 */

export const WOULD_BE_ROUNDED = "is a number that would have to be rounded here";

export type Checked<T> = { readonly value: T } | { readonly errors: readonly FieldFault[] };

/**
 * @param schema undefined takes nothing, and gives undefined
 * @param at where in the request the value is
 * @returns what the schema makes of the value, or each field that is wrong
 */
export function check<S extends z.ZodType>(
  schema: S | undefined,
  value: unknown,
  at: readonly PropertyKey[] = [],
): Checked<z.infer<S>> {
  if (schema === undefined) return { value: undefined as z.infer<S> };
  let given = value;
  for (;;) {
    const parsed = schema.safeParse(given);
    if (parsed.success) return { value: parsed.data };
    const { issues } = parsed.error;
    const plain = withPlainNumbers(given, issues);
    if (plain === given)
      return {
        errors: fieldFaults(
          issues.map((issue) => namingRounded(issue, given)),
          at,
        ),
      };
    given = plain;
  }
}

/** A value with plain numbers where the issues found raw ones that a double holds. */
function withPlainNumbers(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  let plain = value;
  for (const path of pathsOf(issues)) {
    const found = valueAt(plain, path);
    const number = isRawNumber(found) ? exactNumber(found) : undefined;
    if (number !== undefined) plain = withValueAt(plain, path, number);
  }
  return plain;
}

/** Where issues are, those of a union's members among them. */
function pathsOf(issues: readonly z.core.$ZodIssue[], at: readonly PropertyKey[] = []): (readonly PropertyKey[])[] {
  return issues.flatMap((issue) => {
    const path = [...at, ...issue.path];
    return issue.code === "invalid_union" ? [path, ...issue.errors.flatMap((inner) => pathsOf(inner, path))] : [path];
  });
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const member of path) {
    if (typeof at !== "object" || at === null || isRawNumber(at) || !Object.hasOwn(at, member)) return undefined;
    at = Reflect.get(at, member);
  }
  return at;
}

/** A copy with another value at a path that there is. */
function withValueAt(value: unknown, [member, ...rest]: readonly PropertyKey[], placed: number): unknown {
  if (member === undefined) return placed;
  if (Array.isArray(value)) return value.with(Number(member), withValueAt(value[Number(member)], rest, placed));
  const members = Object.entries(value as object);
  return Object.fromEntries(
    members.map(([name, inner]) => [name, name === String(member) ? withValueAt(inner, rest, placed) : inner]),
  );
}

function namingRounded(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue {
  const isOfKind = issue.code === "invalid_type" || issue.code === "invalid_union";
  return isOfKind && isRawNumber(valueAt(value, issue.path)) ? { ...issue, message: WOULD_BE_ROUNDED } : issue;
}

/** A value with plain numbers throughout, and the paths of those that would have to be rounded. */
export function plainNumbers(value: Json): { readonly value: Json; readonly rounded: readonly (readonly string[])[] } {
  const rounded: string[][] = [];
  const plain = (at: Json, path: string[]): Json => {
    if (typeof at !== "object" || at === null) return at;
    if (isRawNumber(at)) {
      const number = exactNumber(at);
      if (number === undefined) rounded.push(path);
      return number ?? null;
    }
    if (Array.isArray(at)) return at.map((item, n) => plain(item, [...path, String(n)]));
    return Object.fromEntries(Object.entries(at).map(([name, item]) => [name, plain(item, [...path, name])]));
  };
  return { value: plain(value, []), rounded };
}

/**
 * What zod found, as dotted paths. An unknown field is named itself, not the object that it stands in, and comes first:
 * it is mostly the misspelling of one that is then missing too.
 */
export function fieldFaults(issues: z.core.$ZodIssue[], prefix: readonly PropertyKey[] = []): FieldFault[] {
  const unknown = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: dotted([...prefix, ...issue.path, key]), message: "unknown field" }))
      : [],
  );
  const others = issues
    .filter((issue) => issue.code !== "unrecognized_keys")
    .map((issue) => ({ path: dotted([...prefix, ...issue.path]), message: plain(issue.message) }));
  return [...unknown, ...others].slice(0, FAULTS_MAX);
}

/** A body can have more faults than anybody reads; an answer must not be larger than what it answers. */
const FAULTS_MAX = 20;

/** zod says of an absent member that it received undefined, which no JSON holds. */
function plain(message: string): string {
  return message.endsWith("received undefined") ? "is required" : message;
}

/** Paths come from callers too: one that is kilobytes long is cut. */
function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join(".").slice(0, PATH_LENGTH_MAX);
}

const PATH_LENGTH_MAX = 200;
