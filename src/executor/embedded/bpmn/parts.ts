/**
 * The parts of elements that carry expressions: job types and retries, headers, mappings, timers, error codes and
 * conditions. Each function adds what is wrong to the faults, and then gives something of the right type all the same:
 * a document with faults makes no model.
 */

import { type Budget, checkFeel } from "../feel/feel.ts";
import { aKindOf, checkGiven, extensionsAt } from "./allowed.ts";
import type { Faults } from "./faults.ts";
import { type BpmnDocument, type Node, nodeOf, nodesOf, textOf } from "./moddle.ts";
import type { Expression, Mapping } from "./model.ts";
import { checkTimer } from "./timer.ts";

/** As payloads.ts has it for the chain of tasks. */
const RETRIES_MAX = 100;
const RETRIES_DEFAULT = "3";
/** Types and codes are indexed by SQLite. */
const NAME_LENGTH_MAX = 255;
const TARGET_LENGTH_MAX = 255;

/** What a check of a part needs to know: whose it is, and where to complain. */
export interface Place {
  readonly node: Node;
  readonly id: string;
  readonly faults: Faults;
  /** Of all expressions of the document. */
  readonly budget: Budget;
}

/** Text that begins with `=` is FEEL. */
function expressionOf(text: string, what: string, { id, faults, budget }: Place): Expression {
  if (!text.startsWith("=")) return { literal: text };
  const feel = text.slice(1).trim();
  const problem = checkFeel(feel, budget);
  if (problem !== null) faults.add(id, `${what} is not an expression: ${problem}`);
  return { feel };
}

/** The job of a service task. */
export function jobOf(place: Place): { readonly jobType: Expression; readonly retries: Expression } {
  const { node, id, faults } = place;
  const [definition, second] = extensionsAt(node, "zeebe:TaskDefinition");
  if (second !== undefined) faults.add(id, "a serviceTask has more than one zeebe:taskDefinition");
  const type = definition === undefined ? "" : (textOf(definition, "type") ?? "").trim();
  if (type === "") faults.add(id, "a serviceTask needs a zeebe:taskDefinition with a type");
  if (type.length > NAME_LENGTH_MAX && !type.startsWith("=")) faults.add(id, "the type of its job is too long");
  const given = definition === undefined ? undefined : textOf(definition, "retries");
  const retries = given === undefined ? RETRIES_DEFAULT : given.trim();
  const isCount = /^\d{1,3}$/.test(retries) && Number(retries) >= 1 && Number(retries) <= RETRIES_MAX;
  if (!retries.startsWith("=") && !isCount) faults.add(id, `retries must be 1 to ${RETRIES_MAX}, or an expression`);
  return {
    jobType: expressionOf(type, "the type of its job", place),
    retries: expressionOf(retries, "retries", place),
  };
}

/** The headers of a service task. */
export function headersOf({ node, id, faults }: Place): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const header of extensionsAt(node, "zeebe:TaskHeaders").flatMap((each) => nodesOf(each, "values"))) {
    const key = textOf(header, "key") ?? "";
    if (key === "") faults.add(id, "a zeebe:header has no key");
    else if (headers.has(key)) faults.add(id, `the zeebe:header "${key}" is given twice`);
    headers.set(key, textOf(header, "value") ?? "");
  }
  return Object.fromEntries(headers);
}

/** Input or output mappings, in their order. */
export function mappingsOf(place: Place, which: "input" | "output"): Mapping[] {
  const { node, id, faults } = place;
  const ioMappings = extensionsAt(node, "zeebe:IoMapping");
  if (ioMappings.length > 1 && which === "output") faults.add(id, "more than one zeebe:ioMapping");
  return ioMappings
    .flatMap((each) => nodesOf(each, `${which}Parameters`))
    .map((parameter) => {
      const source = (textOf(parameter, "source") ?? "").trim();
      const target = (textOf(parameter, "target") ?? "").trim();
      if (source === "") faults.add(id, `a zeebe:${which} has no source`);
      if (!isTarget(target)) faults.add(id, `the target "${target}" of a zeebe:${which} is no name of a variable`);
      return { source: expressionOf(source, `the source of "${target}"`, place), target };
    });
}

/** Refuses mappings in a direction that an event does not have. */
export function refuseInputs({ node, id, faults }: Place): void {
  const inputs = extensionsAt(node, "zeebe:IoMapping").flatMap((each) => nodesOf(each, "inputParameters"));
  if (inputs.length > 0) faults.add(id, `a zeebe:input at ${aKindOf(node)} is not supported`);
}

/** A name, or names with dots between them. `__proto__` is no place to write to. */
function isTarget(target: string): boolean {
  const names = target.split(".");
  const isName = (name: string) => /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) && name !== "__proto__";
  return target.length <= TARGET_LENGTH_MAX && names.every(isName);
}

/** The one definition of an event of the kind that is supported there; undefined, with a fault, for any other. */
export function definitionOf({ node, id, faults }: Place, type: string): Node | undefined {
  const definitions = nodesOf(node, "eventDefinitions");
  for (const definition of definitions) {
    if (definition.$type === type) checkGiven(definition, id, faults);
    else faults.add(id, `${aKindOf(node)} with ${aKindOf(definition)} is not supported`);
  }
  if (definitions.length > 1) faults.add(id, `${aKindOf(node)} with more than one event definition is not supported`);
  return definitions.find(({ $type }) => $type === type);
}

/** When a timer event is due. */
export function timerOf(place: Place): { readonly type: "duration" | "date"; readonly value: Expression } {
  const { node, id, faults } = place;
  const definition = definitionOf(place, "bpmn:TimerEventDefinition");
  if (definition === undefined) {
    const isBare = nodesOf(node, "eventDefinitions").length === 0;
    if (isBare) faults.add(id, `${aKindOf(node)} without an event definition is not supported`);
    return { type: "duration", value: { literal: "" } };
  }
  if (nodeOf(definition, "timeCycle") !== undefined) faults.add(id, "a timeCycle is not supported here");
  const duration = nodeOf(definition, "timeDuration");
  const date = nodeOf(definition, "timeDate");
  const given = duration ?? date;
  const type = duration === undefined ? "date" : "duration";
  const text = given === undefined ? "" : bodyOf(given, place);
  if (text === "" || (duration !== undefined && date !== undefined)) {
    faults.add(id, "a timer needs either a timeDuration or a timeDate");
  }
  const value = expressionOf(text, "the timer", place);
  const problem = "literal" in value && text !== "" ? checkTimer(type, text) : null;
  if (problem !== null) faults.add(id, problem);
  return { type, value };
}

/** The text of an expression element, in the one language that there is. */
function bodyOf(expression: Node, { id, faults }: Place): string {
  const language = textOf(expression, "language");
  if (language !== undefined && !/feel/i.test(language)) faults.add(id, `the language "${language}" is not supported`);
  checkGiven(expression, id, faults);
  return (textOf(expression, "body") ?? "").trim();
}

/** The code of the error that an event throws or catches; null when it names no error. */
export function errorCodeOf(place: Place, document: BpmnDocument): string | null {
  const { id, faults } = place;
  const definition = definitionOf(place, "bpmn:ErrorEventDefinition");
  if (definition === undefined) return null;
  const lost = document.dangling.get(definition)?.get("errorRef");
  if (lost !== undefined) faults.add(id, `its errorRef "${lost}" is not there`);
  const error = nodeOf(definition, "errorRef");
  if (error === undefined) return null;
  const code = error.$type === "bpmn:Error" ? (textOf(error, "errorCode") ?? "").trim() : "";
  if (code === "") faults.add(id, "its errorRef has no errorCode");
  else if (code.startsWith("=")) faults.add(id, "an errorCode that is an expression is not supported");
  else if (code.length > NAME_LENGTH_MAX) faults.add(id, "its errorCode is too long");
  return code;
}

/** The condition of a flow, as FEEL with or without its `=`; null when there is none. */
export function conditionAt(place: Place): string | null {
  const expression = nodeOf(place.node, "conditionExpression");
  if (expression === undefined) return null;
  const feel = bodyOf(expression, place).replace(/^=/, "").trim();
  const problem = feel === "" ? "it is empty" : checkFeel(feel, place.budget);
  if (problem !== null) place.faults.add(place.id, `the condition is not an expression: ${problem}`);
  return feel;
}
