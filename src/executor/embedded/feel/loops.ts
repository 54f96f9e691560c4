/** Loops of an expression: `for`, `some` and `every`. */

import type { Evaluate, Expr, Loop, Of, Scope } from "./ast.ts";
import { type Truth, truthOf } from "./compare.ts";
import { COST, type Meter } from "./meter.ts";
import { integerOf, isNumber } from "./numbers.ts";
import { isList, Range, type Value } from "./values.ts";

export function forEach({ loops, body }: Of<"for">, scope: Scope, meter: Meter, evaluate: Evaluate): Value {
  const results: Value[] = [];
  const ran = runLoops(loops, { scope, meter, evaluate }, (inner) => {
    results.push(evaluate(body, inner, meter));
    meter.size(results.length);
    return true;
  });
  return ran ? results : null;
}

export function quantified(
  { loops, body }: Of<"some" | "every">,
  scope: Scope,
  meter: Meter,
  fold: (truths: Iterable<Truth>) => Truth,
  evaluate: Evaluate,
): Value {
  let truth = fold([]);
  const decisive = truth === false;
  const ran = runLoops(loops, { scope, meter, evaluate }, (inner) => {
    truth = fold([truth, truthOf(evaluate(body, inner, meter))]);
    return truth !== decisive;
  });
  return ran ? truth : null;
}

/**
 * Loops in one another, the first outermost.
 *
 * @param turn returns false to stop
 * @returns false when something that is to be looped over is neither a list nor a range
 */
function runLoops(
  loops: readonly Loop[],
  { scope, meter, evaluate }: { readonly scope: Scope; readonly meter: Meter; readonly evaluate: Evaluate },
  turn: (inner: Scope) => boolean,
): boolean {
  let goesOn = true;
  const run = (depth: number, outer: Scope): boolean => {
    const loop = loops[depth];
    if (loop === undefined) {
      goesOn = turn(outer);
      return true;
    }
    const items = domainOf(loop, (part) => evaluate(part, outer, meter));
    if (items === null) return false;
    for (const item of items) {
      meter.charge(COST.node);
      if (!run(depth + 1, { name: loop.name, value: item, outer })) return false;
      if (!goesOn) return true;
    }
    return true;
  };
  return run(0, scope);
}

function domainOf({ from, to }: Loop, evaluate: (part: Expr) => Value): Iterable<Value> | null {
  const first = evaluate(from);
  if (to !== null) return stepsBetween(first, evaluate(to));
  if (first instanceof Range) return stepsIn(first);
  return isList(first) ? first : null;
}

/** The whole numbers of a range; null for a range of anything else. */
function stepsIn({ low, high, lowIncluded, highIncluded }: Range): Iterable<Value> | null {
  const steps = stepsBetween(low, high);
  const ends = [lowIncluded ? null : wholeOf(low), highIncluded ? null : wholeOf(high)];
  return steps && Iterator.from(steps).filter((step) => !ends.includes(step));
}

/** Whole numbers from one to another, up or down. */
function stepsBetween(from: Value, to: Value): Iterable<number> | null {
  const [first, last] = [wholeOf(from), wholeOf(to)];
  return first === null || last === null ? null : count(first, last);
}

function wholeOf(value: Value): number | null {
  return value !== null && isNumber(value) ? integerOf(value) : null;
}

function* count(first: number, last: number): Generator<number> {
  const step = first <= last ? 1 : -1;
  for (let at = first; step * at <= step * last; at += step) yield at;
}
