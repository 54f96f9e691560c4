/** Built-in functions of contexts, and those that any value can be asked. */

import { equals } from "../compare.ts";
import { COST, type Meter } from "../meter.ts";
import { type Context, contextOf, isContext, isTemporal, kindOf, memberOf, type Value } from "../values.ts";
import { asContext, asList, asText, type Functions, itemsOf } from "./form.ts";

function entriesOf(context: Context, meter: Meter): [string, Value][] {
  const entries = Object.entries(context);
  meter.charge(entries.length * COST.entry);
  return entries;
}

function fromEntries(entries: readonly Value[], meter: Meter): Value {
  const made = new Map<string, Value>();
  for (const entry of entries) {
    meter.charge(2 * COST.entry);
    if (!isContext(entry)) return null;
    const [key, value] = [memberOf(entry, "key"), memberOf(entry, "value")];
    if (typeof key !== "string" || value === undefined || made.has(key)) return null;
    made.set(key, value);
  }
  return contextOf(made);
}

function merge(contexts: readonly Value[], meter: Meter): Value {
  if (!contexts.every(isContext)) return null;
  const merged = contextOf(contexts.flatMap((context) => entriesOf(context, meter)));
  meter.size(Object.keys(merged).length);
  return merged;
}

/** Puts a value at the end of a path of contexts that are there. */
function put(context: Value, path: readonly Value[], value: Value, meter: Meter, depth = 0): Value {
  meter.depth(depth);
  const [name, ...rest] = path;
  if (typeof name !== "string" || !isContext(context)) return null;
  const placed = rest.length === 0 ? value : put(memberOf(context, name) ?? null, rest, value, meter, depth + 1);
  // Where the path leads nowhere nothing is put.
  if (rest.length > 0 && placed === null) return null;
  return contextOf([...entriesOf(context, meter), [name, placed]]);
}

export const CONTEXT_FUNCTIONS: Functions = {
  not: { negand: ([value]) => (typeof value === "boolean" ? !value : null) },
  is: {
    "value1, value2": ([left = null, right = null], meter) => {
      if (kindOf(left) !== kindOf(right)) return false;
      // The same moment in two zones is equal, and not the same.
      if (isTemporal(left) && isTemporal(right)) return left.toString() === right.toString();
      return equals(left, right, meter) === true;
    },
  },
  "get value": {
    "m, key": ([m, key], meter) => {
      const [context, path] = [asContext(m), asList(key)];
      meter.members(path?.length ?? 0);
      return (path ?? []).reduce<Value>(
        (at, name) => (at !== null && isContext(at) && typeof name === "string" ? (memberOf(at, name) ?? null) : null),
        path === null ? null : context,
      );
    },
  },
  "get entries": {
    m: ([m], meter) => {
      const context = asContext(m);
      return context && entriesOf(context, meter).map(([key, value]) => contextOf(Object.entries({ key, value })));
    },
  },
  context: { "...entries": (given, meter) => fromEntries(itemsOf(given), meter) },
  "context merge": { "...contexts": (given, meter) => merge(itemsOf(given), meter) },
  "context put": {
    "context, key, value": ([m, key, value = null], meter) => {
      const [context, name] = [asContext(m), asText(key)];
      const path = name === null ? asList(key) : [name];
      return context === null || path === null ? null : put(context, path, value, meter);
    },
    "context, keys, value": ([m, keys, value = null], meter) => {
      const [context, path] = [asContext(m), asList(keys)];
      return context === null || path === null ? null : put(context, path, value, meter);
    },
  },
};
