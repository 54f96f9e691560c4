/** Documents to compile: the frame that all have, and short names for elements. */

const MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL";
const ZEEBE = "http://camunda.org/schema/zeebe/1.0";

/** A document around other contents of `bpmn:definitions`. */
export function definitions(contents: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="${MODEL}" xmlns:zeebe="${ZEEBE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="definitions">${contents}</bpmn:definitions>`;
}

/** A document with one executable process. */
export function processOf(contents: string, beside = ""): string {
  return definitions(`${beside}<bpmn:process id="p" isExecutable="true">${contents}</bpmn:process>`);
}

/** `flow("f", "a", "b")`, with what stands in it. */
export function flow(id: string, source: string, target: string, contents = ""): string {
  return `<bpmn:sequenceFlow id="${id}" sourceRef="${source}" targetRef="${target}">${contents}</bpmn:sequenceFlow>`;
}

export function condition(feel: string): string {
  return `<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression">${feel}</bpmn:conditionExpression>`;
}

/** A service task, with what stands beside its definition in the extension elements, and after them. */
export function task(id: string, extensions = "", contents = ""): string {
  return `<bpmn:serviceTask id="${id}"><bpmn:extensionElements><zeebe:taskDefinition type="work"/>${extensions}</bpmn:extensionElements>${contents}</bpmn:serviceTask>`;
}

export const start = `<bpmn:startEvent id="s"/>`;
export const end = `<bpmn:endEvent id="e"/>`;

/** A process of one element `x` between start and end. */
export function around(element: string, beside = ""): string {
  return processOf(`${start}${flow("f1", "s", "x")}${element}${flow("f2", "x", "e")}${end}`, beside);
}

/** A boundary event of an error at a task. */
export function boundary(id: string, at: string, contents: string, attributes = ""): string {
  return `<bpmn:boundaryEvent id="${id}" attachedToRef="${at}" ${attributes}>${contents}</bpmn:boundaryEvent>`;
}

export const ERROR = `<bpmn:error id="error" name="No" errorCode="NO"/>`;
export const onError = `<bpmn:errorEventDefinition errorRef="error"/>`;
