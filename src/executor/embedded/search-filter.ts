/**
 * What a search asks for, as SQL: conditions on the fields of a kind, their order, and a page. Only names from a table
 * of fields come into the statement; everything that a caller says is bound as a value.
 */

import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KeySource } from "../../core/keys.ts";

/** How a field is compared: what callers write, and what the database holds. */
type FieldKind = "text" | "key" | "integer" | "time" | "flag";

export interface Field {
  readonly kind: FieldKind;
  /** An expression over the tables of the search. */
  readonly sql: string;
}

export type Fields = Readonly<Record<string, Field>>;

/** A part of a statement, with what is bound in it. */
export interface Fragment {
  readonly sql: string;
  readonly bindings: readonly SqlStorageValue[];
}

/** Something in a search cannot be understood. */
export interface Fault {
  readonly fault: string;
}

/** A statement of an object takes 100 bindings. */
const CONDITIONS_MAX = 50;
/** Values of one list. */
const VALUES_MAX = 1000;
/** The database takes no longer pattern. */
const GLOB_BYTES_MAX = 50;
const PAGE_LIMIT_DEFAULT = 100;
/** Items are small, and none holds variables. */
const PAGE_LIMIT_MAX = 1000;

const COMPARISONS: Readonly<Record<string, string>> = {
  $eq: "=",
  $neq: "IS NOT",
  $gt: ">",
  $gte: ">=",
  $lt: "<",
  $lte: "<=",
};

/** All conditions of a filter, joined; of none: true. `$or` holds alternatives, one level deep. */
export function whereOf(filter: JsonObject, fields: Fields, keys: KeySource): Fragment | Fault {
  const parts: Fragment[] = [];
  for (const [name, wanted] of Object.entries(filter)) {
    const part = name === "$or" ? anyOf(wanted, fields, keys) : fieldCondition(name, wanted, fields, keys);
    if ("fault" in part) return part;
    parts.push(part);
  }
  const where = joined(parts, " AND ", "1");
  if (where.bindings.length > CONDITIONS_MAX) return { fault: `A filter has at most ${CONDITIONS_MAX} conditions.` };
  return where;
}

function anyOf(wanted: Json, fields: Fields, keys: KeySource): Fragment | Fault {
  if (!Array.isArray(wanted)) return { fault: "$or takes a list of filters." };
  const parts: Fragment[] = [];
  for (const filter of wanted.slice(0, CONDITIONS_MAX + 1)) {
    if (!isJsonObject(filter) || "$or" in filter) return { fault: "$or takes a list of filters without $or." };
    const part = whereOf(filter, fields, keys);
    if ("fault" in part) return part;
    parts.push(part);
  }
  return joined(parts, " OR ", "0");
}

function fieldCondition(name: string, wanted: Json, fields: Fields, keys: KeySource): Fragment | Fault {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) return { fault: `There is no filter by ${name} here.` };
  if (!isJsonObject(wanted)) return condition(name, field, "$eq", wanted, keys);
  const parts: Fragment[] = [];
  for (const [operator, value] of Object.entries(wanted)) {
    const part = condition(name, field, operator, value, keys);
    if ("fault" in part) return part;
    parts.push(part);
  }
  return joined(parts, " AND ", "1");
}

function condition(name: string, field: Field, operator: string, value: Json, keys: KeySource): Fragment | Fault {
  const wrong: Fault = { fault: `The filter ${name} cannot be ${operator} ${JSON.stringify(value)}.` };
  switch (operator) {
    case "$exists":
      if (typeof value !== "boolean") return wrong;
      return { sql: `(${field.sql}) IS ${value ? "NOT " : ""}NULL`, bindings: [] };
    case "$in":
    case "$notIn": {
      if (!Array.isArray(value) || value.length > VALUES_MAX) return wrong;
      const bound = value.map((one) => boundValue(field.kind, one, keys));
      if (bound.includes(null)) return wrong;
      const list = `(${field.sql}) IN (SELECT value FROM json_each(?))`;
      return { sql: operator === "$in" ? list : `NOT coalesce(${list}, 0)`, bindings: [JSON.stringify(bound)] };
    }
    case "$like":
      if (typeof value !== "string" || field.kind !== "text") return wrong;
      return likeCondition(name, field, value);
    default: {
      if (operator === "$eq" && value === null) return { sql: `(${field.sql}) IS NULL`, bindings: [] };
      const comparison = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
      const bound = boundValue(field.kind, value, keys);
      if (comparison === undefined || bound === null) return wrong;
      return { sql: `(${field.sql}) ${comparison} ?`, bindings: [bound] };
    }
  }
}

/** @returns what the database holds for a value; null: it is no value of that kind */
function boundValue(kind: FieldKind, value: Json, keys: KeySource): string | number | null {
  switch (kind) {
    case "text":
      return typeof value === "string" ? value : null;
    case "key":
      // A key of nobody finds nothing, like any other that does not exist.
      return typeof value === "string" ? (keys.parse(value) ?? -1) : null;
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
    case "time": {
      const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
      return Number.isNaN(ms) ? null : ms;
    }
    case "flag":
      return typeof value === "boolean" ? Number(value) : null;
    default:
      return kind satisfies never;
  }
}

/** `*` and `?` stand for any characters and for one, unless a backslash goes before; brackets stand for themselves. */
function likeCondition(name: string, field: Field, pattern: string): Fragment | Fault {
  const glob = pattern.replace(/\\([\s\S])|\[/g, (_all, escaped?: string) => {
    if (escaped === undefined) return "[[]";
    return escaped === "]" ? "]" : `[${escaped}]`;
  });
  if (new TextEncoder().encode(glob).byteLength <= GLOB_BYTES_MAX) {
    return { sql: `(${field.sql}) GLOB ?`, bindings: [glob] };
  }
  // Plain text, and plain text with anything after it, are found without a pattern, however long they are.
  const [, plain, rest] = /^((?:\\[\s\S]|[^*?\\])*)(\**)$/.exec(pattern) ?? [];
  if (plain === undefined) {
    return {
      fault: `The filter ${name} has a pattern of more than ${GLOB_BYTES_MAX} bytes, and not only a * at its end.`,
    };
  }
  const text = plain.replace(/\\([\s\S])/g, "$1");
  return rest === ""
    ? { sql: `(${field.sql}) = ?`, bindings: [text] }
    : { sql: `instr(${field.sql}, ?) = 1`, bindings: [text] };
}

function joined(parts: readonly Fragment[], by: string, none: string): Fragment {
  if (parts.length === 0) return { sql: none, bindings: [] };
  return { sql: `(${parts.map(({ sql }) => sql).join(by)})`, bindings: parts.flatMap(({ bindings }) => bindings) };
}

/** The order of the items; after all else by age. @param age an expression that no two items share */
export function orderOf(sort: readonly Json[], fields: Fields, age: string): Fragment | Fault {
  const terms: string[] = [];
  for (const by of sort) {
    const { field: name, order = "ASC" } = isJsonObject(by) ? by : {};
    const field = typeof name === "string" && Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || (order !== "ASC" && order !== "DESC")) {
      return { fault: `The items cannot be sorted by ${JSON.stringify(by)}.` };
    }
    terms.push(`${field.sql} ${order}`);
  }
  if (terms.length > Object.keys(fields).length) return { fault: "The items cannot be sorted by so many fields." };
  return { sql: [...terms, age].join(", "), bindings: [] };
}

/** Which of the items. Cursors are not given out, so none is taken. */
export function pageOf(page: JsonObject): Fragment | Fault {
  const { from = 0, limit = PAGE_LIMIT_DEFAULT, ...others } = page;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return { fault: `There is no page by ${unknown} here: from and limit are.` };
  const areWhole = Number.isSafeInteger(from) && Number.isSafeInteger(limit);
  if (!areWhole || Number(from) < 0 || Number(limit) < 0 || Number(limit) > PAGE_LIMIT_MAX) {
    return { fault: `A page has a whole number to begin from, and a limit of 0 to ${PAGE_LIMIT_MAX}.` };
  }
  return { sql: "LIMIT ? OFFSET ?", bindings: [Number(limit), Number(from)] };
}
