/**
 * FEEL's numbers: decimals of 34 digits, rounded half to even, as IEEE 754-2008 decimal128 has them.
 *
 * Contract: a number of a variable is the decimal that its text says, or a fault when it has more digits than these. A
 * result is written with exactly its digits.
 */

import Decimal from "decimal.js";
import { isRawNumber, type Json, numberText, parseJson, type RawNumber } from "../../../core/json.ts";
import { Fault } from "./meter.ts";

export type { Decimal };

/** Of a number's significand. */
export const DIGITS_MAX = 34;
/** Of its exponent of ten: decimal128 goes from 10^-6176 to below 10^6145. */
const EXPONENT_MAX = 6_144;
const EXPONENT_MIN = -6_176;
/** A number's text as JSON may be far longer than the number that it is. */
const TEXT_LENGTH_MAX = 10_000;

/** The rounding that arithmetic uses: half to even. */
export const HALF_EVEN = Decimal.ROUND_HALF_EVEN;

const Decimal128 = Decimal.clone({
  precision: DIGITS_MAX,
  rounding: HALF_EVEN,
  modulo: Decimal.ROUND_FLOOR,
  minE: EXPONENT_MIN,
  maxE: EXPONENT_MAX,
  toExpPos: DIGITS_MAX,
  toExpNeg: -DIGITS_MAX,
});

/** A number as it comes from a variable, from a literal or from arithmetic. */
export type FeelNumber = number | RawNumber | Decimal;

export function isNumber(value: unknown): value is FeelNumber {
  return typeof value === "number" || Decimal.isDecimal(value) || isRawNumber(value);
}

/**
 * @param number of any origin
 * @returns its decimal
 * @throws {Fault} when it has more digits than DIGITS_MAX or is out of the range of decimal128
 */
export function decimalOf(number: FeelNumber): Decimal {
  if (typeof number === "number") return new Decimal128(number);
  if (Decimal.isDecimal(number)) return number;
  const decimal = parseDecimal(numberText(number));
  if (decimal === null) throw new Fault(`computes with ${shown(numberText(number))}, which decimal128 cannot hold`);
  return decimal;
}

/**
 * @param text digits with an optional sign, point and exponent
 * @returns the decimal, or null when decimal128 cannot hold it exactly
 */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const decimal = new Decimal128(text);
  // Below the range a number becomes zero, and above it infinite.
  const isLost = !decimal.isFinite() || (decimal.isZero() && /[1-9]/.test(text.replace(/[eE].*$/, "")));
  return isLost || decimal.precision() > DIGITS_MAX ? null : decimal;
}

/** A result of arithmetic: what is no number is null, as FEEL has it. */
export function finite(decimal: Decimal): Decimal | null {
  return decimal.isFinite() ? decimal : null;
}

/** @returns less than, equal to or more than 0, as `a` is less than, equal to or more than `b` */
export function compareNumbers(a: FeelNumber, b: FeelNumber): number {
  // The shortest texts of two doubles are in the order of the doubles.
  if (typeof a === "number" && typeof b === "number") return a === b ? 0 : a < b ? -1 : 1;
  return decimalOf(a).comparedTo(decimalOf(b));
}

/** The digits of a number, without an exponent where 34 places suffice. Two equal numbers have one text. */
export function textOfNumber(number: FeelNumber): string {
  const decimal = decimalOf(number);
  return decimal.isZero() ? "0" : decimal.toString();
}

/** A number as JSON, exactly: a double where it prints the same digits, else the digits themselves. */
export function jsonOfNumber(number: FeelNumber): Json {
  if (!Decimal.isDecimal(number)) return number;
  if (number.isZero()) return 0;
  const double = number.toNumber();
  if (Number.isFinite(double) && number.equals(double)) return double;
  return parseJson(number.toString());
}

/** An integer that indexes or counts; null for anything else. */
export function integerOf(number: FeelNumber): number | null {
  const double = typeof number === "number" ? number : decimalOf(number).toNumber();
  return Number.isSafeInteger(double) && (typeof number === "number" || decimalOf(number).equals(double))
    ? double
    : null;
}

function shown(text: string): string {
  return text.length <= 50 ? text : `${text.slice(0, 50)}…`;
}
