/**
 * What an element makes of a token: the flows that it sends it to, the job that it creates, the boundary event that
 * catches its error. Pure, and each rule a function of its own; the walk from element to element is token-game.ts.
 */

import type { Json, JsonObject } from "../../core/json.ts";
import type { Element, Expression, Flow, Mapping, ProcessModel } from "./bpmn/model.ts";
import { dueMs } from "./bpmn/timer.ts";
import { conditionOf, type Evaluated, valueFor } from "./feel/feel.ts";
import { NAME_LENGTH_MAX } from "./payloads.ts";
import { mapVariables, type Scope } from "./scope.ts";
import { elementOf } from "./tokens.ts";
import { encodeVariables, LOCALS_BYTES_MAX, mergeVariables } from "./variables.ts";

/** Why a token cannot go on: its incident. UNKNOWN is a bound of this engine. */
export interface Stuck {
  readonly type: "CONDITION_ERROR" | "EXTRACT_VALUE_ERROR" | "IO_MAPPING_ERROR" | "UNHANDLED_ERROR_EVENT" | "UNKNOWN";
  readonly message: string;
}

type Refused = Stuck & { readonly ok: false };

/** What an element makes of a token that comes to it or leaves it. */
export type Move =
  | { readonly kind: "goes-on" }
  | { readonly kind: "waits-for-job"; readonly job: NewJob }
  | { readonly kind: "waits-until"; readonly dueMs: number }
  | { readonly kind: "joins"; readonly incoming: readonly string[]; readonly flow: string }
  | ({ readonly kind: "is-stuck" } & Stuck)
  | { readonly kind: "ends" };

export const GOES_ON: Move = { kind: "goes-on" };

/** A token comes to an element. @param flow by which it comes; null: by none */
export function arrival(element: Element, flow: string | null, scope: Scope, nowMs: number): Move {
  switch (element.kind) {
    case "start-event":
    case "exclusive-gateway":
    case "error-boundary-event":
      return GOES_ON;
    case "end-event":
      return { kind: "ends" };
    case "error-end-event": {
      const message = `Nothing in the process catches the error ${JSON.stringify(element.errorCode)}.`;
      return { kind: "is-stuck", type: "UNHANDLED_ERROR_EVENT", message };
    }
    case "service-task": {
      const job = jobOf(element, scope);
      return job.ok ? { kind: "waits-for-job", job } : stuckBy(job);
    }
    case "timer-event": {
      const { timer } = element;
      const due = dueMs(timer, "literal" in timer.value ? {} : scope.all, nowMs, scope.budget);
      if (due.ok) return { kind: "waits-until", dueMs: due.atMs };
      return { kind: "is-stuck", type: "EXTRACT_VALUE_ERROR", message: due.message };
    }
    case "parallel-gateway":
      if (element.incoming.length <= 1 || flow === null) return GOES_ON;
      return { kind: "joins", incoming: element.incoming, flow };
    default:
      return element satisfies never;
  }
}

/** A token leaves an element at which it has rested, with these variables. */
export function departure(element: Element, brought: JsonObject, scope: Scope): Move {
  const outputs = outputsOf(element);
  if (outputs.length === 0) {
    scope.merge(brought);
    return GOES_ON;
  }
  const mapped = mapVariables(outputs, mergeVariables(scope.all, brought), scope.all, scope.budget);
  if (!mapped.ok) return { kind: "is-stuck", type: "IO_MAPPING_ERROR", message: mapped.message };
  scope.merge(mapped.variables);
  return GOES_ON;
}

/** Its output mappings; none: all that is brought is merged. */
export function outputsOf(element: Element): readonly Mapping[] {
  return "outputs" in element ? element.outputs : [];
}

export type FlowsOut = { readonly ok: true; readonly flows: readonly Flow[] } | Refused;

/**
 * The flows that a token leaves by. An exclusive gateway takes the first in the order of the document whose condition
 * holds, or else its default; any other element takes all whose condition holds.
 */
export function flowsOut(element: Element, scope: Scope): FlowsOut {
  const { outgoing } = element;
  const isExclusive = element.kind === "exclusive-gateway";
  const defaultFlow = isExclusive ? element.defaultFlow : null;
  const open: Flow[] = [];
  for (const flow of outgoing) {
    if (flow.id === defaultFlow) continue;
    const holds = holdsFor(flow, scope);
    if (!holds.ok) return holds;
    if (holds.value && isExclusive) return { ok: true, flows: [flow] };
    if (holds.value) open.push(flow);
  }
  if (open.length > 0 || outgoing.length === 0) return { ok: true, flows: open };
  const fallback = outgoing.filter((flow) => flow.id === defaultFlow);
  if (fallback.length > 0) return { ok: true, flows: fallback };
  const message = `No condition of the flows that leave ${element.id} holds, and none of them is the default.`;
  return { ok: false, type: "CONDITION_ERROR", message };
}

function holdsFor(flow: Flow, scope: Scope): { readonly ok: true; readonly value: boolean } | Refused {
  if (flow.condition === null) return { ok: true, value: true };
  const held = conditionOf(flow.condition, scope.all, scope.budget);
  if (held.ok) return held;
  return refusedValue(`The condition of the flow ${flow.id}`, held.message);
}

export interface NewJob {
  readonly type: string;
  readonly retries: number;
  /** The task's own variables, encoded; null: none. */
  readonly locals: string | null;
}

/** The job of a service task: the input mappings make its own variables, and its type and retries may read them. */
function jobOf(task: Element & { kind: "service-task" }, scope: Scope): (NewJob & { readonly ok: true }) | Refused {
  let own: JsonObject = {};
  let locals: string | null = null;
  if (task.inputs.length > 0) {
    const mapped = mapVariables(task.inputs, scope.all, {}, scope.budget);
    if (!mapped.ok) return { ok: false, type: "IO_MAPPING_ERROR", message: mapped.message };
    const encoded = encodeVariables(mapped.variables, LOCALS_BYTES_MAX);
    if (encoded.kind === "refused") {
      return { ok: false, type: "IO_MAPPING_ERROR", message: `The task's own variables ${encoded.why}.` };
    }
    own = mapped.variables;
    locals = encoded.text;
  }
  const type = valueOfTask(task.jobType, scope, own);
  if (!type.ok) return refusedValue("The job's type", type.message);
  if (!isName(type.value))
    return refusedValue("The job's type", `it is not a text of 1 to ${NAME_LENGTH_MAX} characters`);
  const retries = valueOfTask(task.retries, scope, own);
  if (!retries.ok) return refusedValue("The job's retries", retries.message);
  const count = typeof retries.value === "string" ? Number(retries.value) : retries.value;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 1 || count > JOB_RETRIES_MAX) {
    return refusedValue("The job's retries", `they are not a whole number from 1 to ${JOB_RETRIES_MAX}`);
  }
  return { ok: true, type: type.value, retries: count, locals };
}

/** More tries than these are for ever. */
const JOB_RETRIES_MAX = 1_000_000;

/** Reads the variables only when the expression does. */
function valueOfTask(expression: Expression, scope: Scope, own: JsonObject): Evaluated {
  const variables = "literal" in expression ? {} : mergeVariables(scope.all, own);
  return valueFor(expression, variables, scope.budget);
}

function isName(value: Json): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= NAME_LENGTH_MAX && value.isWellFormed();
}

function stuckBy({ type, message }: Stuck): Move {
  return { kind: "is-stuck", type, message };
}

function refusedValue(what: string, why: string): Refused {
  return { ok: false, type: "EXTRACT_VALUE_ERROR", message: `${what} cannot be read: ${why}.` };
}

/** The boundary event of an element that catches an error: one for this code, or else one for all; null: none. */
export function catcherOf(model: ProcessModel, elementId: string, errorCode: string): string | null {
  const element = elementOf(model, elementId);
  if (element.kind !== "service-task") return null;
  const events = element.boundaries.map((id) => elementOf(model, id));
  const catching = (code: string | null) =>
    events.find((event) => event.kind === "error-boundary-event" && event.errorCode === code);
  return (catching(errorCode) ?? catching(null))?.id ?? null;
}
