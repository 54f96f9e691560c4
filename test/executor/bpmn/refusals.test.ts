import { describe, expect, test } from "vitest";
import { compile } from "../../../src/executor/embedded/bpmn/compile.ts";
import { FAULTS_MAX } from "../../../src/executor/embedded/bpmn/faults.ts";
import {
  around,
  boundary,
  condition,
  definitions,
  ERROR,
  end,
  flow,
  onError,
  processOf,
  start,
  task,
} from "./documents.ts";

/** `id: message` of each fault. */
function faultsOf(xml: string): string[] {
  const compiled = compile(xml);
  return compiled.ok ? [] : compiled.faults.map(({ elementId, message }) => `${elementId ?? "-"}: ${message}`);
}

const timer = (contents: string) =>
  around(
    `<bpmn:intermediateCatchEvent id="x"><bpmn:timerEventDefinition>${contents}</bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>`,
  );
const job = (definition: string) =>
  around(`<bpmn:serviceTask id="x"><bpmn:extensionElements>${definition}</bpmn:extensionElements></bpmn:serviceTask>`);
const mapping = (contents: string) => around(task("x", `<zeebe:ioMapping>${contents}</zeebe:ioMapping>`));
const article = (kind: string) => (/^(?!user)[aeiou]/.test(kind) ? "an" : "a");
const gateway = (attributes: string, flows: string) =>
  processOf(`${start}${flow("f", "s", "g")}<bpmn:exclusiveGateway id="g" ${attributes}/>${flows}${end}`);

describe("an element that this engine does not run is refused with its id and its kind", () => {
  test.each([
    ["userTask", `<bpmn:userTask id="x"/>`],
    ["scriptTask", `<bpmn:scriptTask id="x"/>`],
    ["sendTask", `<bpmn:sendTask id="x"/>`],
    ["receiveTask", `<bpmn:receiveTask id="x"/>`],
    ["businessRuleTask", `<bpmn:businessRuleTask id="x"/>`],
    ["callActivity", `<bpmn:callActivity id="x"/>`],
    ["subProcess", `<bpmn:subProcess id="x"/>`],
    ["transaction", `<bpmn:transaction id="x"/>`],
    ["adHocSubProcess", `<bpmn:adHocSubProcess id="x"/>`],
    ["inclusiveGateway", `<bpmn:inclusiveGateway id="x"/>`],
    ["eventBasedGateway", `<bpmn:eventBasedGateway id="x"/>`],
    ["complexGateway", `<bpmn:complexGateway id="x"/>`],
  ])("%s", (kind, element) => {
    expect(faultsOf(around(element))).toContain(`x: ${article(kind)} ${kind} is not supported`);
  });

  test.each([
    ["terminate", "endEvent", `<bpmn:terminateEventDefinition/>`],
    ["message", "endEvent", `<bpmn:messageEventDefinition/>`],
    ["escalation", "intermediateThrowEvent", `<bpmn:escalationEventDefinition/>`],
    ["compensate", "intermediateThrowEvent", `<bpmn:compensateEventDefinition/>`],
    ["link", "intermediateThrowEvent", `<bpmn:linkEventDefinition name="a"/>`],
    ["message", "intermediateCatchEvent", `<bpmn:messageEventDefinition/>`],
    ["signal", "intermediateCatchEvent", `<bpmn:signalEventDefinition/>`],
    ["conditional", "intermediateCatchEvent", `<bpmn:conditionalEventDefinition/>`],
  ])("%s %s", (kind, event, definition) => {
    const last = `${start}${flow("f", "s", "x")}<bpmn:${event} id="x">${definition}</bpmn:${event}>`;
    expect(faultsOf(processOf(last))).toContain(
      `x: ${article(event)} ${event} with ${article(kind)} ${kind}EventDefinition is not supported`,
    );
  });

  test.each([
    [
      "message start event",
      `<bpmn:startEvent id="s"><bpmn:messageEventDefinition/></bpmn:startEvent>`,
      "messageEventDefinition",
    ],
    [
      "timer start event",
      `<bpmn:startEvent id="s"><bpmn:timerEventDefinition/></bpmn:startEvent>`,
      "timerEventDefinition",
    ],
  ])("%s", (_label, element, kind) => {
    expect(faultsOf(processOf(element))).toEqual([`s: a startEvent with ${article(kind)} ${kind} is not supported`]);
  });

  test.each([
    [
      "multi-instance",
      task("x", "", "<bpmn:multiInstanceLoopCharacteristics/>"),
      "multi-instance and loops (loopCharacteristics)",
    ],
    [
      "a standard loop",
      task("x", "", "<bpmn:standardLoopCharacteristics/>"),
      "multi-instance and loops (loopCharacteristics)",
    ],
    ["compensation", task("x").replace('id="x"', 'id="x" isForCompensation="true"'), '"isForCompensation"'],
    ["an execution listener", task("x", `<zeebe:executionListeners/>`), "zeebe:executionListeners"],
    ["a default flow at a task", task("x").replace('id="x"', 'id="x" default="f2"'), '"default"'],
  ])("%s at a serviceTask", (_label, element, what) => {
    expect(faultsOf(around(element))).toEqual([`x: ${what} at a serviceTask is not supported`]);
  });

  test("what the meta model does not know", () => {
    expect(faultsOf(around(task("x").replace('id="x"', 'id="x" skip="true"')))).toEqual([
      "x: unknown attribute <skip>",
    ]);
    expect(faultsOf(processOf(`${start}<bpmn:miracle id="m"/>`))).toEqual([
      expect.stringContaining("unknown type <bpmn:Miracle>"),
    ]);
    expect(faultsOf(around(task("x").replace('type="work"', 'type="work" speed="9"')))).toEqual([
      "x: unknown attribute <speed>",
    ]);
    expect(faultsOf(definitions(`<bpmn:choreography id="c"/>`))).toContain("c: a choreography is not supported");
  });
});

describe("a process that cannot run is refused", () => {
  test.each<[string, string, string]>([
    ["no process", definitions(""), "-: the document has no process"],
    ["none executable", definitions(`<bpmn:process id="p"/>`), "p: no process is executable (isExecutable)"],
    ["no start event", processOf(""), "p: the process has no startEvent"],
    ["two start events", processOf(`${start}<bpmn:startEvent id="s2"/>`), "s2: a second startEvent is not supported"],
    ["a flow into the start", around(task("x") + flow("f3", "x", "s")), "s: a startEvent must have no incoming flow"],
    ["a flow out of an end", around(task("x") + flow("f3", "e", "x")), "e: an endEvent must have no outgoing flow"],
    [
      "an element that nothing leads to",
      around(task("x") + task("y")),
      "y: a serviceTask without an incoming flow can never be reached",
    ],
    [
      "a flow to nowhere",
      processOf(`${start}${flow("f", "s", "no")}`),
      'f: its targetRef "no" is no element of its process',
    ],
    [
      "a flow from nowhere",
      processOf(`${start}${flow("f", "no", "s")}`),
      'f: its sourceRef "no" is no element of its process',
    ],
    [
      "a flow without a target",
      processOf(`${start}<bpmn:sequenceFlow id="f" sourceRef="s"/>`),
      "f: a sequenceFlow needs targetRef",
    ],
    [
      "a flow to a flow",
      processOf(`${start}${flow("f", "s", "f")}`),
      'f: its targetRef "f" is no element of its process',
    ],
    ["an element without an id", processOf(`${start}<bpmn:endEvent/>`), "-: an endEvent has no id"],
    [
      "a list of flows that is wrong",
      around(task("x", "", "<bpmn:incoming>f2</bpmn:incoming>")),
      'x: lists "f2", which does not end there',
    ],
  ])("%s", (_label, xml, fault) => {
    expect(faultsOf(xml)).toContain(fault);
  });

  test("an id is given once, and is one", () => {
    expect(faultsOf(processOf(`${start}<bpmn:endEvent id="s"/>`))[0]).toContain("duplicate ID <s>");
    expect(faultsOf(processOf(`<bpmn:startEvent id="1 2"/>`))[0]).toContain("illegal ID <1 2>");
    expect(faultsOf(processOf(`<bpmn:startEvent id="__proto__"/>`))).toContain(
      "__proto__: this id of a startEvent is not accepted",
    );
  });

  test.each<[string, string, string]>([
    [
      "a way without a condition among several",
      gateway("", flow("a", "g", "e") + flow("b", "g", "e", condition("=x"))),
      'a: needs a condition, or to be the default flow of "g"',
    ],
    [
      "a default with a condition",
      gateway(`default="a"`, flow("a", "g", "e", condition("=x"))),
      "a: a default flow must have no condition",
    ],
    [
      "a default that leaves another",
      gateway(`default="f"`, flow("a", "g", "e")),
      'g: its default flow "f" does not leave it',
    ],
    [
      "a default that is not there",
      gateway(`default="no"`, flow("a", "g", "e")),
      'g: its default flow "no" does not leave it',
    ],
    [
      "broken FEEL",
      gateway("", flow("a", "g", "e", condition("= x &gt;"))),
      "a: the condition is not an expression: it breaks off at its end",
    ],
    [
      "an empty condition",
      gateway("", flow("a", "g", "e", condition(" = "))),
      "a: the condition is not an expression: it is empty",
    ],
    [
      "another language",
      gateway(
        "",
        flow(
          "a",
          "g",
          "e",
          condition("=x").replace("<bpmn:conditionExpression", '<bpmn:conditionExpression language="groovy"'),
        ),
      ),
      'a: the language "groovy" is not supported',
    ],
    [
      "a condition elsewhere",
      around(task("x")).replace('targetRef="e">', `targetRef="e">${condition("=x")}`),
      "f2: a condition on a flow that leaves a serviceTask is not supported",
    ],
  ])("conditions: %s", (_label, xml, fault) => {
    expect(faultsOf(xml)).toContain(fault);
  });
});

describe("a part that makes no sense is refused", () => {
  test.each<[string, string, string]>([
    ["no type", job(""), "x: a serviceTask needs a zeebe:taskDefinition with a type"],
    [
      "an empty type",
      job(`<zeebe:taskDefinition type=" "/>`),
      "x: a serviceTask needs a zeebe:taskDefinition with a type",
    ],
    [
      "two definitions",
      job(`<zeebe:taskDefinition type="a"/><zeebe:taskDefinition type="b"/>`),
      "x: a serviceTask has more than one zeebe:taskDefinition",
    ],
    [
      "broken type",
      job(`<zeebe:taskDefinition type="=a +"/>`),
      "x: the type of its job is not an expression: it breaks off at its end",
    ],
    [
      "retries that are no number",
      job(`<zeebe:taskDefinition type="a" retries="many"/>`),
      "x: retries must be 1 to 100, or an expression",
    ],
    [
      "no retries at all",
      job(`<zeebe:taskDefinition type="a" retries="0"/>`),
      "x: retries must be 1 to 100, or an expression",
    ],
    [
      "a header without a key",
      around(task("x", `<zeebe:taskHeaders><zeebe:header value="v"/></zeebe:taskHeaders>`)),
      "x: a zeebe:header has no key",
    ],
    ["a mapping without a source", mapping(`<zeebe:input target="a"/>`), "x: a zeebe:input has no source"],
    [
      "a mapping without a target",
      mapping(`<zeebe:output source="=a"/>`),
      'x: the target "" of a zeebe:output is no name of a variable',
    ],
    [
      "a target that is an expression",
      mapping(`<zeebe:output source="=a" target="a + b"/>`),
      'x: the target "a + b" of a zeebe:output is no name of a variable',
    ],
    [
      "a target that is a prototype",
      mapping(`<zeebe:output source="=a" target="a.__proto__.b"/>`),
      'x: the target "a.__proto__.b" of a zeebe:output is no name of a variable',
    ],
    [
      "a broken source",
      mapping(`<zeebe:input source="=)" target="a"/>`),
      'x: the source of "a" is not an expression: it cannot be read at ")" (character 1)',
    ],
    ["a timer without a time", timer(""), "x: a timer needs either a timeDuration or a timeDate"],
    [
      "a timer with two",
      timer(`<bpmn:timeDuration>PT1S</bpmn:timeDuration><bpmn:timeDate>2030-01-01T00:00:00Z</bpmn:timeDate>`),
      "x: a timer needs either a timeDuration or a timeDate",
    ],
    [
      "a timer that is none",
      timer(`<bpmn:timeDuration>soon</bpmn:timeDuration>`),
      'x: "soon" is not a duration (ISO 8601)',
    ],
    ["a cycle", timer(`<bpmn:timeCycle>R3/PT1S</bpmn:timeCycle>`), "x: a timeCycle is not supported here"],
    [
      "an event that waits for nothing",
      around(`<bpmn:intermediateCatchEvent id="x"/>`),
      "x: an intermediateCatchEvent without an event definition is not supported",
    ],
    [
      "an error end event without an error",
      processOf(`${start}${flow("f", "s", "x")}<bpmn:endEvent id="x"><bpmn:errorEventDefinition/></bpmn:endEvent>`),
      "x: an error end event needs an errorRef",
    ],
  ])("%s", (_label, xml, fault) => {
    expect(faultsOf(xml)).toContain(fault);
  });

  const caught = (event: string, beside = ERROR) => around(task("x") + event + flow("f3", "b", "e"), beside);
  test.each<[string, string, string]>([
    [
      "at nothing",
      caught(`<bpmn:boundaryEvent id="b">${onError}</bpmn:boundaryEvent>`),
      "b: a boundaryEvent needs attachedToRef",
    ],
    ["at what is not there", caught(boundary("b", "no", onError)), 'b: its attachedToRef "no" is not there'],
    [
      "at a gateway",
      caught(boundary("b", "x", onError)).replace(
        /<bpmn:serviceTask.*<\/bpmn:serviceTask>/,
        `<bpmn:exclusiveGateway id="x"/>`,
      ),
      "b: a boundaryEvent at an exclusiveGateway is not supported",
    ],
    [
      "that does not interrupt",
      caught(boundary("b", "x", onError, `cancelActivity="false"`)),
      'b: "cancelActivity" at a boundaryEvent is not supported',
    ],
    [
      "of a timer",
      caught(boundary("b", "x", "<bpmn:timerEventDefinition/>")),
      "b: a boundaryEvent with a timerEventDefinition is not supported",
    ],
    ["of nothing", caught(boundary("b", "x", "")), "b: a boundaryEvent needs an event definition"],
    ["of an error that is not there", caught(boundary("b", "x", onError), ""), 'b: its errorRef "error" is not there'],
    [
      "of an error without a code",
      caught(boundary("b", "x", onError), `<bpmn:error id="error"/>`),
      "b: its errorRef has no errorCode",
    ],
    [
      "of an error with a computed code",
      caught(boundary("b", "x", onError), `<bpmn:error id="error" errorCode="=a"/>`),
      "b: an errorCode that is an expression is not supported",
    ],
    [
      "of the same error twice",
      caught(boundary("b", "x", onError) + boundary("c", "x", onError)),
      'c: the errorCode "NO" is already caught at "x"',
    ],
    [
      "with a flow into it",
      caught(boundary("b", "x", onError) + flow("f4", "x", "b")),
      "b: a boundaryEvent must have no incoming flow",
    ],
  ])("a boundary event %s", (_label, xml, fault) => {
    expect(faultsOf(xml)).toContain(fault);
  });

  test(`all faults are told, up to ${FAULTS_MAX}`, () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `<bpmn:userTask id="u${i}"/>`).join("");
    expect(
      faultsOf(processOf(start + many(3))).filter((fault) => fault.endsWith("userTask is not supported")),
    ).toHaveLength(3);
    expect(faultsOf(processOf(start + many(300)))).toHaveLength(FAULTS_MAX);
  });
});
