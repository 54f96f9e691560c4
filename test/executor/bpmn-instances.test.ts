/** Instances of models on the disk: errors, timers, incidents, cancellation, repeats, business ids. */

import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { STEPS_PER_COMMAND_MAX } from "../../src/executor/embedded/game-events.ts";
import { VARIABLES_BYTES_MAX } from "../../src/executor/embedded/variables.ts";
import { type Engine, failed, KEEP_MS, SECOND, T0, UNKNOWN_KEY, withEngine } from "./harness.ts";
import { boundary, end, errorEnd, install, mapping, modelOf, parallel, start, task, timer, xor } from "./models.ts";

const states = (engine: Engine) => engine.rows("SELECT state FROM process_instances").map(({ state }) => state);
const incidents = (engine: Engine) =>
  engine.rows("SELECT element, type, job IS NULL AS of_token FROM process_incidents");
const incidentKey = (engine: Engine) =>
  engine.keys.format(Number(engine.rows("SELECT seq FROM process_incidents")[0]?.seq));
const complete = (engine: Engine, type: string, variables: JsonObject = {}, nowMs = T0) =>
  engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", type, nowMs).jobKey, variables }, nowMs);

/** A job as a client that gives its name gets it. */
function take(engine: Engine, type: string, options: JsonObject = {}, nowMs = T0): JsonObject {
  const result = engine.ok("acme", "JOB:ACTIVATE", { type, details: true, worker: "w", ...options }, nowMs);
  const [job] = Array.isArray(result.jobs) ? result.jobs : [];
  if (!isJsonObject(job)) throw new Error(`no job of type ${type}`);
  return job;
}

describe("a thrown error", () => {
  const model = modelOf(
    start("a"),
    task("a", ["end"]),
    boundary("caught", "a", "E1", ["b"]),
    task("b", ["end"]),
    end(),
  );

  it("that an event catches ends the job, and the instance goes on there with the error's variables", () =>
    withEngine((engine) => {
      install(engine, "acme", model);
      engine.start("acme", "p", { n: 1 });
      const { jobKey } = engine.activateOne("acme", "a");
      const thrown = { jobKey, errorCode: "E1", variables: { why: "late" } };
      expect(engine.ok("acme", "JOB:THROW_ERROR", thrown)).toEqual({});
      expect(engine.run("acme", "JOB:COMPLETE", { jobKey })).toEqual(failed("not_found", jobKey));
      expect(engine.activateOne("acme", "b").variables).toEqual({ n: 1, why: "late" });
      expect(engine.dump()).toMatchObject({ process_incidents: [] });
    }));

  it("that none catches is an incident of the job, which can be resolved and completed", () =>
    withEngine((engine) => {
      install(engine, "acme", model);
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a");
      expect(engine.ok("acme", "JOB:THROW_ERROR", { jobKey, errorCode: "E2" })).toHaveProperty("incidentKey");
      expect(incidents(engine)).toEqual([{ element: "a", type: "UNHANDLED_ERROR_EVENT", of_token: 0 }]);
      engine.ok("acme", "INCIDENT:RESOLVE", { jobKey });
      engine.ok("acme", "JOB:COMPLETE", { jobKey });
      expect(states(engine)).toEqual(["completed"]);
    }));

  it("at an end event is an incident, and the instance waits until it is cancelled", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("bad"), errorEnd("bad", "E")));
      const processInstanceKey = engine.start("acme", "p");
      expect(incidents(engine)).toEqual([{ element: "bad", type: "UNHANDLED_ERROR_EVENT", of_token: 1 }]);
      engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey: incidentKey(engine) });
      expect([states(engine), incidents(engine).length]).toEqual([["active"], 1]);
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      expect([states(engine), incidents(engine)]).toEqual([["terminated"], []]);
    }));
});

describe("a timer", () => {
  const model = modelOf(start("pause"), timer("pause", "PT10S", ["a"], [mapping("n + 1", "n")]), task("a", []));

  it("goes off when it is due and not before, with its output mappings", () =>
    withEngine((engine) => {
      install(engine, "acme", model);
      engine.start("acme", "p", { n: 1 });
      expect(engine.executor.nextTimerMs([])).toBe(T0 + 10 * SECOND);
      engine.fire(T0 + 10 * SECOND - 1);
      expect(engine.activate("acme", "a", T0 + 10 * SECOND)).toEqual([]);
      engine.fire(T0 + 10 * SECOND);
      expect(engine.activateOne("acme", "a", T0 + 10 * SECOND).variables).toEqual({ n: 2 });
      expect([engine.executor.nextTimerMs([]), engine.executor.dueTimers(T0 + 99 * SECOND, 9, [])]).toEqual([null, []]);
    }));

  it("of a cancelled instance never goes off", () =>
    withEngine((engine) => {
      install(engine, "acme", model);
      const processInstanceKey = engine.start("acme", "p");
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      expect([engine.executor.nextTimerMs([]), states(engine)]).toEqual([null, ["terminated"]]);
    }));

  it("that finds the variables too large is an incident, and goes on once there is room", () =>
    withEngine((engine) => {
      const outputs = [mapping("big", "one"), mapping("big", "two")];
      install(engine, "acme", modelOf(start("pause"), timer("pause", "PT1S", ["a"], outputs), task("a", [])));
      engine.start("acme", "p", { big: "x".repeat(VARIABLES_BYTES_MAX / 2) });
      engine.fire(T0 + SECOND);
      expect(incidents(engine)).toEqual([{ element: "pause", type: "IO_MAPPING_ERROR", of_token: 1 }]);
      const before = engine.dump();
      const outcome = engine.run("acme", "INCIDENT:RESOLVE", { incidentKey: incidentKey(engine) });
      expect(outcome).toEqual(failed("invalid_state", "VARIABLES_BYTES_MAX"));
      expect(engine.dump()).toEqual(before);
      engine.sql.exec(`UPDATE process_instances SET variables = '{"big":1}'`);
      engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey: incidentKey(engine) });
      expect(engine.activateOne("acme", "a").variables).toEqual({ big: 1, one: 1, two: 1 });
    }));

  it("that is looked at again later keeps its time", () =>
    withEngine((engine) => {
      install(engine, "acme", model);
      engine.start("acme", "p", { n: 1 });
      const [due] = engine.executor.dueTimers(T0 + 10 * SECOND, 1, []);
      if (due === undefined) throw new Error("nothing is due");
      engine.executor.postponeTimers(due, T0 + 60 * SECOND);
      expect(engine.executor.nextTimerMs([])).toBe(T0 + 60 * SECOND);
      engine.fire(T0 + 60 * SECOND);
      expect(engine.activate("acme", "a", T0 + 60 * SECOND)).toHaveLength(1);
    }));
});

describe("an incident of an instance", () => {
  it("is of the token that cannot go on; the other branches do, and it goes on when it is resolved", () =>
    withEngine((engine) => {
      const model = modelOf(
        start("fork"),
        parallel("fork", "x", "a"),
        xor("x", [
          ["b", "ok = true"],
          ["c", "ok = false"],
        ]),
        task("a", []),
        task("b", []),
        task("c", []),
      );
      install(engine, "acme", model);
      engine.start("acme", "p");
      expect(incidents(engine)).toEqual([{ element: "x", type: "CONDITION_ERROR", of_token: 1 }]);
      complete(engine, "a", { ok: false });
      engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey: incidentKey(engine) });
      expect([incidents(engine), engine.activate("acme", "c").length]).toEqual([[], 1]);
    }));

  it("cuts a loop that waits for nothing; resolving it goes on and is cut again, cancelling ends it", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("x"), xor("x", [["y", null]]), xor("y", [["x", null]])));
      const processInstanceKey = engine.start("acme", "p");
      const first = incidentKey(engine);
      expect(engine.rows("SELECT type, message FROM process_incidents")).toEqual([
        { type: "UNKNOWN", message: expect.stringContaining(String(STEPS_PER_COMMAND_MAX)) },
      ]);
      engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey: first });
      expect(incidentKey(engine)).not.toBe(first);
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      expect(incidents(engine)).toEqual([]);
    }));
});

it("cancelling leaves nothing of jobs, timers and incidents, whatever the instance was at", () =>
  withEngine((engine) => {
    const model = modelOf(
      start("fork"),
      parallel("fork", "a", "b", "c", "bad", "pause"),
      ...["a", "b", "c"].map((id) => task(id, ["join"])),
      errorEnd("bad", "E"),
      timer("pause", "PT1H", ["join"]),
      parallel("join", "end"),
      end(),
    );
    install(engine, "acme", model);
    const processInstanceKey = engine.start("acme", "p");
    complete(engine, "a");
    engine.break("acme", engine.activateOne("acme", "b").jobKey);
    engine.activateOne("acme", "c");
    expect(incidents(engine)).toHaveLength(2);
    engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
    expect(engine.dump()).toMatchObject({
      process_instances: [{ state: "terminated", tokens: "[]", due_at: null, done: null }],
      process_jobs: [],
      process_incidents: [],
    });
  }));

describe("a job with details", () => {
  it("tells its element, its headers and its own variables before the instance's", () =>
    withEngine((engine) => {
      const more = { headers: { color: "red" }, inputs: [mapping("n * 2", "n"), mapping("n", "m")] };
      const processDefinitionKey = install(engine, "acme", modelOf(start("a"), task("a", [], more)));
      const created = { processDefinitionKey, variables: { n: 1, o: 0 }, tags: ["t"] };
      engine.ok("acme", "PROCESS_INSTANCE:CREATE", created);
      expect(take(engine, "a")).toMatchObject({
        processDefinitionId: "p",
        processDefinitionVersion: 1,
        processDefinitionKey,
        elementId: "a",
        elementInstanceKey: expect.stringMatching(/^\d{16}$/),
        customHeaders: { color: "red" },
        worker: "w",
        tags: ["t"],
        variables: { n: 2, m: 2, o: 0 },
      });
    }));

  it("has only the variables that were asked for", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", [])));
      engine.start("acme", "p", { a: 1, b: 2, c: 3 });
      expect(take(engine, "a", { fetchVariables: ["c", "a", "d"] }).variables).toEqual({ a: 1, c: 3 });
    }));

  it("that fails with variables has them at the next try, and the instance has not", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", ["b"]), task("b", [])));
      engine.start("acme", "p", { n: 1 });
      const { jobKey } = engine.activateOne("acme", "a");
      engine.ok("acme", "JOB:FAIL", { jobKey, variables: { n: 2, tried: true } });
      const again = engine.activateOne("acme", "a");
      expect(again.variables).toEqual({ n: 2, tried: true });
      engine.ok("acme", "JOB:COMPLETE", { jobKey });
      expect(engine.activateOne("acme", "b").variables).toEqual({ n: 1 });
    }));

  it("that fails with too many variables is refused, and nothing changes", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", [])));
      engine.start("acme", "p");
      const { jobKey } = engine.activateOne("acme", "a");
      const before = engine.dump();
      const failing = { jobKey, variables: { big: "x".repeat(300_000) } };
      expect(engine.run("acme", "JOB:FAIL", failing)).toEqual(failed("invalid_state", "LOCALS_BYTES_MAX"));
      expect(engine.dump()).toEqual(before);
    }));
});

describe("a repeated completion", () => {
  it.each([
    ["until its lease's deadline", 9999, true],
    ["not from its lease's deadline on", 10_000, false],
  ])("by a client that gave details is done already, %s", (_label, afterMs, isKnown) =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", ["b"]), task("b", [])));
      engine.start("acme", "p", { n: 1 });
      const { jobKey } = take(engine, "a", { timeoutSeconds: 10 });
      engine.ok("acme", "JOB:COMPLETE", { jobKey: String(jobKey), variables: { n: 2 } });
      const before = engine.dump();
      const repeat = { jobKey: String(jobKey), variables: { n: 3 } };
      const outcome = engine.run("acme", "JOB:COMPLETE", repeat, T0 + afterMs);
      expect(outcome).toEqual(isKnown ? { state: "succeeded", result: {} } : failed("not_found", String(jobKey)));
      expect(engine.run("bolt", "JOB:COMPLETE", repeat)).toEqual(failed("not_found", String(jobKey)));
      expect(engine.dump()).toEqual(before);
    }),
  );

  it.each([
    ["JOB:FAIL", {}],
    ["JOB:THROW_ERROR", { errorCode: "E" }],
    ["JOB:UPDATE", { retries: 1 }],
    ["INCIDENT:RESOLVE", {}],
  ] as const)("lets nothing else be done to the job: %s", (intent, payload) =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", [])));
      engine.start("acme", "p");
      const jobKey = String(take(engine, "a").jobKey);
      engine.ok("acme", "JOB:COMPLETE", { jobKey });
      expect(engine.run("acme", intent, { jobKey, ...payload })).toEqual(failed("not_found", jobKey));
      expect(engine.activate("acme", "a", T0 + KEEP_MS)).toEqual([]);
    }),
  );

  it("is forgotten with the instance, and sooner when the instance goes on", () =>
    withEngine((engine) => {
      const kept = () => engine.rows("SELECT count(*) AS n FROM process_jobs WHERE done_until IS NOT NULL")[0]?.n;
      install(
        engine,
        "acme",
        modelOf(
          start("a"),
          task("a", ["again"]),
          xor("again", [
            ["a", "true"],
            ["end", null],
          ]),
          end(),
        ),
      );
      const processInstanceKey = engine.start("acme", "p");
      for (let round = 0; round < 30; round++) {
        engine.ok("acme", "JOB:COMPLETE", { jobKey: String(take(engine, "a").jobKey) });
      }
      expect(kept()).toBe(20);
      const later = T0 + 3600 * SECOND;
      engine.ok("acme", "JOB:COMPLETE", { jobKey: String(take(engine, "a", {}, later).jobKey) }, later);
      expect(kept()).toBe(1);
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey }, later);
      engine.executor.sweep(later + 2 * KEEP_MS);
      expect(engine.rows("SELECT seq FROM process_jobs")).toEqual([]);
    }));
});

describe("a business id", () => {
  const create = { processId: "p", businessId: "order-1", details: true };

  it("is told with the new instance, and no second active instance of the tenant has it", () =>
    withEngine((engine) => {
      for (const tenant of ["acme", "bolt"]) install(engine, tenant, modelOf(start("a"), task("a", [])));
      const result = engine.ok("acme", "PROCESS_INSTANCE:CREATE", { ...create, tags: ["x"] });
      expect(result).toMatchObject({
        processDefinitionId: "p",
        processDefinitionVersion: 1,
        businessId: "order-1",
        tags: ["x"],
      });
      const before = engine.dump();
      expect(engine.run("acme", "PROCESS_INSTANCE:CREATE", create)).toEqual(failed("already_exists", '"order-1"'));
      expect(engine.dump()).toEqual(before);
      engine.ok("bolt", "PROCESS_INSTANCE:CREATE", create);
      engine.ok("acme", "PROCESS_INSTANCE:CREATE", { ...create, businessId: "Order-1" });
    }));

  it("is free again when its instance has ended", () =>
    withEngine((engine) => {
      install(engine, "acme", modelOf(start("a"), task("a", [])));
      engine.ok("acme", "PROCESS_INSTANCE:CREATE", create);
      complete(engine, "a");
      engine.ok("acme", "PROCESS_INSTANCE:CREATE", create);
    }));
});

it.each([
  ["unknown", () => UNKNOWN_KEY],
  ["another tenant's", (engine: Engine) => install(engine, "bolt", modelOf(start("a"), task("a", [])))],
])("the key of an %s definition is not found", (_label, keyFor) =>
  withEngine((engine) => {
    const processDefinitionKey = keyFor(engine);
    const outcome = engine.run("acme", "PROCESS_INSTANCE:CREATE", { processDefinitionKey });
    expect(outcome).toEqual(failed("not_found", processDefinitionKey));
  }),
);

it("an instance that waits for nothing has ended when it is created, and that is noticed", () =>
  withEngine((engine) => {
    install(engine, "acme", modelOf(start("end"), end()));
    const processInstanceKey = engine.start("acme", "p", { n: 1 });
    expect(engine.executor.takeNotices().endedInstances).toEqual([engine.keys.parse(processInstanceKey)]);
    expect(engine.executor.instanceState("acme", processInstanceKey)).toEqual({
      state: "COMPLETED",
      variables: '{"n":1}',
    });
    expect(engine.executor.instanceState("bolt", processInstanceKey)).toBeNull();
  }));

it("notices tell of each job that can be had, once", () =>
  withEngine((engine) => {
    install(engine, "acme", modelOf(start("fork"), parallel("fork", "a", "b"), task("a", []), task("b", [])));
    engine.start("acme", "p");
    const job = (type: string) => ({ tenant: "acme", type });
    expect(engine.executor.takeNotices()).toEqual({ endedInstances: [], availableJobs: [job("a"), job("b")] });
    const { jobKey } = engine.activateOne("acme", "a");
    expect(engine.executor.nextJobMs("acme", "a")).toBe(T0 + 60 * SECOND);
    engine.ok("acme", "JOB:FAIL", { jobKey });
    engine.ok("acme", "JOB:FAIL", { jobKey, retries: 1, retryBackoffSeconds: 5 });
    expect(engine.executor.takeNotices().availableJobs).toEqual([job("a")]);
    expect([engine.executor.nextJobMs("acme", "a"), engine.executor.nextJobMs("bolt", "a")]).toEqual([
      T0 + 5 * SECOND,
      null,
    ]);
  }));

describe("a start event with output mappings", () => {
  it("makes variables of those that the instance begins with", () =>
    withEngine((engine) => {
      const [begin, ...rest] = [start("a"), task("a", ["end"]), end()];
      if (begin?.kind !== "start-event") throw new Error("no start event");
      const outputs = [{ source: { feel: "n + 0.2" }, target: "m" }];
      install(engine, "acme", modelOf({ ...begin, outputs }, ...rest));
      engine.start("acme", "p", { n: 0.1 });
      expect(engine.activateOne("acme", "a").variables).toEqual({ n: 0.1, m: 0.3 });
    }));
});
