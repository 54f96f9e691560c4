/**
 * Comparisons by the rules of FEEL: three-valued. Values of unlike types cannot be compared, which is null; only the
 * question whether something is null has an answer for every type.
 */

import { COST, type Meter } from "./meter.ts";
import { compareNumbers, type FeelNumber, isNumber } from "./numbers.ts";
import { compareTemporals, equalTemporals } from "./temporal.ts";
import {
  type Context,
  isContext,
  isList,
  isTemporal,
  kindOf,
  type List,
  memberOf,
  Range,
  type Value,
} from "./values.ts";

export type Truth = boolean | null;
export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

export function compare(operator: Comparison, left: Value, right: Value, meter: Meter): Truth {
  if (operator === "=") return equals(left, right, meter);
  if (operator === "!=") return not(equals(left, right, meter));
  const order = orderOf(left, right, meter);
  if (order === null) return null;
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    default:
      return operator satisfies never;
  }
}

/** Whether two values are equal; null for values of unlike types. Lists and contexts are compared in depth. */
export function equals(left: Value, right: Value, meter: Meter, depth = 0): Truth {
  meter.charge(COST.member);
  meter.depth(depth);
  if (left === null || right === null) return left === right;
  if (isNumber(left) && isNumber(right)) return compareCharged(left, right, meter) === 0;
  if (typeof left === "string" && typeof right === "string") {
    meter.characters(left.length === right.length ? left.length : 0);
    return left === right;
  }
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return incomparable(left, right, meter);
  if (typeof left === "boolean") return left === right;
  if (isList(left) && isList(right)) return equalLists(left, right, meter, depth);
  if (left instanceof Range && right instanceof Range) return equalRanges(left, right, meter, depth);
  if (isTemporal(left) && isTemporal(right)) return equalTemporals(left, right, meter);
  return isContext(left) && isContext(right) ? equalContexts(left, right, meter, depth) : null;
}

/** Less than, equal to or more than 0; null for values that have no order among each other. */
export function orderOf(left: Value, right: Value, meter: Meter): number | null {
  meter.charge(COST.member);
  if (isNumber(left) && isNumber(right)) return compareCharged(left, right, meter);
  if (typeof left === "string" && typeof right === "string") {
    meter.characters(Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (isTemporal(left) && isTemporal(right) && kindOf(left) === kindOf(right)) {
    return compareTemporals(left, right, meter);
  }
  return incomparable(left, right, meter);
}

/** Whether a value lies in a range. */
export function isIn(range: Range, value: Value, meter: Meter): Truth {
  const above = range.low === null || compare(range.lowIncluded ? ">=" : ">", value, range.low, meter);
  const below = range.high === null || compare(range.highIncluded ? "<=" : "<", value, range.high, meter);
  return above === null || below === null ? null : above && below;
}

export function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

/** False when any is false, else null when any is null. */
export function and(truths: Iterable<Truth>): Truth {
  let all: Truth = true;
  for (const truth of truths) {
    if (truth === false) return false;
    if (truth === null) all = null;
  }
  return all;
}

/** True when any is true, else null when any is null. */
export function or(truths: Iterable<Truth>): Truth {
  let any: Truth = false;
  for (const truth of truths) {
    if (truth === true) return true;
    if (truth === null) any = null;
  }
  return any;
}

/** Three-valued logic knows true, false, and anything else. */
export function truthOf(value: Value): Truth {
  return typeof value === "boolean" ? value : null;
}

function compareCharged(left: FeelNumber, right: FeelNumber, meter: Meter): number {
  if (typeof left !== "number" || typeof right !== "number") meter.charge(2 * COST.decimal);
  return compareNumbers(left, right);
}

function incomparable(left: Value, right: Value, meter: Meter): null {
  return meter.missing(`a ${kindOf(left)} cannot be compared with a ${kindOf(right)}`);
}

function equalLists(left: List, right: List, meter: Meter, depth: number): Truth {
  if (left.length !== right.length) return false;
  return and(left.values().map((item, index) => equals(item, right[index] ?? null, meter, depth + 1)));
}

function equalContexts(left: Context, right: Context, meter: Meter, depth: number): Truth {
  const names = Object.keys(left);
  const others = Object.keys(right).length;
  meter.members(names.length + others);
  if (names.length !== others) return false;
  return and(
    names.values().map((name) => {
      const other = memberOf(right, name);
      return other === undefined ? false : equals(left[name] ?? null, other, meter, depth + 1);
    }),
  );
}

function equalRanges(left: Range, right: Range, meter: Meter, depth: number): Truth {
  if (left.lowIncluded !== right.lowIncluded || left.highIncluded !== right.highIncluded) return false;
  return and([equals(left.low, right.low, meter, depth + 1), equals(left.high, right.high, meter, depth + 1)]);
}
