/**
 * Variables while an instance advances: read only when somebody asks, since most steps need none; and mappings, which
 * make variables from variables.
 *
 * Contract: pure. Members are data whatever their name is.
 */

import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Mapping } from "./bpmn/model.ts";
import { type Budget, FEEL_STEPS_MAX, valueFor } from "./feel/feel.ts";
import { mergeVariables } from "./variables.ts";

/** An instance's variables as they become during one event. */
export class Scope {
  /** For all expressions of the event together: a loop of small ones is large. */
  readonly budget: Budget = { steps: FEEL_STEPS_MAX };
  readonly #load: () => JsonObject;
  #all: JsonObject | null = null;
  #changed = false;

  /** @param load called at most once */
  constructor(load: () => JsonObject) {
    this.#load = load;
  }

  get all(): JsonObject {
    this.#all ??= this.#load();
    return this.#all;
  }

  /** What they have become; null: they are as they were. */
  get changes(): JsonObject | null {
    return this.#changed ? this.all : null;
  }

  merge(changes: JsonObject): void {
    // Most completions bring none; then a megabyte of variables need not be read.
    if (Object.keys(changes).length === 0) return;
    this.#all = mergeVariables(this.all, changes);
    this.#changed = true;
  }
}

export type Mapped =
  | { readonly ok: true; readonly variables: JsonObject }
  | { readonly ok: false; readonly message: string };

/**
 * What mappings come to, one after the other: each sees what those before it made.
 *
 * @param visible what their sources may read
 * @param into what is there already: a path to a member changes that member and keeps the others
 */
export function mapVariables(
  mappings: readonly Mapping[],
  visible: JsonObject,
  into: JsonObject,
  budget: Budget,
): Mapped {
  let made: JsonObject = {};
  let seen = visible;
  for (const { source, target } of mappings) {
    const value = valueFor(source, seen, budget);
    if (!value.ok) return { ok: false, message: `The mapping to ${target} failed: ${value.message}` };
    const [name = target, ...path] = target.split(".");
    const before = memberOf(made, name) ?? memberOf(into, name);
    const change: JsonObject = { [name]: placed(before, path, value.value) };
    made = mergeVariables(made, change);
    seen = mergeVariables(seen, change);
  }
  return { ok: true, variables: made };
}

function placed(before: Json | undefined, path: readonly string[], value: Json): Json {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const around = isJsonObject(before) ? before : {};
  return mergeVariables(around, { [name]: placed(memberOf(around, name), rest, value) });
}

function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
