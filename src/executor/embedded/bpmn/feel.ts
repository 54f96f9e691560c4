/**
 * FEEL expressions: their syntax at deployment, their value at run time.
 *
 * Contract: never throws, changes nothing, ends within a few tenths of a second, and gives JSON. A variable that is not there is
 * null, and so is what cannot be computed (a text plus a number): that is FEEL. Names of variables are data: they
 * neither change how an expression is read nor reach anything but variables.
 * Left to others: what a null means where it is used. `now()` and `today()` read the clock.
 */

import { FeelDate, FeelDateTime, FeelDuration, FeelTime, evaluate as run } from "feelin";
import { JSON_DEPTH_MAX, type Json, type JsonObject } from "../../../core/json.ts";
import {
  type Analysed,
  analyse,
  DIALECT,
  HIDDEN_FUNCTIONS,
  parseSteps,
  type Shape,
  TEMPORAL_STEPS,
} from "./feel-shape.ts";
import type { Expression } from "./model.ts";

/** Of one evaluation, by the bound that its shape gives: 0.2 s at the very worst. A step is about 10 ns. */
const STEPS_MAX = 20_000_000;
/** Of a result: values and characters. What is larger could not be stored as a variable. */
const RESULT_SIZE_MAX = 1024 * 1024;
/** Analyses kept in memory: those of the models that run now. */
const ANALYSES_MAX = 1_000;

export type Evaluated = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** What is left for all expressions of one deployment or command. Each takes its steps off it, when it is given. */
export interface Budget {
  steps: number;
}

/** For the expressions of one deployment, or of one command: half a second at the very worst. */
export const FEEL_STEPS_MAX = 50_000_000;

let spent = 0;

/**
 * The steps that all expressions have taken so far, read or evaluated: a clock that does not stand still while they do, for
 * whoever has to let others have their turn.
 */
export function feelStepsSpent(): number {
  return spent;
}

/**
 * @param feel an expression, without its leading `=`
 * @returns what is wrong with it, or null. Whether it gives anything useful shows only when it runs
 */
export function checkFeel(feel: string, budget?: Budget): string | null {
  if (!take(budget, parseSteps(feel.slice(0, 10_000)))) return "there are too many and too long expressions";
  const analysed = analyse(feel);
  return analysed.ok ? null : analysed.message;
}

/**
 * @param feel an expression, without its leading `=`
 * @param variables what it can name
 * @returns its value as JSON: dates and durations as ISO text; or why there is none (a function, a range, no number, too
 *   large, too much work)
 */
export function evaluate(feel: string, variables: JsonObject, budget?: Budget): Evaluated {
  const ran = runBounded(feel, variables, budget);
  return ran.ok ? toJson(ran.value) : ran;
}

/**
 * The value of an expression, or the literal as text.
 *
 * @returns see `evaluate`
 */
export function valueFor(expression: Expression, variables: JsonObject, budget?: Budget): Evaluated {
  return "literal" in expression
    ? { ok: true, value: expression.literal }
    : evaluate(expression.feel, variables, budget);
}

/**
 * Whether a flow's condition holds.
 *
 * @returns true or false; whatever else it gives is told as a fault, with what the evaluator warned of
 */
export function conditionOf(
  feel: string,
  variables: JsonObject,
  budget?: Budget,
): { readonly ok: true; readonly value: boolean } | { readonly ok: false; readonly message: string } {
  const ran = runBounded(feel, variables, budget);
  if (!ran.ok) return ran;
  if (typeof ran.value === "boolean") return { ok: true, value: ran.value };
  const kind = ran.value === null || ran.value === undefined ? "null" : typeof ran.value;
  const why = ran.warning === null ? "" : `: ${ran.warning}`;
  return about(feel, `is ${kind}, not true or false${why}`);
}

type Ran =
  | { readonly ok: true; readonly value: unknown; readonly warning: string | null }
  | { readonly ok: false; readonly message: string };

function runBounded(feel: string, variables: JsonObject, budget: Budget | undefined): Ran {
  const analysed = analysisOf(feel);
  if (!analysed.ok) return about(feel, `is not an expression: ${analysed.message}`);
  const { shape } = analysed;
  const named = namedBy(shape, variables);
  const size = sizeOf(named) + shape.ownSize;
  // What is called is called once for each turn of the loops around it.
  const steps = shape.factor * size ** shape.exponent + shape.temporal * TEMPORAL_STEPS * size ** (shape.exponent - 1);
  if (steps > STEPS_MAX) return about(feel, "would take too many steps on variables of this size");
  if (!take(budget, steps + parseSteps(feel))) {
    return { ok: false, message: "the expressions of this command take too many steps" };
  }
  try {
    const { value, warnings } = run(feel, hiddenFromParser(named), DIALECT);
    return { ok: true, value, warning: warnings[0]?.message ?? null };
  } catch (error) {
    const why =
      error instanceof RangeError ? "too deep or too large" : error instanceof Error ? error.message : "failed";
    return about(feel, `cannot be evaluated: ${why}`);
  }
}

const analyses = new Map<string, Analysed>();

function analysisOf(feel: string): Analysed {
  const known = analyses.get(feel);
  if (known !== undefined) return known;
  const analysed = analyse(feel);
  // Everything goes at once: a queue of ages would cost more than it saves.
  if (analyses.size >= ANALYSES_MAX) analyses.clear();
  analyses.set(feel, analysed);
  return analysed;
}

/** The variables that an expression names, without a prototype: `constructor` is a variable or nothing. */
function namedBy(shape: Shape, variables: JsonObject): Record<string, Json> {
  const named: Record<string, Json> = Object.create(null);
  for (const name of HIDDEN_FUNCTIONS) named[name] = null;
  for (const name of shape.names) {
    const own = Object.getOwnPropertyDescriptor(variables, name);
    if (own !== undefined) named[name] = own.value;
  }
  return named;
}

/**
 * The evaluator parses again, and would take the members' names of all variables (`a - b`, say) for words of the
 * language. It asks for them once, before it evaluates: then there are none.
 */
function hiddenFromParser(named: Record<string, Json>): Record<string, Json> {
  let isParsing = true;
  return new Proxy(named, {
    ownKeys(target) {
      const keys = isParsing ? [] : Reflect.ownKeys(target);
      isParsing = false;
      return keys;
    },
  });
}

function take(budget: Budget | undefined, steps: number): boolean {
  spent += steps;
  if (budget === undefined) return true;
  budget.steps -= steps;
  return budget.steps >= 0;
}

/** How many parts values have; a text counts by its length. With a stack of its own, so that depth exhausts nothing. */
function sizeOf(value: Json): number {
  let size = 0;
  const open: Json[] = [value];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    size += typeof at === "string" ? 1 + at.length / 16 : 1;
    // One by one: handed over as arguments, a long list overflows the stack.
    if (typeof at === "object" && at !== null) for (const part of Object.values(at)) open.push(part);
  }
  return size;
}

class NotJson extends Error {}

function toJson(value: unknown): Evaluated {
  let left = RESULT_SIZE_MAX;
  const convert = (part: unknown, depth: number): Json => {
    left -= typeof part === "string" ? 1 + part.length : 1;
    if (left < 0) throw new NotJson("the result is too large");
    if (depth > JSON_DEPTH_MAX) throw new NotJson("the result nests too deeply");
    if (part === null || part === undefined) return null;
    if (typeof part === "string" || typeof part === "boolean") return part;
    if (typeof part === "number") {
      if (!Number.isFinite(part)) throw new NotJson("the result is not a finite number");
      return part;
    }
    if (Array.isArray(part)) return part.map((item) => convert(item, depth + 1));
    if (part instanceof FeelDate || part instanceof FeelDateTime) return part.toString();
    if (part instanceof FeelTime || part instanceof FeelDuration) return part.toString();
    if (typeof part === "object" && Object.getPrototypeOf(part) === Object.prototype) {
      return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, convert(item, depth + 1)]));
    }
    throw new NotJson("the result is a function, a range or something else that is not JSON");
  };
  try {
    return { ok: true, value: convert(value, 0) };
  } catch (error) {
    return { ok: false, message: error instanceof NotJson ? error.message : "the result is not JSON" };
  }
}

/** Messages are stored with incidents: the expression, and what is wrong, both cut. */
function about(feel: string, problem: string): { readonly ok: false; readonly message: string } {
  const shown = feel.length <= 100 ? feel : `${feel.slice(0, 100)}…`;
  return { ok: false, message: `"${shown}" ${problem.slice(0, 300)}` };
}
