import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { SearchKind } from "../../src/executor/embedded/search-kinds.ts";
import { type Engine, SECOND, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";
import { install, modelOf, start, task } from "./models.ts";

const NOW = T0 + 60 * SECOND;

/** Of acme: an instance with a job that waits, one whose job is leased, one broken, one completed; one of bolt. */
function filled(engine: Engine) {
  const model = modelOf(start("a"), task("a", [], { headers: { h: "1" } }));
  const processDefinitionKey = install(engine, "acme", model);
  install(engine, "bolt", model);
  const create = (businessId: string, atMs: number) =>
    String(engine.ok("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", businessId }, atMs).processInstanceKey);
  const completed = create("done", T0);
  engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "a").jobKey }, T0 + SECOND);
  const broken = create("broken", T0 + 2 * SECOND);
  const incidentKey = engine.break("acme", engine.activateOne("acme", "a", T0 + 2 * SECOND).jobKey, T0 + 3 * SECOND);
  const leased = create("leased", T0 + 4 * SECOND);
  engine.ok("acme", "JOB:ACTIVATE", { type: "a", worker: "w1", timeoutSeconds: 600 }, T0 + 5 * SECOND);
  const waiting = create("waiting", T0 + 6 * SECOND);
  engine.start("bolt", "p");
  return { processDefinitionKey, completed, broken, leased, waiting, incidentKey };
}

function found(engine: Engine, kind: SearchKind, query: Parameters<Engine["executor"]["search"]>[2], tenant = "acme") {
  const result = engine.search(tenant, kind, query, NOW);
  if ("fault" in result) throw new Error(result.fault);
  return result;
}

const businessIds = (engine: Engine, filter: JsonObject) =>
  found(engine, "process-instances", { filter }).items.map(({ businessId }) => businessId);

describe("process instances", () => {
  it("read as the engine's clients expect them", () =>
    withEngine((engine) => {
      const { processDefinitionKey, broken } = filled(engine);
      expect(found(engine, "process-instances", { filter: { processInstanceKey: broken } })).toEqual({
        items: [
          {
            processDefinitionId: "p",
            processDefinitionName: "A process",
            processDefinitionVersion: 1,
            processDefinitionVersionTag: "v1",
            startDate: new Date(T0 + 2 * SECOND).toISOString(),
            endDate: null,
            state: "ACTIVE",
            hasIncident: true,
            tenantId: "acme",
            processInstanceKey: broken,
            processDefinitionKey,
            parentProcessInstanceKey: null,
            parentElementInstanceKey: null,
            rootProcessInstanceKey: null,
            tags: [],
            businessId: "broken",
          },
        ],
        total: 1,
      });
    }));

  it.each<[string, JsonObject, string[]]>([
    ["nothing", {}, ["done", "broken", "leased", "waiting"]],
    ["a state", { state: "COMPLETED" }, ["done"]],
    ["a state that is equal", { state: { $eq: "COMPLETED" } }, ["done"]],
    ["a state that is not", { state: { $neq: "ACTIVE" } }, ["done"]],
    ["one of some", { businessId: { $in: ["done", "leased", "other"] } }, ["done", "leased"]],
    ["none of some", { businessId: { $notIn: ["done", "leased"] } }, ["broken", "waiting"]],
    ["a pattern", { businessId: { $like: "*i?g" } }, ["waiting"]],
    ["a pattern that stands for itself", { businessId: { $like: "[d]one" } }, []],
    ["an end", { endDate: { $exists: true } }, ["done"]],
    ["a time", { startDate: { $gt: new Date(T0 + 2 * SECOND).toISOString() } }, ["leased", "waiting"]],
    ["a number", { processDefinitionVersion: { $gte: 1, $lt: 2 } }, ["done", "broken", "leased", "waiting"]],
    ["an incident", { hasIncident: true }, ["broken"]],
    ["two things", { state: "ACTIVE", hasIncident: false }, ["leased", "waiting"]],
    ["one of two things", { $or: [{ hasIncident: true }, { state: "COMPLETED" }] }, ["done", "broken"]],
    ["a key of nobody", { processInstanceKey: UNKNOWN_KEY }, []],
    ["a key that is none", { processInstanceKey: "17" }, []],
    ["a quote", { businessId: "' OR 1=1 --" }, []],
  ])("are filtered by %s", (_label, filter, expected) =>
    withEngine((engine) => {
      filled(engine);
      expect(businessIds(engine, filter)).toEqual(expected);
    }),
  );

  it("are found by patterns of any length that have their wildcard at the end", () =>
    withEngine((engine) => {
      filled(engine);
      const id = `a*\\é[b]?${"x".repeat(60)}`;
      const pattern = `a\\*\\\\é[b]\\?${"x".repeat(60)}`;
      engine.ok("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", businessId: id });
      const like = ($like: string) => businessIds(engine, { businessId: { $like } });
      expect([like(pattern), like(`${pattern}*`), like(`${pattern.slice(0, -5)}**`)]).toEqual([[id], [id], [id]]);
      expect([like(`${pattern}x`), like(`x${pattern}*`), like(pattern.slice(0, -5))]).toEqual([[], [], []]);
      expect(like(`${pattern.slice(0, 20)}*x`)).toEqual([id]);
    }));

  it.each<[string, JsonObject]>([
    ["another field", { color: "red" }],
    ["a field of objects", { constructor: "x" }],
    ["a number for a text", { state: 1 }],
    ["a number for a key", { processInstanceKey: 17 }],
    ["a text for a flag", { hasIncident: "yes" }],
    ["no time", { startDate: "yesterday" }],
    ["another comparison", { state: { $near: "ACTIVE" } }],
    ["a list that is none", { state: { $in: "ACTIVE" } }],
    ["a pattern that is too long", { businessId: { $like: `*${"x".repeat(50)}` } }],
    ["a pattern that is too long in bytes", { businessId: { $like: `*${"é".repeat(25)}` } }],
    ["a pattern that is too long once it is escaped", { businessId: { $like: `?${"[".repeat(17)}` } }],
    ["alternatives within alternatives", { $or: [{ $or: [] }] }],
    ["too much", { $or: Array(51).fill({ state: "ACTIVE" }) }],
  ])("filtered by %s are a fault", (_label, filter) =>
    withEngine((engine) => {
      expect(engine.search("acme", "process-instances", { filter }, NOW)).toEqual({
        fault: expect.any(String),
      });
    }),
  );

  it("come in the wanted order, page by page, with the number of all", () =>
    withEngine((engine) => {
      filled(engine);
      const sort = [{ field: "state", order: "DESC" }, { field: "businessId" }];
      const page = (from: number) => {
        const { items, total } = found(engine, "process-instances", { sort, page: { from, limit: 3 } });
        return [...items.map(({ businessId }) => businessId), total];
      };
      expect([page(0), page(3), page(9)]).toEqual([["done", "broken", "leased", 4], ["waiting", 4], [4]]);
    }));

  it.each<[string, { sort?: JsonObject[]; page?: JsonObject }]>([
    ["an unknown field", { sort: [{ field: "color" }] }],
    ["an unknown direction", { sort: [{ field: "state", order: "desc; DROP TABLE process_jobs" }] }],
    ["half an item", { page: { from: 0.5 } }],
    ["too many items", { page: { limit: 1_000_000 } }],
    ["a cursor", { page: { after: "x" } }],
  ])("sorted or paged by %s are a fault", (_label, query) =>
    withEngine((engine) => {
      expect(engine.search("acme", "process-instances", query, NOW)).toEqual({ fault: expect.any(String) });
    }),
  );
});

it("incidents read as the engine's clients expect them", () =>
  withEngine((engine) => {
    const { processDefinitionKey, broken, incidentKey } = filled(engine);
    const { items } = found(engine, "incidents", {
      filter: { state: "ACTIVE", errorType: { $in: ["JOB_NO_RETRIES"] } },
    });
    expect(items).toEqual([
      {
        processDefinitionId: "p",
        errorType: "JOB_NO_RETRIES",
        errorMessage: "The job failed and has no retries left.",
        elementId: "a",
        creationTime: new Date(T0 + 3 * SECOND).toISOString(),
        state: "ACTIVE",
        tenantId: "acme",
        incidentKey,
        processDefinitionKey,
        processInstanceKey: broken,
        rootProcessInstanceKey: null,
        elementInstanceKey: expect.stringMatching(/^\d{16}$/),
        jobKey: expect.stringMatching(/^\d{16}$/),
      },
    ]);
  }));

it("jobs read as the engine's clients expect them, each in its state", () =>
  withEngine((engine) => {
    const { leased, broken } = filled(engine);
    const [item] = found(engine, "jobs", { filter: { processInstanceKey: { $eq: leased } } }).items;
    expect(item).toMatchObject({ state: "CREATED", worker: "w1", customHeaders: { h: "1" }, kind: "BPMN_ELEMENT" });
    expect(item?.deadline).toBe(new Date(T0 + 605 * SECOND).toISOString());
    const stateOf = (filter: JsonObject) => found(engine, "jobs", { filter }).items.map(({ state }) => state);
    expect(stateOf({ processInstanceKey: broken })).toEqual(["FAILED"]);
    expect(stateOf({ type: "a", state: "CREATED" })).toEqual(["CREATED", "CREATED"]);
    engine.ok("acme", "JOB:COMPLETE", { jobKey: String(item?.jobKey) }, NOW);
    expect(stateOf({ processInstanceKey: leased })).toEqual(["COMPLETED"]);
  }));

it("a tenant finds its own alone", () =>
  withEngine((engine) => {
    const { broken, incidentKey } = filled(engine);
    expect(found(engine, "process-instances", { filter: { processInstanceKey: broken } }, "bolt").total).toBe(0);
    expect(found(engine, "incidents", { filter: { incidentKey } }, "bolt").total).toBe(0);
    expect(found(engine, "jobs", {}, "bolt").total).toBe(1);
    expect(found(engine, "jobs", { filter: { $or: [{ type: "a" }, { type: "b" }] } }, "bolt").total).toBe(1);
  }));
