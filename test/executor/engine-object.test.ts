/** Models behind the queue: timers that nobody calls, pauses, restarts in the middle, and many instances to the end. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { BURST_STEPS, SHARED_STEPS_PER_MS } from "../../src/core/work-shares.ts";
import { stepsSpent } from "../../src/executor/embedded/spent.ts";
import { accepted, advance, again, type Engine, newEngine } from "../durable/support.ts";
import { end, flow, processOf, start, task } from "./bpmn/documents.ts";

// Far from the machine's own time, which sets off alarms: none of these goes off by itself.
const T0 = 4_000_000_000_000;
const SECOND = 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

const pause = (iso: string) =>
  `<bpmn:intermediateCatchEvent id="t"><bpmn:timerEventDefinition><bpmn:timeDuration>${iso}</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>`;

const PAUSED = processOf(`${start}${flow("f1", "s", "t")}${pause("PT10S")}${flow("f2", "t", "e")}${end}`);

async function deployed(xml: string): Promise<Engine> {
  const engine = newEngine();
  await engine.changeFlow({ bound: 5000, algorithm: "none" });
  const { result, error } = await accepted(engine, "DEPLOYMENT:CREATE", {
    resources: [{ name: "p.bpmn", content: xml }],
  });
  expect([error, JSON.parse(result ?? "{}")]).toMatchObject([
    undefined,
    { deployments: [{ processDefinitionId: "p" }] },
  ]);
  return engine;
}

const create = (engine: Engine) => accepted(engine, "PROCESS_INSTANCE:CREATE", { processId: "p" });

function states(engine: Engine): Promise<string[]> {
  return runInDurableObject(engine, (_object, { storage: { sql } }) =>
    sql
      .exec<{ state: string }>("SELECT state FROM process_instances")
      .toArray()
      .map(({ state }) => state),
  );
}

describe("a timer", () => {
  test("goes off when nobody calls, and not before", async () => {
    const engine = await deployed(PAUSED);
    await create(engine);
    await advance(engine, 10 * SECOND - 1);
    expect(await states(engine)).toEqual(["active"]);
    await advance(engine, 1);
    expect(await states(engine)).toEqual(["completed"]);
  });

  test("goes off by the alarm when the object has lost its memory, which was set for it", async () => {
    const engine = await deployed(PAUSED);
    await create(engine);
    const alarm = await runInDurableObject(engine, (_object, { storage }) => storage.getAlarm());
    expect(alarm).toBe(T0 + 10 * SECOND);
    await evictDurableObject(engine);
    vi.setSystemTime(T0 + 10 * SECOND);
    expect(await runDurableObjectAlarm(again(engine))).toBe(true);
    expect(await states(again(engine))).toEqual(["completed"]);
  });

  test("does not go off while the engine is paused, and does when it resumes", async () => {
    const engine = await deployed(PAUSED);
    await create(engine);
    await engine.pause(true);
    await advance(engine, 60 * SECOND);
    expect(await states(engine)).toEqual(["active"]);
    await engine.resume();
    expect(await states(engine)).toEqual(["completed"]);
  });

  test("that trips over a bug of ours holds up nobody, and is tried again later", async () => {
    const engine = await deployed(PAUSED);
    await create(engine);
    await create(engine);
    const breaks =
      "CREATE TRIGGER bug BEFORE UPDATE OF state ON process_instances WHEN new.seq = (SELECT min(seq) FROM process_instances) BEGIN SELECT RAISE(ABORT, 'bug'); END";
    await runInDurableObject(engine, (_object, { storage: { sql } }) => void sql.exec(breaks));
    await advance(engine, 10 * SECOND);
    expect(await states(engine)).toEqual(["active", "completed"]);
    await runInDurableObject(engine, (_object, { storage: { sql } }) => void sql.exec("DROP TRIGGER bug"));
    vi.setSystemTime(T0 + 70 * SECOND);
    await runDurableObjectAlarm(engine);
    expect(await states(engine)).toEqual(["completed", "completed"]);
  });

  test("of very many instances all go off, in turns that leave room for others", async () => {
    const engine = await deployed(PAUSED);
    for (let n = 0; n < 150; n++) await create(engine);
    await advance(engine, 10 * SECOND);
    for (let turn = 0; turn < 50; turn++) await advance(engine, 10);
    expect(new Set(await states(engine))).toEqual(new Set(["completed"]));
  });
});

describe("timers are at their tenant's expense", () => {
  /** Each turn of its loop evaluates some 15 million steps. */
  const COSTLY = processOf(
    [
      `${start}${flow("f1", "s", "t")}${pause("PT1S")}${flow("f2", "t", "g")}`,
      `<bpmn:exclusiveGateway id="g" default="f4"/>`,
      `<bpmn:sequenceFlow id="f3" sourceRef="g" targetRef="t"><bpmn:conditionExpression>`,
      `=string length(string(for i in 1..20000 return "${"x".repeat(20)}")) &gt; 0 and (for i in 1..60000 return i * i)[1] = 1`,
      `</bpmn:conditionExpression></bpmn:sequenceFlow>${flow("f4", "g", "e")}${end}`,
    ].join(""),
  );
  const SECONDS = 5;

  async function flooded(): Promise<Engine> {
    const engine = await deployed(PAUSED);
    const { error } = await accepted(
      engine,
      "DEPLOYMENT:CREATE",
      { resources: [{ name: "p.bpmn", content: COSTLY }] },
      "tenant:costly",
    );
    expect(error).toBeUndefined();
    for (let n = 0; n < 50; n++) {
      await accepted(engine, "PROCESS_INSTANCE:CREATE", { processId: "p" }, "tenant:costly");
    }
    return engine;
  }

  test("one tenant's loops take no more than the share that timers have", { timeout: 60_000 }, async () => {
    const engine = await flooded();
    const before = stepsSpent();
    for (let ms = 0; ms < SECONDS * SECOND; ms += 50) await advance(engine, 50);
    const most = SECONDS * SECOND * SHARED_STEPS_PER_MS + BURST_STEPS + 2 * 20_000_000;
    expect(stepsSpent() - before).toBeGreaterThan(most / 4);
    expect(stepsSpent() - before).toBeLessThan(most);
  });

  test("another tenant's timer goes off at its time, also when the object has lost its memory", async () => {
    let engine = await flooded();
    await create(engine);
    vi.setSystemTime(T0 + 10 * SECOND - 1);
    await evictDurableObject(engine);
    engine = again(engine);
    await runDurableObjectAlarm(engine);
    await advance(engine, 1);
    await advance(engine, 1);
    expect(await states(engine)).toContain("completed");
  });
});

const ids = ["x1", "x2", "x3", "x4", "x5"];
const FIVE = processOf(
  [start, ...ids.map((id, n) => flow(`f${n}`, ids[n - 1] ?? "s", id) + task(id)), flow("f5", "x5", "e"), end].join(""),
);

function keysOf(result: string | undefined): string[] {
  const { jobs = [] }: { jobs?: JsonObject[] } = JSON.parse(result ?? "{}");
  return jobs.map((job) => String(job.jobKey));
}

test("1 000 instances of five tasks run to the end, over restarts in the middle", { timeout: 60_000 }, async () => {
  let engine = await deployed(FIVE);
  for (let n = 0; n < 1000; n += 50) {
    await Promise.all(Array.from({ length: 50 }, () => create(engine)));
  }
  let completed = 0;
  for (let turn = 0; completed < 5000; turn++) {
    const { result } = await accepted(engine, "JOB:ACTIVATE", { type: "work", maxJobs: 100, details: true });
    const jobs = keysOf(result);
    expect(jobs.length).toBeGreaterThan(0);
    const ends = await Promise.all(jobs.map((jobKey) => accepted(engine, "JOB:COMPLETE", { jobKey })));
    completed += ends.length;
    if (turn % 15 === 7) {
      await evictDurableObject(engine);
      engine = again(engine);
      // The answer of the last one may have been lost: its client asks again.
      const repeated = await accepted(engine, "JOB:COMPLETE", { jobKey: jobs.at(-1) ?? "" });
      expect(repeated.state).toBe("succeeded");
    }
  }
  await vi.waitFor(async () => expect(new Set(await states(engine))).toEqual(new Set(["completed"])));
  expect(await states(engine)).toHaveLength(1000);
});
