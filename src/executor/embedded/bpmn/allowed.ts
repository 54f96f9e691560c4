/**
 * What may stand at an element of a process. Everything else of BPMN and Zeebe is refused by its name: an engine that
 * ignores what it does not know runs another process than the one that was drawn. Other namespaces are for other tools,
 * and BPMN lets them be ignored.
 */

import type { Faults } from "./faults.ts";
import { givenAt, idOf, type Node, nodeOf, nodesOf, textOf } from "./moddle.ts";

/** Drawn, documented or listed elsewhere too; data objects are pictures in this engine. */
const NEUTRAL = [
  "id,name,documentation,extensionElements,incoming,outgoing,lanes,auditing,monitoring,categoryValueRef",
  "modelerTemplate,modelerTemplateVersion,modelerTemplateIcon,modelerConfigurationTemplate,modelerConfigurationName",
]
  .join(",")
  .split(",");
const ACTIVITY = [
  "properties",
  "dataInputAssociations",
  "dataOutputAssociations",
  "boundaryEventRefs",
  "implementation",
];
const CATCHING = ["eventDefinitions", "dataOutputs", "dataOutputAssociation"];

const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  "bpmn:Process": ["flowElements", "laneSets", "artifacts", "isExecutable", "processType", "isClosed", "properties"],
  "bpmn:StartEvent": CATCHING,
  "bpmn:EndEvent": ["eventDefinitions", "dataInputs", "dataInputAssociation"],
  "bpmn:IntermediateThrowEvent": [],
  "bpmn:IntermediateCatchEvent": CATCHING,
  "bpmn:BoundaryEvent": [...CATCHING, "attachedToRef"],
  "bpmn:ServiceTask": ACTIVITY,
  "bpmn:Task": ACTIVITY,
  "bpmn:ManualTask": ACTIVITY,
  "bpmn:ExclusiveGateway": ["default", "gatewayDirection"],
  "bpmn:ParallelGateway": ["gatewayDirection"],
  "bpmn:SequenceFlow": ["sourceRef", "targetRef", "conditionExpression", "isImmediate"],
  "bpmn:Expression": ["body"],
  "bpmn:FormalExpression": ["body", "language"],
  "bpmn:TimerEventDefinition": ["timeDuration", "timeDate", "timeCycle"],
  "bpmn:ErrorEventDefinition": ["errorRef"],
};

/** Properties that say nothing when they have their default, written out. */
const DEFAULTS: Readonly<Record<string, string>> = {
  isForCompensation: "false",
  startQuantity: "1",
  completionQuantity: "1",
  isInterrupting: "true",
  cancelActivity: "true",
  parallelMultiple: "false",
};

const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  // Forms are kept at the process for its user tasks, of which there are none.
  "bpmn:Process": ["zeebe:VersionTag", "zeebe:UserTaskForm"],
  "bpmn:StartEvent": ["zeebe:IoMapping"],
  "bpmn:ServiceTask": ["zeebe:TaskDefinition", "zeebe:TaskHeaders", "zeebe:IoMapping"],
  "bpmn:IntermediateCatchEvent": ["zeebe:IoMapping"],
  "bpmn:BoundaryEvent": ["zeebe:IoMapping"],
};

/**
 * Refuses what an element has and this engine does not know.
 *
 * @param ownerId whose fault it is: an event definition has often no id of its own
 */
export function checkGiven(node: Node, ownerId: string | null, faults: Faults): void {
  const allowed = PROPERTIES[node.$type] ?? [];
  const kind = aKindOf(node);
  for (const name of givenAt(node)) {
    if (NEUTRAL.includes(name) || allowed.includes(name)) continue;
    if (name in DEFAULTS && textOf(node, name) === DEFAULTS[name]) continue;
    const what = name === "loopCharacteristics" ? "multi-instance and loops (loopCharacteristics)" : `"${name}"`;
    faults.add(ownerId, `${what} at ${kind} is not supported`);
  }
  for (const extension of extensionsOf(node)) {
    // What another namespace says is for somebody else: BPMN lets extensions be ignored.
    const isForeign = !/^(bpmn|zeebe):/.test(extension.$type);
    const isKnown =
      extension.$type === "zeebe:Properties" || EXTENSIONS[node.$type]?.includes(extension.$type) === true;
    if (!isForeign && !isKnown) faults.add(ownerId, `${kindOf(extension)} at ${kind} is not supported`);
  }
}

/** The extension elements of one type at an element. */
export function extensionsAt(node: Node, type: string): Node[] {
  return extensionsOf(node).filter(({ $type }) => $type === type);
}

function extensionsOf(node: Node): Node[] {
  const extensions = nodeOf(node, "extensionElements");
  return extensions === undefined ? [] : nodesOf(extensions, "values");
}

/** A type as it is written in XML: `bpmn:ServiceTask` → `serviceTask`; extensions keep their prefix. */
export function kindOf(node: Node): string {
  const [prefix = "", name = ""] = node.$type.split(":");
  const written = name.charAt(0).toLowerCase() + name.slice(1);
  return prefix === "bpmn" ? written : `${prefix}:${written}`;
}

/** A type with its article: `a serviceTask`, `an endEvent`, `a userTask`. */
export function aKindOf(node: Node): string {
  const kind = kindOf(node);
  return `${/^(?!user)[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}

/** An id to be used as one. Refuses what is missing or too long for an index. */
export function checkedId(node: Node, faults: Faults): string | null {
  const id = idOf(node);
  if (id === null || id === "") faults.add(null, `${aKindOf(node)} has no id`);
  else if (id.length > 255 || id === "__proto__") faults.add(id, `this id of ${aKindOf(node)} is not accepted`);
  else return id;
  return null;
}
