/**
 * How a built-in function is written down and called: by position or by name, with one or several lists of parameters.
 * A function gives null for what it is not made for.
 */

import type { Meter } from "../meter.ts";
import { type FeelNumber, integerOf, isNumber } from "../numbers.ts";
import { type Context, isContext, isList, type List, type Value } from "../values.ts";

/** Undefined: an optional parameter that is not given. */
export type Arguments = readonly (Value | undefined)[];
export type Body = (given: Arguments, meter: Meter) => Value;

/** Parameters, as `"string, start position, length?"` or `"...list"`, and what is done with them. */
export type Forms = Readonly<Record<string, Body>>;
export type Functions = Readonly<Record<string, Forms>>;

interface Form {
  readonly names: readonly string[];
  readonly needed: number;
  readonly takesAny: boolean;
  readonly body: Body;
}

export interface Builtin {
  readonly forms: readonly Form[];
}

export function builtinOf(forms: Forms): Builtin {
  return {
    forms: Object.entries(forms).map(([written, body]) => {
      const parameters = written
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== "");
      return {
        names: parameters.map((each) => each.replace(/^\.\.\.|\?$/g, "")),
        needed: parameters.filter((each) => !each.endsWith("?") && !each.startsWith("...")).length,
        takesAny: written.includes("..."),
        body,
      };
    }),
  };
}

/** Calls a function. Null, with a note, when no list of parameters fits. */
export function call(name: string, builtin: Builtin, given: readonly Value[], meter: Meter): Value {
  const fits = ({ names, needed, takesAny }: Form) =>
    given.length >= needed && (takesAny || given.length <= names.length);
  const form = builtin.forms.find(fits);
  if (form === undefined) return meter.missing(`the function "${name}" does not take ${given.length} arguments`);
  return form.body(given, meter) ?? meter.missing(`the function "${name}" has no value for these arguments`);
}

/** As {@link call}, with arguments that have names. */
export function callNamed(name: string, builtin: Builtin, given: ReadonlyMap<string, Value>, meter: Meter): Value {
  const fits = ({ names, needed }: Form) =>
    [...given.keys()].every((each) => names.includes(each)) && names.slice(0, needed).every((each) => given.has(each));
  const form = builtin.forms.find(fits);
  if (form === undefined) return meter.missing(`the function "${name}" has no parameters of these names`);
  const placed = form.names.map((each) => given.get(each));
  return form.body(form.takesAny ? placed.filter((each) => each !== undefined) : placed, meter);
}

/** A list of one is its member where no list is meant. */
function single(value: Value | undefined): Value | undefined {
  return value !== undefined && isList(value) && value.length === 1 ? value[0] : value;
}

export function asText(value: Value | undefined): string | null {
  const one = single(value);
  return typeof one === "string" ? one : null;
}

export function asNumber(value: Value | undefined): FeelNumber | null {
  const one = single(value);
  return one !== undefined && isNumber(one) ? one : null;
}

/** A whole number that counts or numbers something. */
export function asInteger(value: Value | undefined): number | null {
  const number = asNumber(value);
  return number === null ? null : integerOf(number);
}

/** A value is a list of one where a list is meant. */
export function asList(value: Value | undefined): List | null {
  if (value === undefined || value === null) return null;
  return isList(value) ? value : [value];
}

export function asContext(value: Value | undefined): Context | null {
  const one = single(value);
  return one !== undefined && isContext(one) ? one : null;
}

/** The members of the one list that is given, or what is given one by one. */
export function itemsOf(given: Arguments): List {
  const [first] = given;
  if (given.length === 1 && first !== undefined && isList(first)) return first;
  return given.filter((each) => each !== undefined);
}
