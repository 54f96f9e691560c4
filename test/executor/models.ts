/** Models made by hand, for tests of the engine: each flow is named `<from>-<to>`, joins find out what comes in. */

import type { Element, Expression, Flow, Mapping, ProcessModel } from "../../src/executor/embedded/bpmn/model.ts";
import type { Engine } from "./harness.ts";

/** An element of a model; what comes in to a gateway is filled in by {@link modelOf}. */
export type Part = Element;

const literal = (text: string): Expression => ({ literal: text });

function flows(from: string, targets: readonly string[], conditions: readonly (string | null)[] = []): Flow[] {
  return targets.map((target, index) => ({ id: `${from}-${target}`, target, condition: conditions[index] ?? null }));
}

export const start = (...targets: string[]): Part => ({
  kind: "start-event",
  outputs: [],
  id: "start",
  name: null,
  outgoing: flows("start", targets),
});

export const end = (id = "end"): Part => ({ kind: "end-event", id, name: null, outgoing: [] });

export const errorEnd = (id: string, errorCode: string): Part => ({
  kind: "error-end-event",
  id,
  name: null,
  outgoing: [],
  errorCode,
});

/** A service task whose job has its id as type, unless it says otherwise. */
export function task(
  id: string,
  targets: readonly string[],
  more: Partial<Extract<Element, { kind: "service-task" }>> = {},
): Part {
  return {
    kind: "service-task",
    id,
    name: null,
    outgoing: flows(id, targets),
    jobType: literal(id),
    retries: literal("3"),
    headers: {},
    inputs: [],
    outputs: [],
    boundaries: [],
    ...more,
  };
}

/** An exclusive gateway. @param ways target and condition, in the order of the document; null: the default */
export function xor(id: string, ways: readonly (readonly [string, string | null])[]): Part {
  const outgoing = flows(
    id,
    ways.map(([target]) => target),
    ways.map(([, condition]) => condition),
  );
  const defaultFlow = ways.length > 1 ? (outgoing.find(({ condition }) => condition === null)?.id ?? null) : null;
  return { kind: "exclusive-gateway", id, name: null, outgoing, defaultFlow };
}

export const parallel = (id: string, ...targets: string[]): Part => ({
  kind: "parallel-gateway",
  id,
  name: null,
  outgoing: flows(id, targets),
  incoming: [],
});

export const timer = (
  id: string,
  value: Expression | string,
  targets: readonly string[],
  outputs: Mapping[] = [],
): Part => ({
  kind: "timer-event",
  id,
  name: null,
  outgoing: flows(id, targets),
  timer: { type: "duration", value: typeof value === "string" ? literal(value) : value },
  outputs,
});

export const boundary = (
  id: string,
  attachedTo: string,
  errorCode: string | null,
  targets: readonly string[],
  outputs: Mapping[] = [],
): Part => ({
  kind: "error-boundary-event",
  id,
  name: null,
  outgoing: flows(id, targets),
  attachedTo,
  errorCode,
  outputs,
});

/** @param feel without its leading `=` */
export const mapping = (feel: string, target: string): Mapping => ({ source: { feel }, target });

/** A whole model: incoming flows of gateways and boundary events of tasks are found from the other elements. */
export function modelOf(...parts: readonly Part[]): ProcessModel {
  const all = parts.flatMap(({ outgoing }) => outgoing);
  const whole = parts.map((part): Element => {
    if (part.kind === "parallel-gateway") {
      return { ...part, incoming: all.filter(({ target }) => target === part.id).map(({ id }) => id) };
    }
    if (part.kind !== "service-task") return part;
    const attached = parts.filter((other) => other.kind === "error-boundary-event" && other.attachedTo === part.id);
    return { ...part, boundaries: attached.map(({ id }) => id) };
  });
  return {
    processId: "p",
    name: "A process",
    versionTag: "v1",
    start: "start",
    elements: Object.fromEntries(whole.map((element) => [element.id, element])),
  };
}

/** Puts a model into an engine as if it had been deployed, and returns its key. */
export function install({ sql, keys }: Pick<Engine, "sql" | "keys">, tenant: string, model: ProcessModel): string {
  const seq = keys.next();
  sql.exec(
    `INSERT INTO process_definitions (seq, tenant, process_id, version, name, version_tag, resource, fingerprint, model)
     VALUES (?, ?, ?, 1, ?, ?, 'p.bpmn', ?, ?)`,
    seq,
    tenant,
    model.processId,
    model.name,
    model.versionTag,
    String(seq),
    JSON.stringify(model),
  );
  return keys.format(seq);
}
