/** One element of a process in the document → the same in the model; what this engine does not run is refused. */

import { aKindOf, checkGiven } from "./allowed.ts";
import { type BpmnDocument, nodeOf, nodesOf, textOf } from "./moddle.ts";
import type { Element, Flow } from "./model.ts";
import { errorCodeOf, headersOf, jobOf, mappingsOf, type Place, refuseInputs, timerOf } from "./parts.ts";

/** What the graph says about an element. */
export interface Around {
  readonly outgoing: readonly Flow[];
  readonly incoming: readonly string[];
  /** Ids of the boundary events at it. */
  readonly boundaries: readonly string[];
  readonly document: BpmnDocument;
}

/** Drawn only: they hold no token and change nothing here. */
export function isPicture(type: string): boolean {
  return ["bpmn:DataObject", "bpmn:DataObjectReference", "bpmn:DataStoreReference"].includes(type);
}

/**
 * @param place an element that can hold a token
 * @returns its model; null, with a fault, when it is of a kind that is not supported
 */
export function toElement(place: Place, around: Around): Element | null {
  const { node, id, faults } = place;
  const make = MAKERS[node.$type];
  if (make === undefined) {
    faults.add(id, `${aKindOf(node)} is not supported`);
    return null;
  }
  checkGiven(node, id, faults);
  return make(place, around, { id, name: textOf(node, "name") ?? null, outgoing: around.outgoing });
}

type Base = Pick<Element, "id" | "name" | "outgoing">;
type Maker = (place: Place, around: Around, base: Base) => Element;

const MAKERS: Readonly<Record<string, Maker>> = {
  "bpmn:StartEvent": (place, _around, base) => {
    refuseDefinitions(place);
    refuseInputs(place);
    return { kind: "start-event", ...base, outputs: mappingsOf(place, "output") };
  },
  "bpmn:EndEvent": endEvent,
  "bpmn:ServiceTask": (place, { boundaries }, base) => ({
    kind: "service-task",
    ...base,
    ...jobOf(place),
    headers: headersOf(place),
    inputs: mappingsOf(place, "input"),
    outputs: mappingsOf(place, "output"),
    boundaries,
  }),
  "bpmn:ExclusiveGateway": exclusiveGateway,
  "bpmn:ParallelGateway": (_place, { incoming }, base) => ({ kind: "parallel-gateway", ...base, incoming }),
  "bpmn:BoundaryEvent": boundaryEvent,
  "bpmn:IntermediateCatchEvent": (place, _around, base) => {
    refuseInputs(place);
    return { kind: "timer-event", ...base, timer: timerOf(place), outputs: mappingsOf(place, "output") };
  },
  "bpmn:IntermediateThrowEvent": passThrough,
  "bpmn:Task": passThrough,
  "bpmn:ManualTask": passThrough,
};

function refuseDefinitions({ node, id, faults }: Place): void {
  for (const definition of nodesOf(node, "eventDefinitions")) {
    faults.add(id, `${aKindOf(node)} with ${aKindOf(definition)} is not supported`);
  }
}

function endEvent(place: Place, { document }: Around, base: Base): Element {
  const { node, id, faults } = place;
  if (nodesOf(node, "eventDefinitions").length === 0) return { kind: "end-event", ...base };
  const before = nodesOf(node, "eventDefinitions").every(({ $type }) => $type === "bpmn:ErrorEventDefinition");
  const errorCode = errorCodeOf(place, document);
  if (errorCode === null && before) faults.add(id, "an error end event needs an errorRef");
  return { kind: "error-end-event", ...base, errorCode: errorCode ?? "" };
}

function boundaryEvent(place: Place, { document, incoming }: Around, base: Base): Element {
  const { node, id, faults } = place;
  const attachedTo = nodeOf(node, "attachedToRef");
  if (attachedTo === undefined) {
    const lost = document.dangling.get(node)?.get("attachedToRef");
    faults.add(
      id,
      lost === undefined ? "a boundaryEvent needs attachedToRef" : `its attachedToRef "${lost}" is not there`,
    );
  } else if (attachedTo.$type !== "bpmn:ServiceTask") {
    faults.add(id, `a boundaryEvent at ${aKindOf(attachedTo)} is not supported`);
  }
  if (incoming.length > 0) faults.add(id, "a boundaryEvent must have no incoming flow");
  if (nodesOf(node, "eventDefinitions").length === 0) faults.add(id, "a boundaryEvent needs an event definition");
  refuseInputs(place);
  return {
    kind: "error-boundary-event",
    ...base,
    attachedTo: attachedTo === undefined ? "" : (textOf(attachedTo, "id") ?? ""),
    errorCode: errorCodeOf(place, document),
    outputs: mappingsOf(place, "output"),
  };
}

function exclusiveGateway({ node, id, faults }: Place, { outgoing, document }: Around, base: Base): Element {
  const lost = document.dangling.get(node)?.get("default");
  const flow = nodeOf(node, "default");
  const defaultFlow = flow === undefined ? (lost ?? null) : (textOf(flow, "id") ?? null);
  const taken = outgoing.find((each) => each.id === defaultFlow);
  if (defaultFlow !== null && taken === undefined) {
    faults.add(id, `its default flow "${defaultFlow}" does not leave it`);
  }
  if (taken !== undefined && taken.condition !== null) faults.add(taken.id, "a default flow must have no condition");
  for (const each of outgoing) {
    const isBare = each.condition === null && each.id !== defaultFlow;
    if (isBare && outgoing.length > 1) faults.add(each.id, `needs a condition, or to be the default flow of "${id}"`);
  }
  return { kind: "exclusive-gateway", ...base, defaultFlow };
}

/**
 * Tasks that nobody does and events that tell nobody: the token goes on at once. An exclusive gateway with one way out
 * does the same; without any, the token ends.
 */
function passThrough(place: Place, { outgoing }: Around, base: Base): Element {
  const { node, id, faults } = place;
  refuseDefinitions(place);
  if (outgoing.length > 1) faults.add(id, `${aKindOf(node)} with several outgoing flows is not supported`);
  return outgoing.length === 0
    ? { kind: "end-event", ...base }
    : { kind: "exclusive-gateway", ...base, defaultFlow: null };
}
