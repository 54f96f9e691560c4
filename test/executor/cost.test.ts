/**
 * What commands cost in rows, because rows are what an object pays for. A number that grows here is a decision, not an
 * accident; one that depends on how much else is stored is a bug.
 */

import { expect, it } from "vitest";
import { TenantHoldings } from "../../src/core/tenant-holdings.ts";
import { EmbeddedExecutor } from "../../src/executor/embedded/executor.ts";
import { countingSql, type Engine, KEEP_MS, SECOND, T0, withEngine } from "./harness.ts";
import { end, install, modelOf, parallel, start, task, timer } from "./models.ts";

function cost(engine: Engine, act: (executor: EmbeddedExecutor) => void): { read: number; written: number } {
  const counted = countingSql(engine.sql);
  act(new EmbeddedExecutor(counted.sql, engine.keys, KEEP_MS, new TenantHoldings()));
  return { read: counted.rowsRead(), written: counted.rowsWritten() };
}

it("the rows that each command writes are few and known", () =>
  withEngine((engine) => {
    const written: Record<string, number> = {};
    const measure = (label: string, intent: Parameters<Engine["run"]>[1], payload: Parameters<Engine["run"]>[2]) => {
      const command = { id: "1", tenant: "acme", intent, payload };
      written[label] = cost(engine, (executor) => {
        expect(executor.execute(command, T0).state).toBe("succeeded");
      }).written;
    };
    const deployment = { processId: "p", tasks: [{ type: "a" }, { type: "b" }] };
    measure("deploy", "DEPLOYMENT:CREATE", deployment);
    measure("deploy again", "DEPLOYMENT:CREATE", deployment);
    measure("create", "PROCESS_INSTANCE:CREATE", { processId: "p" });
    const jobKey = engine.keys.format(Number(engine.rows("SELECT seq FROM process_jobs")[0]?.seq));
    measure("activate", "JOB:ACTIVATE", { type: "a" });
    measure("activate none", "JOB:ACTIVATE", { type: "a" });
    measure("update retries", "JOB:UPDATE", { jobKey, retries: 2 });
    measure("update deadline", "JOB:UPDATE", { jobKey, timeoutSeconds: 60 });
    measure("fail", "JOB:FAIL", { jobKey });
    measure("fail for good", "JOB:FAIL", { jobKey, retries: 0 });
    measure("resolve", "INCIDENT:RESOLVE", { jobKey });
    measure("complete", "JOB:COMPLETE", { jobKey });
    measure("complete the last", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "b").jobKey });
    measure("cancel", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: engine.start("acme", "p") });
    expect(written).toEqual({
      deploy: 2,
      "deploy again": 0,
      create: 3,
      activate: 2,
      "activate none": 0,
      "update retries": 1,
      "update deadline": 2,
      fail: 2,
      "fail for good": 2,
      resolve: 3,
      complete: 4,
      "complete the last": 3,
      cancel: 3,
    });
  }));

it("a model's commands cost rows for what they make, and an instance with all at once no more than its parts", () =>
  withEngine((engine) => {
    const written: Record<string, number> = {};
    const measure = (label: string, intent: Parameters<Engine["run"]>[1], payload: Parameters<Engine["run"]>[2]) => {
      written[label] = cost(engine, (executor) => {
        expect(executor.execute({ id: "1", tenant: "acme", intent, payload }, T0).state).toBe("succeeded");
      }).written;
    };
    install(
      engine,
      "acme",
      modelOf(
        start("a"),
        task("a", ["fork"]),
        parallel("fork", "b", "c", "pause"),
        task("b", ["join"]),
        task("c", ["join"]),
        timer("pause", "PT1S", ["join"]),
        parallel("join", "end"),
        end(),
      ),
    );
    measure("create", "PROCESS_INSTANCE:CREATE", { processId: "p", details: true, tags: ["t"] });
    measure("activate", "JOB:ACTIVATE", { type: "a", details: true });
    const jobOf = (type: string) => engine.rows("SELECT seq FROM process_jobs WHERE type = ?", type)[0]?.seq;
    const complete = (type: string) => ({ jobKey: engine.keys.format(Number(jobOf(type))) });
    measure("complete, and fork into two jobs and a timer", "JOB:COMPLETE", complete("a"));
    measure("complete again", "JOB:COMPLETE", complete("a"));
    measure("complete, and wait at the join", "JOB:COMPLETE", complete("b"));
    written["fire, and wait at the join"] = cost(engine, (executor) => {
      for (const due of executor.dueTimers(T0 + SECOND, 9, [])) executor.fireTimers(due, T0 + SECOND);
    }).written;
    measure("complete the last", "JOB:COMPLETE", complete("c"));
    measure("create with a business id", "PROCESS_INSTANCE:CREATE", { processId: "p", businessId: "b" });
    expect(written).toEqual({
      create: 3,
      activate: 2,
      "complete, and fork into two jobs and a timer": 7,
      "complete again": 0,
      "complete, and wait at the join": 3,
      "fire, and wait at the join": 1,
      "complete the last": 3,
      "create with a business id": 4,
    });
  }));

it("activation reads no jobs of other types or tenants, no leased, no waiting and no broken ones", () =>
  withEngine((engine) => {
    const activateCost = () =>
      cost(engine, (executor) => {
        const payload = { type: "a", maxJobs: 5 };
        executor.execute({ id: "1", tenant: "acme", intent: "JOB:ACTIVATE", payload }, T0 + SECOND);
      }).read;
    const wanted = () => {
      for (let i = 0; i < 5; i++) engine.start("acme", "p", {}, T0 + SECOND);
    };
    for (const [tenant, processId, type] of [
      ["acme", "p", "a"],
      ["acme", "q", "b"],
      ["bolt", "p", "a"],
    ] as const) {
      engine.deploy(tenant, processId, [type]);
    }
    wanted();
    const alone = activateCost();
    for (let i = 0; i < 300; i++) {
      engine.start("acme", "q");
      engine.start("bolt", "p");
      for (const _ of ["leased", "waiting", "broken"]) engine.start("acme", "p");
    }
    for (let i = 0; i < 9; i++) {
      const jobs = engine.activate("acme", "a", T0, { maxJobs: 100, timeoutSeconds: 600 });
      for (const { jobKey } of i < 3 ? jobs : []) engine.ok("acme", "JOB:FAIL", { jobKey, retryBackoffSeconds: 600 });
      for (const { jobKey } of i > 5 ? jobs : []) engine.break("acme", jobKey);
    }
    wanted();
    expect(activateCost()).toBe(alone);
  }));

it("a sweep reads no active instances, however many are older", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    const sweepCost = () => {
      const processInstanceKey = engine.start("acme", "p");
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey });
      return cost(engine, (executor) => executor.sweep(T0 + 2 * KEEP_MS)).read;
    };
    const alone = sweepCost();
    for (let i = 0; i < 300; i++) engine.start("acme", "p");
    expect(sweepCost()).toBe(alone);
  }));
