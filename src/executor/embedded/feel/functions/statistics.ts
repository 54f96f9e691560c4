/** Built-in functions that make one value of many. */

import { calculate } from "../arithmetic.ts";
import { orderOf } from "../compare.ts";
import { COST, type Meter } from "../meter.ts";
import { decimalOf, type FeelNumber, isNumber } from "../numbers.ts";
import type { List, Value } from "../values.ts";
import { type Body, type Functions, itemsOf } from "./form.ts";
import { foldNumbers } from "./numbers.ts";

/** The least or the greatest of values of one kind; null for unlike ones, and for none. */
function extreme(sign: -1 | 1): Body {
  return (given, meter) => {
    const [first = null, ...rest] = itemsOf(given);
    // A kind without an order has no extreme, even alone.
    if (first === null || orderOf(first, first, meter) === null) return null;
    let best: Value = first;
    for (const item of rest) {
      const order = orderOf(item, best, meter);
      if (order === null) return null;
      if (order * sign > 0) best = item;
    }
    return best;
  };
}

/** Of numbers alone; null when any is something else. */
function ofNumbers(body: (numbers: readonly FeelNumber[], meter: Meter) => Value): Body {
  return (given, meter) => {
    const items = itemsOf(given);
    meter.members(items.length);
    return items.every(isNumber) ? body(items, meter) : null;
  };
}

function mean(numbers: List, meter: Meter): Value {
  return numbers.length === 0 ? null : calculate("/", foldNumbers(numbers, "+", meter), numbers.length, meter);
}

function sorted(numbers: readonly FeelNumber[], meter: Meter): readonly FeelNumber[] {
  meter.members(numbers.length);
  return numbers.toSorted((a, b) => orderOf(a, b, meter) ?? 0);
}

function median(numbers: readonly FeelNumber[], meter: Meter): Value {
  const inOrder = sorted(numbers, meter);
  const upper = inOrder[Math.floor(inOrder.length / 2)] ?? null;
  if (inOrder.length % 2 === 1) return upper;
  const lower = inOrder[inOrder.length / 2 - 1] ?? null;
  return calculate("/", calculate("+", lower, upper, meter), 2, meter);
}

/** Of a sample, and not of everything there is. */
function deviation(numbers: readonly FeelNumber[], meter: Meter): Value {
  const middle = mean(numbers, meter);
  if (numbers.length < 2 || middle === null) return null;
  const squares = numbers.map((number) => {
    const distance = calculate("-", number, middle, meter);
    return calculate("*", distance, distance, meter);
  });
  const variance = calculate("/", foldNumbers(squares, "+", meter), numbers.length - 1, meter);
  if (variance === null || !isNumber(variance)) return null;
  meter.charge(COST.root);
  return decimalOf(variance).sqrt();
}

/** The most frequent numbers, in their order. */
function mode(numbers: readonly FeelNumber[], meter: Meter): Value {
  const runs: { number: FeelNumber; count: number }[] = [];
  for (const number of sorted(numbers, meter)) {
    const last = runs.at(-1);
    if (last !== undefined && orderOf(last.number, number, meter) === 0) last.count += 1;
    else runs.push({ number, count: 1 });
  }
  const most = runs.reduce((max, { count }) => Math.max(max, count), 0);
  return runs.filter(({ count }) => count === most).map(({ number }) => number);
}

export const STATISTICS_FUNCTIONS: Functions = {
  min: { "...list": extreme(-1) },
  max: { "...list": extreme(1) },
  sum: { "...list": (given, meter) => foldNumbers(itemsOf(given), "+", meter) },
  product: { "...list": (given, meter) => foldNumbers(itemsOf(given), "*", meter) },
  mean: { "...list": (given, meter) => mean(itemsOf(given), meter) },
  median: { "...list": ofNumbers(median) },
  stddev: { "...list": ofNumbers(deviation) },
  mode: { "...list": ofNumbers(mode) },
};
