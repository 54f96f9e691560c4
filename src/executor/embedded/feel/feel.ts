/**
 * FEEL expressions: their syntax at deployment, their value at run time.
 *
 * Contract: never throws, changes nothing, and ends within STEPS_MAX. A variable that is not there is null, and so is
 * what FEEL gives no value (a text compared with a number). Names of variables are data: they neither change how an
 * expression is read nor reach anything but variables. Left to others: what a null means where it is used. `now()` and
 * `today()` read the clock.
 */

import type { Json, JsonObject } from "../../../core/json.ts";
import type { Expression } from "../bpmn/model.ts";
import { spend } from "../spent.ts";
import { evaluateExpr } from "./evaluator.ts";
import { Fault, Meter, OutOfSteps, STEPS_MAX } from "./meter.ts";
import { isKept, parse, parseSteps } from "./parse.ts";
import { toJson } from "./result.ts";
import { kindOf, type Value } from "./values.ts";

export type Evaluated = { readonly ok: true; readonly value: Json } | Failed;
type Failed = { readonly ok: false; readonly message: string };

/** What is left for all expressions of one deployment or command, in steps. Each takes off what it takes. */
export interface Budget {
  steps: number;
}

/** For the expressions of one deployment, or of one command: half a second. */
export const FEEL_STEPS_MAX = 50_000_000;

/**
 * @param feel an expression, without its leading `=`
 * @returns what is wrong with it, or null. Whether it gives anything useful shows only when it runs
 */
export function checkFeel(feel: string, budget?: Budget): string | null {
  if (!take(budget, parseSteps(feel))) return "there are too many and too long expressions";
  const parsed = parse(feel);
  return parsed.ok ? null : parsed.message;
}

/**
 * @param feel an expression, without its leading `=`
 * @param variables what it can name
 * @returns its value as JSON: dates and durations as ISO text; or why there is none (a range, too large, too much work)
 */
export function evaluate(feel: string, variables: JsonObject, budget?: Budget): Evaluated {
  return run(feel, variables, budget, toJson);
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
 * @returns true or false; for any other value a fault that says why, with what first became null
 */
export function conditionOf(
  feel: string,
  variables: JsonObject,
  budget?: Budget,
): { readonly ok: true; readonly value: boolean } | Failed {
  const ran = run(feel, variables, budget, (value, { note }) => ({ value, note }));
  if (!ran.ok) return ran;
  const { value, note } = ran.value;
  if (typeof value === "boolean") return { ok: true, value };
  return about(feel, `is ${kindOf(value)}, not true or false${value !== null || note === null ? "" : `: ${note}`}`);
}

/** @param use what is done with the value, at the expression's expense */
function run<T>(
  feel: string,
  variables: JsonObject,
  budget: Budget | undefined,
  use: (value: Value, meter: Meter) => T,
): { readonly ok: true; readonly value: T } | Failed {
  // Charged whether it is parsed anew or not: what a command can do does not depend on what else has run.
  if (!take(budget, parseSteps(feel), isKept(feel) ? 0 : parseSteps(feel))) return OVER_BUDGET;
  const parsed = parse(feel);
  if (!parsed.ok) return about(feel, `is not an expression: ${parsed.message}`);
  const most = Math.min(STEPS_MAX, budget?.steps ?? STEPS_MAX);
  const meter = new Meter(most);
  try {
    return {
      ok: true,
      value: use(evaluateExpr(parsed.expr, { name: null, names: variables, outer: null }, meter), meter),
    };
  } catch (error) {
    if (error instanceof OutOfSteps && most < STEPS_MAX) return OVER_BUDGET;
    if (error instanceof Fault) return about(feel, error.message);
    return about(feel, error instanceof RangeError ? "is too deep or too large" : "cannot be evaluated");
  } finally {
    take(budget, meter.spent);
  }
}

const OVER_BUDGET: Failed = { ok: false, message: "the expressions of this command take too many steps" };

/** @param took what was really done, where that is less than what is charged */
function take(budget: Budget | undefined, steps: number, took = steps): boolean {
  spend(took);
  if (budget === undefined) return true;
  budget.steps -= steps;
  return budget.steps >= 0;
}

/** Messages are stored with incidents: the expression, and what is wrong, both cut. */
function about(feel: string, problem: string): Failed {
  const shown = feel.length <= 100 ? feel : `${feel.slice(0, 100)}…`;
  return { ok: false, message: `"${shown}" ${problem.slice(0, 300)}` };
}
