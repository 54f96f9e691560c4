/**
 * BPMN XML → the processes that it holds, as models to run; or everything that speaks against it.
 *
 * Contract: synchronous, pure, never throws, ends in a short time whatever the text is. The same text gives the same
 * models, with their members in the same order. A document has either models or faults: nothing of a faulty document is
 * run, and nothing in an executable process is ignored that would change how it runs.
 */

import { type Budget, FEEL_STEPS_MAX } from "../feel/feel.ts";
import { aKindOf, checkedId, checkGiven, extensionsAt } from "./allowed.ts";
import { isPicture, toElement } from "./elements.ts";
import { type Fault, Faults } from "./faults.ts";
import { checkGraph, flowsOf } from "./graph.ts";
import { type BpmnDocument, idOf, type Node, nodeOf, nodesOf, read, textOf } from "./moddle.ts";
import type { Element, ProcessModel } from "./model.ts";
import { scan } from "./scan.ts";

export type { Fault } from "./faults.ts";

/** Of a document. A process of this size is no picture any more; a model is read and checked as a whole. */
export const ELEMENTS_MAX = 1_000;
export const FLOWS_MAX = 2_000;

export type Compiled =
  | { readonly ok: true; readonly models: readonly ProcessModel[] }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Elements of a document that declare something which only matters where it is used. */
const DECLARATIONS = "Collaboration,Error,Category,Message,Signal,Escalation,DataStore,ItemDefinition"
  .split(",")
  .map((name) => `bpmn:${name}`);

/**
 * Compiles a document.
 *
 * @param xml the text of a BPMN file
 * @param budget for its expressions, shared by the documents of a deployment
 * @returns one model for each executable process, in their order; or up to 20 faults, each with the id of its element
 */
export function compile(xml: string, budget: Budget = { steps: FEEL_STEPS_MAX }): Compiled {
  const scanned = scan(xml);
  if (!scanned.ok) return { ok: false, faults: [{ elementId: null, message: scanned.message }] };
  const parsed = read(scanned.text);
  const faults = new Faults();
  if (!parsed.ok) {
    for (const message of parsed.messages) faults.add(null, message);
    return { ok: false, faults: faults.all() };
  }
  const models = compileDocument(parsed.document, faults, budget);
  return faults.isEmpty ? { ok: true, models } : { ok: false, faults: faults.all() };
}

function compileDocument(document: BpmnDocument, faults: Faults, budget: Budget): ProcessModel[] {
  const { definitions, problems } = document;
  for (const { elementId, message } of problems) faults.add(elementId, message);
  const roots = nodesOf(definitions, "rootElements");
  for (const root of roots) {
    if (root.$type !== "bpmn:Process" && !DECLARATIONS.includes(root.$type)) {
      faults.add(idOf(root), `${aKindOf(root)} is not supported`);
    }
  }
  if (nodesOf(definitions, "imports").length > 0) faults.add(null, "an import is not supported");
  const processes = roots.filter(({ $type }) => $type === "bpmn:Process");
  const executable = processes.filter((process) => textOf(process, "isExecutable") === "true");
  if (processes.length === 0) faults.add(null, "the document has no process");
  else if (executable.length === 0)
    faults.add(idOf(processes[0] ?? definitions), "no process is executable (isExecutable)");
  if (isTooLarge(executable, faults)) return [];
  return executable.flatMap((process) => compileProcess(process, document, faults, budget));
}

function isTooLarge(processes: readonly Node[], faults: Faults): boolean {
  const all = processes.flatMap((process) => nodesOf(process, "flowElements"));
  const flows = all.filter(({ $type }) => $type === "bpmn:SequenceFlow").length;
  if (flows > FLOWS_MAX) faults.add(null, `the document has more than ${FLOWS_MAX} sequence flows`);
  if (all.length - flows > ELEMENTS_MAX) faults.add(null, `the document has more than ${ELEMENTS_MAX} elements`);
  return flows > FLOWS_MAX || all.length - flows > ELEMENTS_MAX;
}

function compileProcess(process: Node, document: BpmnDocument, faults: Faults, budget: Budget): ProcessModel[] {
  const processId = checkedId(process, faults);
  checkGiven(process, processId, faults);
  const all = nodesOf(process, "flowElements");
  const nodes = new Map<string, Node>();
  for (const node of all) {
    if (node.$type === "bpmn:SequenceFlow" || isPicture(node.$type)) continue;
    const id = checkedId(node, faults);
    if (id !== null) nodes.set(id, node);
  }
  const flows = flowsOf(all, nodes, document, faults, budget);
  const boundaries = Map.groupBy(
    [...nodes].filter(([, { $type }]) => $type === "bpmn:BoundaryEvent"),
    ([, node]) => nodeOf(node, "attachedToRef"),
  );
  const elements = [...nodes].flatMap(([id, node]): Element[] => {
    const element = toElement(
      { node, id, faults, budget },
      {
        outgoing: flows.filter(({ source }) => source === id).map(({ flow }) => flow),
        incoming: flows.filter(({ flow }) => flow.target === id).map(({ flow }) => flow.id),
        boundaries: (boundaries.get(node) ?? []).map(([boundary]) => boundary),
        document,
      },
    );
    return element === null ? [] : [element];
  });
  const start = checkGraph(processId, elements, nodes, flows, faults);
  if (processId === null || start === null) return [];
  const tag = extensionsAt(process, "zeebe:VersionTag").map((each) => textOf(each, "value"))[0];
  return [
    {
      processId,
      name: textOf(process, "name") ?? null,
      versionTag: tag ?? null,
      start,
      elements: Object.fromEntries(elements.map((element) => [element.id, element])),
    },
  ];
}
