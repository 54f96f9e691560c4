/**
 * The variables of an instance: a JSON object kept as text. Here are its bound, its merging, and the rule by which
 * several instances' variables are taken together.
 *
 * Contract: members are data whatever their name is. `__proto__` is merged, stored and given back like any other.
 */

import { JSON_DEPTH_MAX, type JsonObject, objectOf } from "../../core/json.ts";
import { jsonDepth } from "../../core/json-scan.ts";
import { spend } from "./spent.ts";

/**
 * How many bytes of JSON an instance's variables, or the variables of one activation, may take. A row of an object's
 * SQLite holds 2 MB: an instance, and the recorded result of an activation, must each fit into one.
 */
export const VARIABLES_BYTES_MAX = 1024 * 1024;

/** How many bytes of JSON one task's own variables may take: they go out together with the instance's, in one row. */
export const LOCALS_BYTES_MAX = 256 * 1024;
/** A body nests less than this; mappings could nest a variable into itself at each turn of a loop. */
const DEPTH_MAX = 2 * JSON_DEPTH_MAX;

/** Variables ready to be stored, or why they cannot be: in words that follow on their name. */
export type Encoded =
  | { readonly kind: "fits"; readonly text: string }
  | { readonly kind: "refused"; readonly why: string };

/** @param bytesMax VARIABLES_BYTES_MAX for those of an instance, LOCALS_BYTES_MAX for those of a task */
export function encodeVariables(variables: JsonObject, bytesMax: number = VARIABLES_BYTES_MAX): Encoded {
  const text = JSON.stringify(variables);
  spend(text.length);
  // A UTF-16 unit is three bytes of UTF-8 at most: few texts have to be counted.
  const bytes = 3 * text.length <= bytesMax ? 0 : new TextEncoder().encode(text).byteLength;
  if (bytes > bytesMax) {
    const bound = bytesMax === VARIABLES_BYTES_MAX ? "VARIABLES_BYTES_MAX" : "LOCALS_BYTES_MAX";
    return { kind: "refused", why: `would take ${bytes} bytes, more than ${bound} of ${bytesMax}` };
  }
  if (jsonDepth(text) > DEPTH_MAX) return { kind: "refused", why: `would nest deeper than ${DEPTH_MAX}` };
  return { kind: "fits", text };
}

/** @param text as stored, hence JSON of an object */
export function decodeVariables(text: string): JsonObject {
  // Reading or writing a character of JSON takes about a step.
  spend(text.length);
  return objectOf(text);
}

/**
 * The shallow merge: a member of `changes` replaces the one of the same name. `Object.fromEntries` defines members
 * rather than assigning them, so that `__proto__` becomes a member and not a prototype.
 */
export function mergeVariables(current: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries([...Object.entries(current), ...Object.entries(changes)]);
}

/**
 * The first of the rows whose `bytes` stay within the bound together; at least one, so that a single large row is
 * never stuck. Later, smaller rows do not overtake.
 */
export function takeWithin<T extends { readonly bytes: number }>(rows: readonly T[], bytesMax: number): T[] {
  let total = 0;
  const end = rows.findIndex((row, index) => {
    total += row.bytes;
    return index > 0 && total > bytesMax;
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}
