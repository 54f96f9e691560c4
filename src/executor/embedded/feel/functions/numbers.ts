/** Built-in functions of numbers. */

import Decimal from "decimal.js";
import { calculate } from "../arithmetic.ts";
import { COST, type Meter } from "../meter.ts";
import { decimalOf, type FeelNumber, finite, HALF_EVEN } from "../numbers.ts";
import { ask } from "../temporal.ts";
import type { Value } from "../values.ts";
import { isTemporal } from "../values.ts";
import { type Arguments, asInteger, asNumber, type Body, type Functions } from "./form.ts";

/** Of a scale: what decimal128 has of places on either side of the point. */
const SCALE_MAX = 6_176;

/** Rounds to so many places after the point, or before it where they are negative. */
function rounding(mode: Decimal.Rounding): Body {
  return ([n, places]: Arguments, meter: Meter) => {
    const number = asNumber(n);
    const scale = places === undefined ? 0 : asInteger(places);
    if (number === null || scale === null || Math.abs(scale) > SCALE_MAX) return null;
    meter.charge(COST.division);
    const decimal = decimalOf(number);
    // Moving the point changes no digit.
    const moved = movePoint(decimal, scale).toDecimalPlaces(0, mode);
    return moved.isFinite() ? movePoint(moved, -scale) : decimal;
  };
}

function movePoint(decimal: Decimal, places: number): Decimal {
  return places === 0 ? decimal : decimal.times(`1e${places}`);
}

function ofNumber(cost: number, body: (number: Decimal) => Decimal | boolean | null): Body {
  return ([given], meter) => {
    const number = asNumber(given);
    if (number === null) return null;
    meter.charge(COST.decimal + cost);
    const result = body(decimalOf(number));
    return result === null || typeof result === "boolean" ? result : finite(result);
  };
}

function modulo(dividend: FeelNumber, divisor: FeelNumber, meter: Meter): Value {
  const [a, b] = [decimalOf(dividend), decimalOf(divisor)];
  // The quotient has as many digits as the exponents are apart.
  meter.charge(COST.division + 100 * Math.max(0, a.e - b.e));
  return b.isZero() ? null : finite(a.mod(b));
}

export const NUMBER_FUNCTIONS: Functions = {
  decimal: { "n, scale": rounding(HALF_EVEN) },
  floor: { "n, scale?": rounding(Decimal.ROUND_FLOOR) },
  ceiling: { "n, scale?": rounding(Decimal.ROUND_CEIL) },
  "round up": { "n, scale": rounding(Decimal.ROUND_UP) },
  "round down": { "n, scale": rounding(Decimal.ROUND_DOWN) },
  "round half up": { "n, scale": rounding(Decimal.ROUND_HALF_UP) },
  "round half down": { "n, scale": rounding(Decimal.ROUND_HALF_DOWN) },
  abs: {
    n: (given, meter) => {
      const [n = null] = given;
      return isTemporal(n) ? ask("abs", [n], meter) : ofNumber(0, (number) => number.abs())(given, meter);
    },
  },
  modulo: {
    "dividend, divisor": ([dividend, divisor], meter) => {
      const [a, b] = [asNumber(dividend), asNumber(divisor)];
      return a === null || b === null ? null : modulo(a, b, meter);
    },
  },
  sqrt: { number: ofNumber(COST.root, (number) => (number.isNegative() && !number.isZero() ? null : number.sqrt())) },
  log: { number: ofNumber(COST.logarithm, (number) => (number.greaterThan(0) ? number.ln() : null)) },
  exp: { number: ofNumber(COST.power, (number) => number.exp()) },
  odd: { number: ofNumber(COST.division, (number) => number.isInteger() && !hasWholeHalf(number)) },
  even: { number: ofNumber(COST.division, (number) => number.isInteger() && hasWholeHalf(number)) },
};

function hasWholeHalf(number: Decimal): boolean {
  return number.dividedBy(2).isInteger();
}

/** Sum, product and the like: null when any of them is no number. */
export function foldNumbers(items: readonly Value[], operator: "+" | "*", meter: Meter): Value {
  const [first = null, ...rest] = items;
  return rest.reduce<Value>((total, item) => calculateNumbers(operator, total, item, meter), asNumber(first));
}

function calculateNumbers(operator: "+" | "*", left: Value, right: Value, meter: Meter): Value {
  meter.charge(COST.member);
  const [a, b] = [asNumber(left), asNumber(right)];
  return a === null || b === null ? null : calculate(operator, a, b, meter);
}
