/**
 * When a timer event is due: ISO 8601 durations and dates, written out or given by an expression.
 *
 * Contract: never throws; whatever is not a time that a clock can show is told as text. Months and years are those of
 * the calendar, in UTC, from the moment the token arrives; a day that the month does not have is its last one.
 */

import type { Json, JsonObject } from "../../../core/json.ts";
import { type Budget, valueFor } from "../feel/feel.ts";
import type { Expression } from "./model.ts";

/** The largest time of a `Date`. */
const TIME_MS_MAX = 8.64e15;
const TEXT_LENGTH_MAX = 100;

export type Due = { readonly ok: true; readonly atMs: number } | { readonly ok: false; readonly message: string };

interface Duration {
  readonly months: number;
  readonly ms: number;
}

/**
 * @param timer from a model
 * @param variables what its expression sees
 * @param nowMs when the token reached the event, Unix milliseconds
 * @returns when it goes on, in whole milliseconds: in the past, when the date is, or the duration is negative
 */
export function dueMs(
  timer: { readonly type: "duration" | "date"; readonly value: Expression },
  variables: JsonObject,
  nowMs: number,
  budget?: Budget,
): Due {
  const value = valueFor(timer.value, variables, budget);
  return value.ok ? dueAt(timer.type, value.value, nowMs) : value;
}

/**
 * What is wrong with a timer's literal, or null.
 *
 * @param text not an expression
 */
export function checkTimer(type: "duration" | "date", text: string): string | null {
  const due = dueAt(type, text, 0);
  return due.ok ? null : due.message;
}

function dueAt(type: "duration" | "date", value: Json, nowMs: number): Due {
  const shown = typeof value === "string" ? `"${value.slice(0, TEXT_LENGTH_MAX)}"` : JSON.stringify(value).slice(0, 40);
  if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) {
    return { ok: false, message: `the timer's ${type} is ${shown}` };
  }
  const text = value.trim();
  if (type === "date") {
    const atMs = parseDate(text);
    return atMs === null
      ? { ok: false, message: `${shown} is not a date and time with an offset (ISO 8601)` }
      : { ok: true, atMs };
  }
  const duration = parseDuration(text);
  if (duration === null) return { ok: false, message: `${shown} is not a duration (ISO 8601)` };
  const atMs = Math.round(addMonths(nowMs, duration.months) + duration.ms);
  return Math.abs(atMs) <= TIME_MS_MAX ? { ok: true, atMs } : { ok: false, message: `${shown} is too long` };
}

const AMOUNT = "(\\d{1,12}(?:[.,]\\d{1,9})?)";
const DURATION = new RegExp(
  `^([+-])?P(?=[\\dT])(?:${AMOUNT}Y)?(?:${AMOUNT}M)?(?:${AMOUNT}W)?(?:${AMOUNT}D)?` +
    `(?:T(?=\\d)(?:${AMOUNT}H)?(?:${AMOUNT}M)?(?:${AMOUNT}S)?)?$`,
);
const WEEK_MS = 604_800_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** `PnYnMnWnDTnHnMnS`, with a sign, the last amount with a fraction. Null when it is none. */
function parseDuration(text: string): Duration | null {
  const found = DURATION.exec(text);
  if (found === null) return null;
  const given = found.slice(2).filter((amount) => amount !== undefined);
  if (given.slice(0, -1).some((amount) => /[.,]/.test(amount))) return null;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(2)
    .map((amount) => (amount === undefined ? 0 : Number(amount.replace(",", "."))));
  // Half a month is no number of days.
  if (!Number.isInteger(years) || !Number.isInteger(months)) return null;
  const sign = found[1] === "-" ? -1 : 1;
  const ms = weeks * WEEK_MS + days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
  return { months: sign * (years * 12 + months), ms: sign * ms };
}

/** NaN when there is no such time. */
function addMonths(atMs: number, months: number): number {
  if (months === 0) return atMs;
  const date = new Date(atMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime();
}

const DATE =
  /^([+-]?\d{4,6})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)(?:\[[\w/+-]{1,40}\])?$/;

/** A date and time with its offset, as Unix milliseconds. Null when it is none, or names a day that is not there. */
function parseDate(text: string): number | null {
  const found = DATE.exec(text);
  if (found === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const ms = Math.floor(Number(`0.${found[7] ?? "0"}`) * 1_000);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, ms);
  const isThere =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  const offset = offsetMs(found[8] ?? "Z");
  return isThere && offset !== null ? date.getTime() - offset : null;
}

function offsetMs(text: string): number | null {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(":", "") || 0);
  if (hours > 18 || minutes > 59) return null;
  return (text.startsWith("-") ? -1 : 1) * (hours * HOUR_MS + minutes * MINUTE_MS);
}
