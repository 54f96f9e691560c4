/**
 * Dates, times and durations. Their rules are those of `feelin`, asked one operation at a time: each takes a constant
 * time, since texts that are read as one have a bounded length.
 */

import { evaluate, FeelDate, FeelDateTime, FeelDuration, FeelTime } from "feelin";
import { COST, type Meter } from "./meter.ts";
import { decimalOf, type FeelNumber, isNumber } from "./numbers.ts";
import { isTemporal, type Temporal, type Value } from "./values.ts";

/** `2024-01-01T10:00:00.123456789@America/Argentina/ComodRivadavia`, with room to spare. */
const TEXT_LENGTH_MAX = 100;

/** What can be asked. The words are `feelin`'s, and its operands are called so. */
const QUESTIONS = {
  equal: "a = b",
  less: "a < b",
  add: "a + b",
  subtract: "a - b",
  negate: "-a",
  date: "date(a)",
  dateOf: "date(a, b, c)",
  time: "time(a)",
  timeOf: "time(a, b, c)",
  zonedTimeOf: "time(a, b, c, d)",
  "date and time": "date and time(a)",
  combine: "date and time(a, b)",
  duration: "duration(a)",
  "years and months duration": "years and months duration(a, b)",
  "@": '@"TEXT"',
  now: "now()",
  today: "today()",
  abs: "abs(a)",
  "day of week": "day of week(a)",
  "day of year": "day of year(a)",
  "month of year": "month of year(a)",
  "week of year": "week of year(a)",
} as const;

export type Question = keyof typeof QUESTIONS;

/**
 * @param operands what the question is about: at most four
 * @returns the answer; null for operands that it cannot be asked of
 */
export function ask(question: Question, operands: readonly Value[], meter: Meter): Value {
  meter.charge(COST.temporal);
  const given: Record<string, unknown> = {};
  for (const [index, operand] of operands.entries()) {
    if (typeof operand === "string" && operand.length > TEXT_LENGTH_MAX) return null;
    if (!isTemporal(operand) && typeof operand !== "string" && !isNumber(operand)) return null;
    given["abcd"[index] ?? ""] = isNumber(operand) ? doubleOf(operand) : operand;
  }
  const text = QUESTIONS[question];
  const feel = question === "@" ? text.replace("TEXT", literalText(operands[0])) : text;
  const { value, warnings } = evaluate(feel, given, "camunda");
  const answer = answerOf(value);
  if (answer === null) meter.missing(warnings[0]?.message ?? "a date, time or duration is not valid");
  return answer;
}

export function equalTemporals(left: Temporal, right: Temporal, meter: Meter): boolean | null {
  const equal = ask("equal", [left, right], meter);
  return typeof equal === "boolean" ? equal : null;
}

/** The order of two values of one kind; null when one has a time zone and the other has none. */
export function compareTemporals(left: Temporal, right: Temporal, meter: Meter): number | null {
  if (isZoned(left) !== isZoned(right)) return meter.missing("a time with a zone cannot be compared with one without");
  if (ask("less", [left, right], meter) === true) return -1;
  return ask("less", [right, left], meter) === true ? 1 : 0;
}

/** What can be read off a date, a time or a duration by name; undefined for any other name. */
export function partOf(value: Temporal, name: string, meter: Meter): Value | undefined {
  if (!PARTS.has(name) || !(name in value)) return undefined;
  meter.charge(COST.temporal);
  const part: unknown = Reflect.get(value, name);
  return answerOf(part);
}

const PARTS = new Set(
  "year,month,day,weekday,hour,minute,second,timezone,time offset,years,months,days,hours,minutes,seconds".split(","),
);

/** A duration times or divided by a number. */
export function scaleDuration(duration: FeelDuration, by: FeelNumber, divides: boolean, meter: Meter): Value {
  meter.charge(COST.temporal);
  const factor = divides ? 1 / doubleOf(by) : doubleOf(by);
  if (!Number.isFinite(factor)) return null;
  const amount = amountOf(duration) * factor;
  if (!Number.isSafeInteger(Math.trunc(amount))) return null;
  return ask("duration", [textOfAmount(duration.yearsMonths, amount)], meter);
}

/** How often one duration goes into another of its kind; null for unlike kinds and for nothing. */
export function ratioOf(duration: FeelDuration, by: FeelDuration, meter: Meter): number | null {
  meter.charge(COST.temporal);
  const whole = amountOf(by);
  return duration.yearsMonths === by.yearsMonths && whole !== 0 ? amountOf(duration) / whole : null;
}

/** Months, or seconds. */
function amountOf(duration: FeelDuration): number {
  const value = duration.unwrap();
  return duration.yearsMonths ? value.years * 12 + value.months : value.total("seconds");
}

function textOfAmount(yearsMonths: boolean, amount: number): string {
  const sign = amount < 0 ? "-" : "";
  if (yearsMonths) return `${sign}P${Math.trunc(Math.abs(amount))}M`;
  return `${sign}PT${Math.abs(amount).toFixed(9).replace(/0+$/, "0")}S`;
}

function isZoned(value: Temporal): boolean {
  return (value instanceof FeelDateTime || value instanceof FeelTime) && value.zone !== null;
}

function doubleOf(number: FeelNumber): number {
  return typeof number === "number" ? number : decimalOf(number).toNumber();
}

/** Only what a date, time or duration may hold: the rest would end the text that it stands in. */
function literalText(text: Value | undefined): string {
  return typeof text === "string" ? text.replace(/[^\w:.+@/-]/g, "?") : "";
}

function answerOf(value: unknown): Value {
  if (typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof FeelDate || value instanceof FeelDateTime) return value;
  return value instanceof FeelTime || value instanceof FeelDuration ? value : null;
}
