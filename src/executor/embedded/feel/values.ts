/** The values that FEEL computes with: JSON, decimals, ranges, dates, times and durations. */

import { FeelDate, FeelDateTime, FeelDuration, FeelTime } from "feelin";
import { type FeelNumber, isNumber } from "./numbers.ts";

export type Temporal = FeelDate | FeelDateTime | FeelTime | FeelDuration;
export type List = readonly Value[];
/** As it comes from JSON, or made without a prototype: members are its own, whatever they are called. */
export interface Context {
  readonly [member: string]: Value;
}
export type Value = null | boolean | string | FeelNumber | Temporal | Range | List | Context;

/** `[1..5)`, or `> 5`: an end that is null is open. */
export class Range {
  readonly low: Value;
  readonly high: Value;
  readonly lowIncluded: boolean;
  readonly highIncluded: boolean;

  constructor(low: Value, lowIncluded: boolean, high: Value, highIncluded: boolean) {
    this.low = low;
    this.lowIncluded = lowIncluded;
    this.high = high;
    this.highIncluded = highIncluded;
  }
}

export type Kind =
  | "null"
  | "boolean"
  | "string"
  | "number"
  | "list"
  | "context"
  | "range"
  | "date"
  | "time"
  | "date and time"
  | "days and time duration"
  | "years and months duration";

/** The type of a value as FEEL knows it. Only values of one kind can be compared. */
export function kindOf(value: Value): Kind {
  if (value === null) return "null";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string") return "string";
  if (isNumber(value)) return "number";
  if (isList(value)) return "list";
  if (value instanceof Range) return "range";
  if (value instanceof FeelDate) return "date";
  if (value instanceof FeelDateTime) return "date and time";
  if (value instanceof FeelTime) return "time";
  if (value instanceof FeelDuration) {
    return value.yearsMonths ? "years and months duration" : "days and time duration";
  }
  return "context";
}

export function isList(value: Value): value is List {
  return Array.isArray(value);
}

export function isContext(value: Value): value is Context {
  return kindOf(value) === "context";
}

export function isTemporal(value: Value): value is Temporal {
  return (
    value instanceof FeelDate ||
    value instanceof FeelDateTime ||
    value instanceof FeelTime ||
    value instanceof FeelDuration
  );
}

/** A context from entries; a later one of the same name takes the place of an earlier one. */
export function contextOf(entries: Iterable<readonly [string, Value]>): Context {
  const made: Record<string, Value> = Object.create(null);
  for (const [name, value] of entries) made[name] = value;
  return made;
}

/** A member of a context; undefined when it has none of that name. */
export function memberOf(context: Context, name: string): Value | undefined {
  return Object.hasOwn(context, name) ? context[name] : undefined;
}
