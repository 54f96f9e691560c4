/** Deployments of documents: whole or not at all, versioned by their content. */

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { around, definitions, task as documentTask, end, flow, processOf, start } from "./bpmn/documents.ts";
import { type Engine, failed, withEngine } from "./harness.ts";

const GOOD = around(documentTask("x"));
const OTHER = around(documentTask("x").replace('type="work"', 'type="other"'));
const named = (id: string, xml = GOOD) => xml.replace('process id="p"', `process id="${id}"`);

function deploy(engine: Engine, contents: readonly string[], tenant = "acme"): JsonObject {
  return engine.ok(tenant, "DEPLOYMENT:CREATE", {
    resources: contents.map((content, n) => ({ name: `${n}.bpmn`, content })),
  });
}

function versions(result: JsonObject): unknown[] {
  const deployments = Array.isArray(result.deployments) ? result.deployments : [];
  return deployments.map((one) => {
    const { processDefinitionId, processDefinitionVersion } = one as JsonObject;
    return `${processDefinitionId} ${processDefinitionVersion}`;
  });
}

it("a document is deployed, told, and runs", () =>
  withEngine((engine) => {
    const result = deploy(engine, [GOOD]);
    expect(result).toEqual({
      deploymentKey: expect.stringMatching(/^\d{16}$/),
      deployments: [
        {
          processDefinitionId: "p",
          processDefinitionVersion: 1,
          processDefinitionKey: expect.stringMatching(/^\d{16}$/),
          resourceName: "0.bpmn",
        },
      ],
    });
    engine.start("acme", "p", { n: 1 });
    const { jobKey } = engine.activateOne("acme", "work");
    engine.ok("acme", "JOB:COMPLETE", { jobKey });
    expect(engine.rows("SELECT state FROM process_instances")).toEqual([{ state: "completed" }]);
  }));

it("the same content is the same version, changed content is the next, also when only a picture has changed", () =>
  withEngine((engine) => {
    const before = deploy(engine, [GOOD]).deployments;
    expect(deploy(engine, [GOOD]).deployments).toEqual(before);
    expect(versions(deploy(engine, [OTHER]))).toEqual(["p 2"]);
    expect(versions(deploy(engine, [`${OTHER}<!-- moved -->`]))).toEqual(["p 3"]);
    expect(versions(deploy(engine, [GOOD]))).toEqual(["p 4"]);
    expect(versions(deploy(engine, [GOOD], "tenant:bolt")), "each tenant counts its own").toEqual(["p 1"]);
  }));

it("a chain and a document of one name are versions of one process", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    expect(versions(deploy(engine, [GOOD]))).toEqual(["p 2"]);
    engine.deploy("acme", "p", ["a"]);
    engine.ok("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", version: 2 });
    engine.ok("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", version: -1 });
    expect([engine.activate("acme", "work").length, engine.activate("acme", "a").length]).toEqual([1, 1]);
  }));

it("several documents and several processes in one are deployed together", () =>
  withEngine((engine) => {
    const inside = (id: string) =>
      `<bpmn:process id="${id}" isExecutable="true">${start}${flow("f", "s", "e")}${end}</bpmn:process>`
        .replaceAll('"s"', `"${id}-s"`)
        .replaceAll('"e"', `"${id}-e"`)
        .replaceAll('"f"', `"${id}-f"`);
    expect(versions(deploy(engine, [GOOD, definitions(inside("q") + inside("r"))]))).toEqual(["p 1", "q 1", "r 1"]);
  }));

describe("nothing is deployed when", () => {
  it.each<[string, string[], string]>([
    ["one of the documents is no XML", [GOOD, "no document"], "1.bpmn: "],
    ["an element is not supported", [named("q"), around('<bpmn:userTask id="x"/>')], "x: "],
    ["there is no process in it", [GOOD, definitions("")], "1.bpmn: "],
    ["a process is in it twice", [GOOD, OTHER], "process p"],
    ["an expression cannot be read", [around(documentTask("x").replace('"work"', '"= 1 +"'))], "x: "],
  ])("%s", (_label, contents, naming) =>
    withEngine((engine) => {
      const before = engine.dump();
      const resources = contents.map((content, n) => ({ name: `${n}.bpmn`, content }));
      expect(engine.run("acme", "DEPLOYMENT:CREATE", { resources })).toEqual(failed("invalid_argument", naming));
      expect(engine.dump()).toEqual(before);
    }),
  );
});

it("a process without anything to do is whole all the same", () =>
  withEngine((engine) => {
    deploy(engine, [processOf(`${start}${flow("f", "s", "e")}${end}`)]);
    engine.start("acme", "p");
    expect(engine.rows("SELECT state FROM process_instances")).toEqual([{ state: "completed" }]);
  }));
