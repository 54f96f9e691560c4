import type { Json } from "../../core/json.ts";
import type { FlowControl } from "./shapes.ts";

/**
 * A change of flow control as it is typed: texts, of which only what differs is sent. What a value may be is the route's
 * to say, field by field. Pure.
 */

export interface FlowForm {
  readonly bound: string;
  readonly boundBytes: string;
  readonly enqueueWaitMs: string;
  readonly algorithm: FlowControl["algorithm"];
  readonly windowed: boolean;
  /** Of the algorithm that is in force; another one starts with its own defaults. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly isWriteLimited: boolean;
  readonly perSecond: string;
  readonly burst: string;
  readonly warmUpSeconds: string;
}

export function formOf(flow: FlowControl): FlowForm {
  const { bound, boundBytes, enqueueWaitMs, algorithm, windowed, parameters, writeRate } = flow;
  return {
    bound: String(bound),
    boundBytes: String(boundBytes),
    enqueueWaitMs: String(enqueueWaitMs),
    algorithm,
    windowed,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)])),
    isWriteLimited: writeRate !== null,
    perSecond: String(writeRate?.perSecond ?? 100),
    burst: String(writeRate?.burst ?? 100),
    warmUpSeconds: String(writeRate?.warmUpSeconds ?? 0),
  };
}

/** The members that differ from what is in force, as the route takes them. */
export function changeOf(flow: FlowControl, form: FlowForm): { [member: string]: Json } {
  const wanted: { [member: string]: Json } = {
    bound: meant(form.bound),
    boundBytes: meant(form.boundBytes),
    enqueueWaitMs: meant(form.enqueueWaitMs),
    algorithm: form.algorithm,
    windowed: form.windowed,
    writeRate: form.isWriteLimited
      ? {
          perSecond: meant(form.perSecond),
          burst: meant(form.burst),
          warmUpSeconds: meant(form.warmUpSeconds),
        }
      : null,
  };
  const inForce: Readonly<Record<string, unknown>> = { ...flow };
  const change = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !same(value, inForce[name])));
  if (form.algorithm !== flow.algorithm) return change;
  const parameters = Object.entries(form.parameters)
    .map(([name, text]) => [name, meant(text)] as const)
    .filter(([name, value]) => !same(value, flow.parameters[name]));
  return parameters.length === 0 ? change : { ...change, parameters: Object.fromEntries(parameters) };
}

/** What was typed, as JSON where it is some, else as the text that it is: the route then says what it wanted. */
function meant(text: string): Json {
  try {
    return JSON.parse(text.replaceAll(/(?<=\d)[ _](?=\d)/g, ""));
  } catch {
    return text;
  }
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** With the members of an object in one order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A change in words, a line a member: "bound: 10000 → 100". */
export function changeInWords(flow: FlowControl, change: { readonly [member: string]: Json }): string[] {
  const inForce: Readonly<Record<string, unknown>> = { ...flow };
  return Object.entries(change).flatMap(([name, value]) => {
    if (name !== "parameters" || typeof value !== "object" || value === null) {
      return `${name}: ${JSON.stringify(inForce[name])} → ${JSON.stringify(value)}`;
    }
    return Object.entries(value).map(
      ([one, now]) => `${one}: ${JSON.stringify(flow.parameters[one])} → ${JSON.stringify(now)}`,
    );
  });
}
