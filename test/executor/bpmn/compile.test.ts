import { describe, expect, test } from "vitest";
import { compile } from "../../../src/executor/embedded/bpmn/compile.ts";
import type { ProcessModel } from "../../../src/executor/embedded/bpmn/model.ts";
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
import { DRAWN } from "./drawn.ts";

function modelOf(xml: string): ProcessModel {
  const compiled = compile(xml);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const [model] = compiled.models;
  if (model === undefined) throw new Error("no model");
  return model;
}

describe("a document becomes a model", () => {
  test("a chain: elements by id, flows at their source, defaults filled in", () => {
    expect(modelOf(around(task("x")))).toEqual({
      processId: "p",
      name: null,
      versionTag: null,
      start: "s",
      elements: {
        s: {
          kind: "start-event",
          id: "s",
          name: null,
          outgoing: [{ id: "f1", target: "x", condition: null }],
          outputs: [],
        },
        x: {
          kind: "service-task",
          id: "x",
          name: null,
          outgoing: [{ id: "f2", target: "e", condition: null }],
          jobType: { literal: "work" },
          retries: { literal: "3" },
          headers: {},
          inputs: [],
          outputs: [],
          boundaries: [],
        },
        e: { kind: "end-event", id: "e", name: null, outgoing: [] },
      },
    });
  });

  test("a drawn process, as a modeler writes it, with its diagram, lanes, notes and a second participant", () => {
    const model = modelOf(DRAWN);
    expect(model).toMatchObject({ processId: "order", name: "Order & ship", versionTag: "v2", start: "Start" });
    expect(Object.values(model.elements).map(({ id, kind }) => `${id}: ${kind}`)).toEqual([
      "Start: start-event",
      "Charge: service-task",
      "Declined: error-boundary-event",
      "Paid: exclusive-gateway",
      "Fork: parallel-gateway",
      "Pack: service-task",
      "Wait: timer-event",
      "Join: parallel-gateway",
      "Done: end-event",
      "Failed: error-end-event",
      "Look: exclusive-gateway",
    ]);
    expect(model.elements.Charge).toMatchObject({
      name: "Charge the card",
      jobType: { literal: "charge" },
      retries: { literal: "5" },
      headers: { currency: "EUR", empty: "" },
      inputs: [
        { source: { feel: "order.amount" }, target: "amount" },
        { source: { literal: "fixed" }, target: "mode" },
      ],
      outputs: [{ source: { feel: "receipt" }, target: "payment.receipt" }],
      boundaries: ["Declined"],
    });
    expect(model.elements.Declined).toMatchObject({ attachedTo: "Charge", errorCode: "DECLINED" });
    expect(model.elements.Paid).toMatchObject({
      defaultFlow: "No",
      outgoing: [
        { id: "Yes", target: "Fork", condition: 'payment.receipt != null and status = "ok"' },
        { id: "No", target: "Look", condition: null },
      ],
    });
    expect(model.elements.Join).toMatchObject({ incoming: ["Flow_6", "Flow_7"] });
    expect(model.elements.Wait).toMatchObject({ timer: { type: "duration", value: { literal: "PT1H30M" } } });
    expect(model.elements.Failed).toMatchObject({ errorCode: "DECLINED" });
  });

  test("the same text gives the same models, member by member", () => {
    expect(JSON.stringify(compile(DRAWN))).toBe(JSON.stringify(compile(DRAWN)));
  });

  test("namespaces count, not prefixes", () => {
    const plain = DRAWN.replaceAll("bpmn:", "")
      .replace("xmlns:bpmn=", "xmlns=")
      .replaceAll("zeebe:", "z:")
      .replace("xmlns:zeebe", "xmlns:z");
    expect(plain).not.toBe(DRAWN);
    expect(compile(plain)).toEqual(compile(DRAWN));
  });

  test("a byte order mark, single quotes, CDATA and comments are fine", () => {
    const xml = around(`<bpmn:intermediateCatchEvent id='x'><!-- when? --><bpmn:timerEventDefinition>
      <bpmn:timeDate><![CDATA[2030-01-01T00:00:00Z]]></bpmn:timeDate></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>`);
    expect(modelOf(`\ufeff${xml}`).elements.x).toMatchObject({
      timer: { type: "date", value: { literal: "2030-01-01T00:00:00Z" } },
    });
  });

  test("several executable processes give several models, one that is not executable none", () => {
    const one = (id: string, isExecutable: boolean) =>
      `<bpmn:process id="${id}" isExecutable="${isExecutable}"><bpmn:startEvent id="${id}-s"/></bpmn:process>`;
    const compiled = compile(definitions(one("a", true) + one("b", false) + one("c", true)));
    expect(compiled.ok && compiled.models.map(({ processId }) => processId)).toEqual(["a", "c"]);
  });

  test.each([
    ["an abstract task", `<bpmn:task id="x"/>`],
    ["a manual task", `<bpmn:manualTask id="x"/>`],
    ["an intermediate event that throws nothing", `<bpmn:intermediateThrowEvent id="x"/>`],
  ])("%s is passed through", (_label, element) => {
    expect(modelOf(around(element)).elements.x).toMatchObject({
      kind: "exclusive-gateway",
      outgoing: [{ target: "e" }],
    });
    const last = processOf(`${start}${flow("f1", "s", "x")}${element}`);
    expect(modelOf(last).elements.x).toMatchObject({ kind: "end-event" });
  });

  test("loops, loose ends and a task with several ways out are fine", () => {
    const model = modelOf(
      processOf(`${start}${flow("a", "s", "x")}${task("x")}${flow("b", "x", "x")}${flow("c", "x", "y")}${task("y")}`),
    );
    expect(model.elements.x?.outgoing.map(({ target }) => target)).toEqual(["x", "y"]);
  });

  test("an error event without a code catches everything", () => {
    const catching = boundary("b", "x", "<bpmn:errorEventDefinition/>") + flow("f3", "b", "e");
    expect(modelOf(around(task("x") + catching)).elements.b).toMatchObject({ errorCode: null });
    const both = boundary("b2", "x", onError) + flow("f4", "b2", "e");
    expect(modelOf(around(task("x") + catching + both, ERROR)).elements.x).toMatchObject({ boundaries: ["b", "b2"] });
  });

  test("expressions: types, retries, timers, and conditions with or without their sign", () => {
    const model = modelOf(
      processOf(`${start}${flow("f1", "s", "t")}<bpmn:serviceTask id="t"><bpmn:extensionElements>
        <zeebe:taskDefinition type="= kind" retries="=tries"/></bpmn:extensionElements></bpmn:serviceTask>
        ${flow("f2", "t", "g")}<bpmn:exclusiveGateway id="g"/>${flow("f3", "g", "e", condition("a &gt; 1"))}
        ${flow("f4", "g", "e", condition("= a &lt;= 1"))}${end}`),
    );
    expect(model.elements.t).toMatchObject({ jobType: { feel: "kind" }, retries: { feel: "tries" } });
    expect(model.elements.g?.outgoing.map((each) => each.condition)).toEqual(["a > 1", "a <= 1"]);
  });

  test("ids that objects have of their own are ids like any other", () => {
    const model = modelOf(
      processOf(
        `<bpmn:startEvent id="constructor"/>${flow("f", "constructor", "toString")}<bpmn:endEvent id="toString"/>`,
      ),
    );
    expect(Object.keys(model.elements)).toEqual(["constructor", "toString"]);
    expect(model.start).toBe("constructor");
    const headers = `<zeebe:taskHeaders><zeebe:header key="__proto__" value="x"/></zeebe:taskHeaders>`;
    const element = modelOf(around(task("x", headers))).elements.x;
    expect(element?.kind === "service-task" && Object.entries(element.headers)).toEqual([["__proto__", "x"]]);
  });
});

describe("what other namespaces say is for other tools", () => {
  const OTHER =
    'xmlns:x="urn:x" x:col="red" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" camunda:asyncBefore="true"';
  const EXTENSION = '<x:retry xmlns:x="urn:x" in="5"><x:deep/></x:retry>';
  const extended = `<bpmn:extensionElements>${EXTENSION}</bpmn:extensionElements>`;
  const plain = (xml: string) => JSON.stringify(modelOf(xml));

  test.each([
    ["a service task", around(task("x").replace('id="x"', `id="x" ${OTHER}`)), around(task("x"))],
    ["the extensions of a service task", around(task("x", EXTENSION)), around(task("x"))],
    ["a process", around(task("x")).replace('id="p"', `id="p" ${OTHER}`), around(task("x"))],
    ["the extensions of a process", around(task("x")).replace(start, extended + start), around(task("x"))],
    ["the definitions", around(task("x")).replace('id="definitions"', `id="definitions" ${OTHER}`), around(task("x"))],
    ["a flow", around(task("x")).replace('id="f1"', `id="f1" ${OTHER}`), around(task("x"))],
    [
      "the extensions of a flow",
      around(task("x")).replace("</bpmn:sequenceFlow>", `${extended}</bpmn:sequenceFlow>`),
      around(task("x")),
    ],
    ["a start event", around(task("x")).replace('id="s"', `id="s" ${OTHER}`), around(task("x"))],
    [
      "the extensions of an end event",
      around(task("x")).replace(end, `<bpmn:endEvent id="e">${extended}</bpmn:endEvent>`),
      around(task("x")),
    ],
    [
      "a gateway",
      around(`<bpmn:parallelGateway id="x" ${OTHER}>${extended}</bpmn:parallelGateway>`),
      around('<bpmn:parallelGateway id="x"/>'),
    ],
  ])("at %s it changes nothing", (_label, given, without) => {
    expect(plain(given)).toBe(plain(without));
  });

  test("forms that are kept at the process change nothing without user tasks", () => {
    const form = '<bpmn:extensionElements><zeebe:userTaskForm id="f">{}</zeebe:userTaskForm></bpmn:extensionElements>';
    expect(plain(around(task("x")).replace(start, form + start))).toBe(plain(around(task("x"))));
  });
});

test("a start event has output mappings", () => {
  const mapping =
    '<bpmn:extensionElements><zeebe:ioMapping><zeebe:output source="=a + 1" target="b"/></zeebe:ioMapping></bpmn:extensionElements>';
  const model = modelOf(around(task("x")).replace(start, `<bpmn:startEvent id="s">${mapping}</bpmn:startEvent>`));
  expect(model.elements.s).toMatchObject({ outputs: [{ source: { feel: "a + 1" }, target: "b" }] });
});
