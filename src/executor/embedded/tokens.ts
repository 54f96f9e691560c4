/**
 * Where an instance is: its tokens, each resting at an element until something happens. Kept as JSON in the instance's
 * row, so the shapes here are stored shapes: additions are optional, nothing is renamed.
 */

import { type JsonObject, parseJson } from "../../core/json.ts";
import type { Element, ProcessModel } from "./bpmn/model.ts";

/** What a stuck token does when its incident is resolved. */
export type Resume =
  /** Comes to its element as if for the first time, by this flow. */
  | { readonly kind: "enter"; readonly flow: string | null }
  /** Leaves its element with these variables. */
  | { readonly kind: "leave"; readonly brought: JsonObject }
  /** Its variables are done; it only has to go on. */
  | { readonly kind: "take" };

/** What a token rests for. */
export type Rest =
  | { readonly kind: "job"; readonly job: number }
  | { readonly kind: "timer"; readonly dueMs: number }
  /** At a join, until tokens have come by the other flows too. */
  | { readonly kind: "join"; readonly flow: string }
  | { readonly kind: "stuck"; readonly incident: number; readonly resume: Resume };

export interface Token {
  /** The key of the element instance: one visit of one token to one element. */
  readonly key: number;
  /** The id of the element. */
  readonly at: string;
  readonly rest: Rest;
}

/** @param text as stored, hence JSON of tokens */
export function decodeTokens(text: string): readonly Token[] {
  // What a stuck token brings are variables, whose numbers stay as they were written.
  return parseJson(text) as unknown as Token[];
}

/** When the first timer among the tokens is due; null: there is none. */
export function firstDueMs(tokens: readonly Token[]): number | null {
  let first: number | null = null;
  for (const { rest } of tokens) {
    if (rest.kind === "timer") first = first === null ? rest.dueMs : Math.min(first, rest.dueMs);
  }
  return first;
}

/** Jobs that tokens rest for. */
export function jobsOf(tokens: readonly Token[]): number[] {
  return tokens.flatMap(({ rest }) => (rest.kind === "job" ? [rest.job] : []));
}

/** Incidents of tokens that have no job, each once. */
export function incidentsOf(tokens: readonly Token[]): number[] {
  return [...new Set(tokens.flatMap(({ rest }) => (rest.kind === "stuck" ? [rest.incident] : [])))];
}

/** An element of a model. Ids are checked when a model is made, so that a missing one is a bug. */
export function elementOf(model: ProcessModel, id: string): Element {
  const element = Object.hasOwn(model.elements, id) ? model.elements[id] : undefined;
  if (element === undefined) throw new Error(`process ${model.processId} has no element ${id}`);
  return element;
}
