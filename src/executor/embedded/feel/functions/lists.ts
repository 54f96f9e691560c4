/** Built-in functions of lists. */

import { equals } from "../compare.ts";
import { COST, type Meter } from "../meter.ts";
import { isNumber, textOfNumber } from "../numbers.ts";
import { isList, type List, type Value } from "../values.ts";
import { asInteger, asList, type Body, type Functions } from "./form.ts";

/** Of one list that is given first. */
function ofList(body: (list: List, rest: readonly (Value | undefined)[], meter: Meter) => Value): Body {
  return ([given, ...rest], meter) => {
    const list = asList(given);
    if (list === null) return null;
    return body(list, rest, meter);
  };
}

function made(list: List, meter: Meter): List {
  meter.size(list.length);
  return list;
}

/** A position counts from 1, or from the end where it is negative. @returns from 0; null: outside of the list */
function indexOf(position: Value | undefined, length: number): number | null {
  const at = asInteger(position);
  if (at === null || at === 0 || Math.abs(at) > length) return null;
  return at > 0 ? at - 1 : length + at;
}

function sublist(list: List, [start, count]: readonly (Value | undefined)[], meter: Meter): Value {
  const from = indexOf(start, list.length);
  const length = count === undefined ? list.length : asInteger(count);
  if (from === null || length === null || length < 0) return null;
  const part = Math.min(length, list.length - from);
  meter.members(part);
  return list.slice(from, from + part);
}

/** The list with some members at a position taken out and others put in. */
function spliced(list: List, at: number, taken: number, added: List, meter: Meter): Value {
  meter.members(list.length + added.length);
  return made([...list.slice(0, at), ...added, ...list.slice(at + taken)], meter);
}

function flatten(list: List, meter: Meter): Value {
  const flat: Value[] = [];
  const add = (part: List, depth: number) => {
    meter.depth(depth);
    for (const item of part) {
      meter.members(1);
      if (isList(item)) add(item, depth + 1);
      else flat.push(item);
    }
    meter.size(flat.length);
  };
  add(list, 0);
  return flat;
}

/** Each value once. Scalars are found by their text; only what has members is compared with each of its like. */
export function distinct(list: List, meter: Meter): Value[] {
  const seen = new Set<string>();
  const others: Value[] = [];
  return list.filter((item) => {
    meter.members(1);
    const key = keyOf(item, meter);
    if (key === null) {
      if (others.some((other) => equals(other, item, meter) === true)) return false;
      others.push(item);
      return true;
    }
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** What equal scalars have in common, and unequal ones have not; null for any other value. */
export function keyOf(value: Value, meter: Meter): string | null {
  if (typeof value === "string") {
    meter.eachCharacter(value.length);
    return `s${value}`;
  }
  if (isNumber(value)) {
    meter.charge(2 * COST.decimal);
    return `n${textOfNumber(value)}`;
  }
  return value === null || typeof value === "boolean" ? String(value) : null;
}

function concatenate(lists: List, meter: Meter): Value[] {
  const all: Value[] = [];
  for (const list of lists) {
    const items = isList(list) ? list : [list];
    meter.members(items.length);
    meter.size(all.length + items.length);
    for (const item of items) all.push(item);
  }
  return all;
}

function positionsOf(list: List, sought: Value, meter: Meter): Value {
  const found: Value[] = [];
  for (const [index, item] of list.entries()) {
    if (equals(item, sought, meter) === true) found.push(index + 1);
  }
  return found;
}

/** One truth of many: `decisive` wherever it is, null where any is no truth. */
function truthOf(decisive: boolean): Body {
  return (given, meter) => {
    const [first] = given;
    const items = given.length === 1 && first !== undefined && isList(first) ? first : given;
    meter.members(items.length);
    if (items.includes(decisive)) return decisive;
    return items.every((item) => item === !decisive) ? !decisive : null;
  };
}

export const LIST_FUNCTIONS: Functions = {
  "list contains": {
    "list, element": ofList((list, [element = null], meter) =>
      list.some((item) => equals(item, element, meter) === true),
    ),
  },
  "list replace": {
    "list, position, newItem": ofList((list, [position, item = null], meter) => {
      const at = indexOf(position, list.length);
      return at === null ? null : spliced(list, at, 1, [item], meter);
    }),
  },
  count: { list: ofList((list) => list.length) },
  all: { "...list": truthOf(false) },
  any: { "...list": truthOf(true) },
  sublist: { "list, start position, length?": ofList(sublist) },
  append: {
    "list, ...item": ofList((list, items, meter) =>
      spliced(
        list,
        list.length,
        0,
        items.filter((item) => item !== undefined),
        meter,
      ),
    ),
  },
  concatenate: {
    "...list": (lists, meter) =>
      concatenate(
        lists.filter((list) => list !== undefined),
        meter,
      ),
  },
  "insert before": {
    "list, position, newItem": ofList((list, [position, item = null], meter) => {
      const at = indexOf(position, list.length);
      return at === null ? null : spliced(list, at, 0, [item], meter);
    }),
  },
  remove: {
    "list, position": ofList((list, [position], meter) => {
      const at = indexOf(position, list.length);
      return at === null ? null : spliced(list, at, 1, [], meter);
    }),
  },
  reverse: {
    list: ofList((list, _rest, meter) => {
      meter.members(list.length);
      return list.toReversed();
    }),
  },
  "index of": { "list, match": ofList((list, [match = null], meter) => positionsOf(list, match, meter)) },
  union: {
    "...list": (lists, meter) =>
      distinct(
        concatenate(
          lists.filter((list) => list !== undefined),
          meter,
        ),
        meter,
      ),
  },
  "distinct values": { list: ofList((list, _rest, meter) => distinct(list, meter)) },
  flatten: { list: ofList((list, _rest, meter) => flatten(list, meter)) },
};
