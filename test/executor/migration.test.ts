/**
 * Rows made by the shape before models (step 1) go on after the later steps: a chain that waits, one that is leased, one
 * with an incident, one that has ended.
 */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { EMBEDDED_SCHEMA } from "../../src/executor/embedded/schema.ts";
import { dropSchema, Engine, KEEP_MS, SECOND, T0 } from "./harness.ts";

const STEP_1_ROWS = `
  INSERT INTO process_definitions VALUES
    (1, 'acme', 'p', 1, '[{"type":"a","retries":3},{"type":"b","retries":2}]');
  INSERT INTO process_instances VALUES
    (2, 'acme', 1, 'active', 0, 3, ${T0}, NULL, '{"n":1}'),
    (4, 'acme', 1, 'active', 1, 5, ${T0 + 1}, NULL, '{"n":2}'),
    (6, 'acme', 1, 'active', 0, 7, ${T0 + 2}, NULL, '{"n":3}'),
    (9, 'acme', 1, 'completed', 1, NULL, ${T0}, ${T0 + 5}, '{"n":4}');
  INSERT INTO process_jobs VALUES
    (3, 'acme', 'a', 2, 3, 0, ${T0}, NULL),
    (5, 'acme', 'b', 4, 2, 1, ${T0 + 10 * SECOND}, NULL),
    (7, 'acme', 'a', 6, 0, 0, NULL, 8);
  INSERT INTO process_incidents VALUES (8, 'acme', 7, 'JOB_NO_RETRIES', ${T0 + 3}, 'no paper');
`;

/** An engine over rows that an older version has written; its keys go on at 100. */
async function withOldRows(body: (engine: Engine) => void): Promise<void> {
  const object = env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.newUniqueId());
  await runInDurableObject(object, (_instance, { storage: { sql } }) => {
    dropSchema(sql);
    const [first = "", ...later] = EMBEDDED_SCHEMA;
    sql.exec(first);
    sql.exec(STEP_1_ROWS);
    for (const step of later) sql.exec(step);
    const engine = new Engine(sql);
    for (let i = 0; i < 100; i++) engine.keys.next();
    body(engine);
  });
}

it("a waiting job can be activated and completed, and the chain goes on to its end", () =>
  withOldRows((engine) => {
    const a = engine.activateOne("acme", "a");
    expect(a).toMatchObject({
      jobKey: engine.keys.format(3),
      processInstanceKey: engine.keys.format(2),
      variables: { n: 1 },
    });
    engine.ok("acme", "JOB:COMPLETE", { jobKey: a.jobKey, variables: { done: true } });
    const b = engine.activateOne("acme", "b");
    expect(b).toMatchObject({ retries: 2, variables: { n: 1, done: true } });
    engine.ok("acme", "JOB:COMPLETE", { jobKey: b.jobKey });
    expect(engine.rows("SELECT state FROM process_instances WHERE seq = 2")).toEqual([{ state: "completed" }]);
  }));

it("a leased job is still leased until its deadline, and its worker can complete it", () =>
  withOldRows((engine) => {
    expect(engine.activate("acme", "b", T0 + 10 * SECOND - 1)).toEqual([]);
    engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.keys.format(5) });
    expect(engine.rows("SELECT state, tokens FROM process_instances WHERE seq = 4")).toEqual([
      { state: "completed", tokens: "[]" },
    ]);
  }));

it("an incident is found and can be resolved", () =>
  withOldRows((engine) => {
    expect(engine.search("acme", "incidents", {}, T0)).toMatchObject({
      items: [{ elementId: "task-1", jobKey: engine.keys.format(7), errorMessage: "no paper" }],
    });
    engine.ok("acme", "INCIDENT:RESOLVE", { incidentKey: engine.keys.format(8) });
    const jobs = engine.activate("acme", "a", T0, { maxJobs: 9 });
    expect(jobs.map(({ jobKey, retries }) => [jobKey, retries])).toEqual([
      [engine.keys.format(3), 3],
      [engine.keys.format(7), 1],
    ]);
  }));

it("instances can be cancelled, with their jobs and incidents, and what has ended is swept", () =>
  withOldRows((engine) => {
    for (const seq of [2, 4, 6]) {
      engine.ok("acme", "PROCESS_INSTANCE:CANCEL", { processInstanceKey: engine.keys.format(seq) });
    }
    expect(engine.dump()).toMatchObject({ process_jobs: [], process_incidents: [] });
    engine.executor.sweep(T0 + 2 * KEEP_MS);
    expect(engine.rows("SELECT seq FROM process_instances")).toEqual([]);
  }));

it("the definition is the newest version still: the same tasks are no new one, others are the next", () =>
  withOldRows((engine) => {
    const tasks = [
      { type: "a", retries: 3 },
      { type: "b", retries: 2 },
    ];
    engine.ok("acme", "DEPLOYMENT:CREATE", { processId: "p", tasks });
    expect(engine.rows("SELECT version FROM process_definitions")).toEqual([{ version: 1 }]);
    engine.start("acme", "p");
    engine.ok("acme", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "c" }] });
    expect(engine.rows("SELECT version FROM process_definitions ORDER BY 1")).toEqual([{ version: 1 }, { version: 2 }]);
  }));
