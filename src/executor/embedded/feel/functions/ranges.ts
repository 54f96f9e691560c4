/** Built-in functions that say how ranges and points lie to each other. */

import { and, not, or, orderOf, type Truth } from "../compare.ts";
import type { Meter } from "../meter.ts";
import { Range, type Value } from "../values.ts";
import type { Body, Functions } from "./form.ts";

/** A point is a range of one. */
function asRange(value: Value): Range {
  return value instanceof Range ? value : new Range(value, true, value, true);
}

type Relation = (a: Range, b: Range, meter: Meter) => Truth;

function related(relation: Relation): Body {
  return ([a = null, b = null], meter) => (a === null || b === null ? null : relation(asRange(a), asRange(b), meter));
}

/** Of ranges alone. */
function relatedRanges(relation: Relation): Body {
  return ([a = null, b = null], meter) => (a instanceof Range && b instanceof Range ? relation(a, b, meter) : null);
}

/** As {@link related}, the other way round. */
function inverse(body: Body): Body {
  return ([a, b], meter) => body([b, a], meter);
}

/** The order of two low ends: an open end is before all others. */
function lows(a: Range, b: Range, meter: Meter): number | null {
  if (a.low === null || b.low === null) return a.low === b.low ? 0 : a.low === null ? -1 : 1;
  const order = orderOf(a.low, b.low, meter);
  return order === 0 ? Number(b.lowIncluded) - Number(a.lowIncluded) : order;
}

/** The order of two high ends: an open end is behind all others. */
function highs(a: Range, b: Range, meter: Meter): number | null {
  if (a.high === null || b.high === null) return a.high === b.high ? 0 : a.high === null ? 1 : -1;
  const order = orderOf(a.high, b.high, meter);
  return order === 0 ? Number(a.highIncluded) - Number(b.highIncluded) : order;
}

const holds = (order: number | null, test: (order: number) => boolean): Truth => (order === null ? null : test(order));

/** `a` ends where `b` has not begun. */
const isBefore: Relation = (a, b, meter) => {
  if (a.high === null || b.low === null) return false;
  const touches = a.highIncluded && b.lowIncluded;
  return holds(orderOf(a.high, b.low, meter), (order) => order < 0 || (order === 0 && !touches));
};

const meets: Relation = (a, b, meter) => {
  if (a.high === null || b.low === null || !a.highIncluded || !b.lowIncluded) return false;
  return holds(orderOf(a.high, b.low, meter), (order) => order === 0);
};

const includes: Relation = (a, b, meter) =>
  and([holds(lows(a, b, meter), (order) => order <= 0), holds(highs(a, b, meter), (order) => order >= 0)]);

const overlaps: Relation = (a, b, meter) => not(or([isBefore(a, b, meter), isBefore(b, a, meter)]));

const overlapsBefore: Relation = (a, b, meter) =>
  and([
    holds(lows(a, b, meter), (order) => order < 0),
    not(isBefore(a, b, meter)),
    holds(highs(a, b, meter), (order) => order <= 0),
  ]);

const finishes: Relation = (a, b, meter) =>
  and([holds(highs(a, b, meter), (order) => order === 0), holds(lows(a, b, meter), (order) => order >= 0)]);

const starts: Relation = (a, b, meter) =>
  and([holds(lows(a, b, meter), (order) => order === 0), holds(highs(a, b, meter), (order) => order <= 0)]);

const coincides: Relation = (a, b, meter) =>
  and([holds(lows(a, b, meter), (order) => order === 0), holds(highs(a, b, meter), (order) => order === 0)]);

export const RANGE_FUNCTIONS: Functions = {
  before: { "a, b": related(isBefore) },
  after: { "a, b": inverse(related(isBefore)) },
  meets: { "range1, range2": relatedRanges(meets) },
  "met by": { "range1, range2": inverse(relatedRanges(meets)) },
  overlaps: { "range1, range2": relatedRanges(overlaps) },
  "overlaps before": { "range1, range2": relatedRanges(overlapsBefore) },
  "overlaps after": { "range1, range2": inverse(relatedRanges(overlapsBefore)) },
  finishes: { "a, b": related(finishes) },
  "finished by": { "a, b": inverse(related(finishes)) },
  includes: { "a, b": related(includes) },
  during: { "a, b": inverse(related(includes)) },
  starts: { "a, b": related(starts) },
  "started by": { "a, b": inverse(related(starts)) },
  coincides: { "a, b": related(coincides) },
};
