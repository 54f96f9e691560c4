/** Arithmetic of FEEL: decimals, texts that are put together, dates and durations. Anything else is null. */

import { FeelDuration } from "feelin";
import { COST, type Meter } from "./meter.ts";
import { decimalOf, type FeelNumber, finite, isNumber } from "./numbers.ts";
import { ask, ratioOf, scaleDuration } from "./temporal.ts";
import { isTemporal, kindOf, type Temporal, type Value } from "./values.ts";

export type Operator = "+" | "-" | "*" | "/" | "**";

export function calculate(operator: Operator, left: Value, right: Value, meter: Meter): Value {
  if (isNumber(left) && isNumber(right)) return calculateNumbers(operator, left, right, meter);
  if (operator === "+" && typeof left === "string" && typeof right === "string") {
    meter.size(left.length + right.length);
    meter.characters(left.length + right.length);
    return left + right;
  }
  const result = isTemporal(left) || isTemporal(right) ? calculateTemporal(operator, left, right, meter) : null;
  return result ?? meter.missing(`${kindOf(left)} ${operator} ${kindOf(right)} has no value`);
}

export function negate(value: Value, meter: Meter): Value {
  if (isNumber(value)) return calculateNumbers("-", 0, value, meter);
  if (value instanceof FeelDuration) return scaleDuration(value, -1, false, meter);
  return meter.missing(`a ${kindOf(value)} has no negative`);
}

function calculateNumbers(operator: Operator, left: FeelNumber, right: FeelNumber, meter: Meter): Value {
  if (typeof left === "number" && typeof right === "number" && operator !== "/" && operator !== "**") {
    const whole = calculateWhole(operator, left, right);
    if (whole !== null) return whole;
  }
  meter.charge(costOf(operator));
  const a = decimalOf(left);
  const b = decimalOf(right);
  switch (operator) {
    case "+":
      return finite(a.plus(b));
    case "-":
      return finite(a.minus(b));
    case "*":
      return finite(a.times(b));
    case "/":
      return finite(a.dividedBy(b)) ?? meter.missing("a number is divided by zero, or the result is too large");
    case "**":
      return finite(a.pow(b)) ?? meter.missing("a power is not a number, or too large");
    default:
      return operator satisfies never;
  }
}

/** Doubles hold whole numbers exactly, as long as these are safe; null: decimals must say. */
function calculateWhole(operator: "+" | "-" | "*", left: number, right: number): number | null {
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right)) return null;
  const result = operator === "+" ? left + right : operator === "-" ? left - right : left * right;
  // Adding zero makes the one zero of two.
  return Number.isSafeInteger(result) ? result + 0 : null;
}

function costOf(operator: Operator): number {
  if (operator === "**") return COST.power;
  return operator === "/" ? COST.division : 3 * COST.decimal;
}

function calculateTemporal(operator: Operator, left: Value, right: Value, meter: Meter): Value {
  if (left instanceof FeelDuration && isNumber(right) && (operator === "*" || operator === "/")) {
    return scaleDuration(left, right, operator === "/", meter);
  }
  if (isNumber(left) && right instanceof FeelDuration && operator === "*") {
    return scaleDuration(right, left, false, meter);
  }
  if (!isTemporal(left) || !isTemporal(right)) return null;
  return calculateTemporals(operator, left, right, meter);
}

function calculateTemporals(operator: Operator, left: Temporal, right: Temporal, meter: Meter): Value {
  switch (operator) {
    case "+":
      return ask("add", [left, right], meter);
    case "-":
      return ask("subtract", [left, right], meter);
    case "/":
      return left instanceof FeelDuration && right instanceof FeelDuration ? ratioOf(left, right, meter) : null;
    default:
      return null;
  }
}
