/**
 * The value of an expression. Each part is charged before it is evaluated (meter.ts), so that an expression ends after
 * a bounded time whatever it says and whatever the variables hold.
 *
 * Contract: changes nothing that it is given; names reach variables and members, and nothing else.
 */

import { calculate, negate } from "./arithmetic.ts";
import type { Expr, Of, Scope, Test } from "./ast.ts";
import { and, compare, equals, isIn, or, type Truth, truthOf } from "./compare.ts";
import { call, callNamed } from "./functions/form.ts";
import { forEach, quantified } from "./loops.ts";
import { COST, type Meter } from "./meter.ts";
import { integerOf, isNumber } from "./numbers.ts";
import { ask, partOf } from "./temporal.ts";
import { isInstance } from "./types.ts";
import { isContext, isList, isTemporal, memberOf, Range, type Value } from "./values.ts";

/** @throws {Fault} when it would take too many steps, or makes a value that is too large */
export function evaluateExpr(expr: Expr, scope: Scope, meter: Meter): Value {
  meter.charge(COST.node);
  const sub = (part: Expr) => evaluateExpr(part, scope, meter);
  switch (expr.kind) {
    case "literal":
      return expr.value;
    case "variable":
      return lookUp(expr.name, scope, meter);
    case "temporal":
      return ask("@", [expr.text], meter);
    case "path":
      return memberAt(sub(expr.target), expr.name, meter);
    case "filter":
      return filter(expr, scope, meter);
    case "arithmetic":
      return calculate(expr.operator, sub(expr.left), sub(expr.right), meter);
    case "negation":
      return negate(sub(expr.of), meter);
    case "comparison":
      return compare(expr.operator, sub(expr.left), sub(expr.right), meter);
    case "between":
      return isBetween(sub(expr.value), sub(expr.low), sub(expr.high), meter);
    case "in":
      return isInTests(sub(expr.value), expr.tests, scope, meter);
    case "unary":
      return unaryRange(expr, sub(expr.right));
    case "and":
      return and(truths(expr, scope, meter));
    case "or":
      return or(truths(expr, scope, meter));
    case "if":
      return sub(expr.condition) === true ? sub(expr.yes) : sub(expr.no);
    case "for":
      return forEach(expr, scope, meter, evaluateExpr);
    case "some":
      return quantified(expr, scope, meter, or, evaluateExpr);
    case "every":
      return quantified(expr, scope, meter, and, evaluateExpr);
    case "list":
      return expr.items.map(sub);
    case "context":
      return contextAt(expr, scope, meter);
    case "range":
      return rangeAt(expr, sub(expr.low), sub(expr.high), meter);
    case "call":
      return call(expr.name, expr.builtin, expr.given.map(sub), meter);
    case "named-call":
      return callNamed(expr.name, expr.builtin, new Map(expr.given.map(([name, part]) => [name, sub(part)])), meter);
    case "instance-of":
      return isInstance(sub(expr.value), expr.type, meter);
    default:
      return expr satisfies never;
  }
}

function lookUp(name: string, scope: Scope, meter: Meter): Value {
  for (let at: Scope | null = scope; at !== null; at = at.outer) {
    meter.charge(COST.member);
    const value = at.name === null ? memberOf(at.names, name) : at.name === name ? at.value : undefined;
    if (value !== undefined) return value;
  }
  return meter.missing(`Variable '${name.slice(0, 100)}' not found`);
}

/** Of a list: of each of its members. */
function memberAt(target: Value, name: string, meter: Meter): Value {
  if (isList(target)) {
    meter.members(target.length);
    return target.map((item) => (isList(item) ? null : memberAt(item, name, meter)));
  }
  if (isTemporal(target)) return partOf(target, name, meter) ?? null;
  if (target instanceof Range) return partOfRange(target, name);
  if (!isContext(target)) return null;
  return memberOf(target, name) ?? meter.missing(`Key '${name.slice(0, 100)}' not found`);
}

function partOfRange(range: Range, name: string): Value {
  if (name === "start") return range.low;
  if (name === "end") return range.high;
  if (name === "start included") return range.lowIncluded;
  return name === "end included" ? range.highIncluded : null;
}

/** A position, or what is true of the members that stay: it may name `item`, and the members of one that has some. */
function filter({ target, by, isTest }: Of<"filter">, scope: Scope, meter: Meter): Value {
  const value = evaluateExpr(target, scope, meter);
  if (value === null) return null;
  const list = isList(value) ? value : [value];
  if (!isTest) {
    const at = evaluateExpr(by, scope, meter);
    if (isNumber(at)) return memberNumbered(list, integerOf(at));
  }
  return list.filter((item) => {
    meter.charge(COST.node);
    const named: Scope = { name: "item", value: item, outer: scope };
    const inner: Scope = isContext(item) ? { name: null, names: item, outer: named } : named;
    if (by.kind === "unary") return compare(by.operator, item, evaluateExpr(by.right, inner, meter), meter) === true;
    const held = evaluateExpr(by, inner, meter);
    return held instanceof Range ? isIn(held, item, meter) === true : held === true;
  });
}

function memberNumbered(list: readonly Value[], position: number | null): Value {
  if (position === null || position === 0) return null;
  return list.at(position > 0 ? position - 1 : position) ?? null;
}

/** Unlike types are told even where one end decides alone. */
function isBetween(value: Value, low: Value, high: Value, meter: Meter): Truth {
  const ends = [compare(">=", value, low, meter), compare("<=", value, high, meter)];
  return ends.includes(null) ? null : and(ends);
}

function isInTests(value: Value, tests: readonly Test[], scope: Scope, meter: Meter): Truth {
  const inner: Scope = { name: "?", value, outer: scope };
  return or(tests.values().map(({ expr, asks }) => passes(value, expr, asks, inner, meter)));
}

function passes(value: Value, expr: Expr, asks: boolean, scope: Scope, meter: Meter): Truth {
  if (expr.kind === "unary") {
    return compare(expr.operator, value, evaluateExpr(expr.right, scope, meter), meter);
  }
  const test = evaluateExpr(expr, scope, meter);
  if (asks && (typeof test === "boolean" || test === null)) return test;
  return matches(value, test, meter);
}

/** A range holds it, a list has it or is it, anything else equals it. Nothing is known of a test without a value. */
function matches(value: Value, test: Value, meter: Meter): Truth {
  if (test === null) return value === null ? true : null;
  if (test instanceof Range && !(value instanceof Range)) return isIn(test, value, meter);
  if (!isList(test)) return equals(value, test, meter);
  if (isList(value) && equals(value, test, meter) === true) return true;
  return or(
    test
      .values()
      .map((item) =>
        item instanceof Range && !(value instanceof Range) ? isIn(item, value, meter) : equals(value, item, meter),
      ),
  );
}

/** `> 5` as a value is the range of what passes it. */
function unaryRange({ operator }: Of<"unary">, right: Value): Value {
  if (right === null || operator === "!=") return null;
  if (operator === "=") return new Range(right, true, right, true);
  const included = operator.endsWith("=");
  return operator.startsWith("<") ? new Range(null, false, right, included) : new Range(right, included, null, false);
}

/** A range whose ends cannot be compared is none. */
function rangeAt({ lowIncluded, highIncluded }: Of<"range">, low: Value, high: Value, meter: Meter): Value {
  const comparable = compare("<=", low, high, meter);
  return comparable === null ? null : new Range(low, lowIncluded, high, highIncluded);
}

function* truths({ left, right }: Of<"and" | "or">, scope: Scope, meter: Meter): Generator<Truth> {
  yield truthOf(evaluateExpr(left, scope, meter));
  yield truthOf(evaluateExpr(right, scope, meter));
}

/** An entry sees those before it. */
function contextAt({ entries }: Of<"context">, scope: Scope, meter: Meter): Value {
  const names: Record<string, Value> = Object.create(null);
  for (const [name, part] of entries) {
    meter.charge(COST.entry);
    names[name] = evaluateExpr(part, { name: null, names, outer: scope }, meter);
  }
  return names;
}
