/** The flows of a process: where each begins and ends, and whether they make something that can run. */

import type { Budget } from "../feel/feel.ts";
import { aKindOf, checkedId, checkGiven } from "./allowed.ts";
import type { Faults } from "./faults.ts";
import { type BpmnDocument, idOf, type Node, nodeOf, nodesOf } from "./moddle.ts";
import type { Element, Flow } from "./model.ts";
import { conditionAt } from "./parts.ts";

/** A flow with the id of the element that it leaves. */
export interface Edge {
  readonly source: string;
  readonly flow: Flow;
}

/**
 * @param all the flow elements of a process
 * @param nodes those of them that can hold a token, by id
 * @returns its sequence flows in the order of the document, without those that lead nowhere (they are faults)
 */
export function flowsOf(
  all: readonly Node[],
  nodes: ReadonlyMap<string, Node>,
  document: BpmnDocument,
  faults: Faults,
  budget: Budget,
): Edge[] {
  return all
    .filter(({ $type }) => $type === "bpmn:SequenceFlow")
    .flatMap((node) => {
      const id = checkedId(node, faults);
      checkGiven(node, id, faults);
      const source = endOf(node, "sourceRef", nodes, document, faults);
      const target = endOf(node, "targetRef", nodes, document, faults);
      if (id === null) return [];
      const condition = conditionAt({ node, id, faults, budget });
      if (source === null || target === null) return [];
      const from = nodes.get(source);
      if (condition !== null && from !== undefined && from.$type !== "bpmn:ExclusiveGateway") {
        faults.add(id, `a condition on a flow that leaves ${aKindOf(from)} is not supported`);
      }
      return [{ source, flow: { id, target, condition } }];
    });
}

function endOf(
  flow: Node,
  end: "sourceRef" | "targetRef",
  nodes: ReadonlyMap<string, Node>,
  document: BpmnDocument,
  faults: Faults,
): string | null {
  const node = nodeOf(flow, end);
  const id = node === undefined ? null : idOf(node);
  if (id !== null && nodes.get(id) === node) return id;
  const lost = document.dangling.get(flow)?.get(end) ?? id;
  faults.add(
    idOf(flow),
    lost === null ? `a sequenceFlow needs ${end}` : `its ${end} "${lost}" is no element of its process`,
  );
  return null;
}

/**
 * Checks what can only be seen of all elements together.
 *
 * @returns the id of the start event; null, with a fault, when there is not exactly one
 */
export function checkGraph(
  processId: string | null,
  elements: readonly Element[],
  nodes: ReadonlyMap<string, Node>,
  flows: readonly Edge[],
  faults: Faults,
): string | null {
  const reached = new Set(flows.map(({ flow }) => flow.target));
  const leaving = new Set(flows.map(({ source }) => source));
  const edges = new Map(flows.map((edge) => [edge.flow.id, edge]));
  for (const [id, node] of nodes) {
    if (node.$type === "bpmn:StartEvent" && reached.has(id)) faults.add(id, "a startEvent must have no incoming flow");
    if (node.$type === "bpmn:EndEvent" && leaving.has(id)) faults.add(id, "an endEvent must have no outgoing flow");
    const begins = node.$type === "bpmn:StartEvent" || node.$type === "bpmn:BoundaryEvent";
    if (!begins && !reached.has(id)) faults.add(id, `${aKindOf(node)} without an incoming flow can never be reached`);
    checkListed(id, node, edges, faults);
  }
  checkBoundaries(elements, faults);
  const starts = [...nodes].filter(([, { $type }]) => $type === "bpmn:StartEvent").map(([id]) => id);
  const [start = null] = starts;
  if (start === null) faults.add(processId, "the process has no startEvent");
  for (const id of starts.slice(1)) faults.add(id, "a second startEvent is not supported");
  return start;
}

/** What an element lists as its flows must be what the flows say: a reader of the file believes either. */
function checkListed(id: string, node: Node, edges: ReadonlyMap<string, Edge>, faults: Faults): void {
  for (const flow of nodesOf(node, "incoming")) {
    const edge = edges.get(idOf(flow) ?? "");
    if (edge !== undefined && edge.flow.target !== id)
      faults.add(id, `lists "${edge.flow.id}", which does not end there`);
  }
  for (const flow of nodesOf(node, "outgoing")) {
    const edge = edges.get(idOf(flow) ?? "");
    if (edge !== undefined && edge.source !== id) faults.add(id, `lists "${edge.flow.id}", which does not begin there`);
  }
}

/** At one task each error has one way to go. */
function checkBoundaries(elements: readonly Element[], faults: Faults): void {
  const seen = new Set<string>();
  for (const element of elements) {
    if (element.kind !== "error-boundary-event") continue;
    const key = JSON.stringify([element.attachedTo, element.errorCode]);
    const code = element.errorCode === null ? "every error" : `the errorCode "${element.errorCode}"`;
    if (seen.has(key)) faults.add(element.id, `${code} is already caught at "${element.attachedTo}"`);
    seen.add(key);
  }
}
