import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { QueueStatus } from "../../src/core/queue-status.ts";
import type { Submitted } from "../../src/durable/submission.ts";
import { settled } from "../support/event-loop.ts";
import {
  accepted,
  advance,
  CREATE,
  calls,
  DEPLOY,
  deployed,
  lastToken,
  newEngine,
  read,
  status,
  submit,
} from "./support.ts";

// Far from the machine's own time, which sets off alarms: none of these goes off by itself.
const T0 = 4_000_000_000_000;
const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

function addsUp({ counters, inFlight }: QueueStatus): boolean {
  const { accepted, completed, failed, dead, cancelled, expired } = counters;
  return accepted === completed + failed + dead + cancelled + expired + inFlight;
}

describe("a command's life", () => {
  test("an idle engine runs it at once, and its result can be read by its tenant and by nobody else", async () => {
    const engine = await deployed();
    const view = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(view).toMatchObject({ state: "succeeded", attempts: 1, acceptedAt: new Date(T0).toISOString() });
    expect(await read(engine, view.commandId)).toEqual(view);
    expect(await read(engine, view.commandId, "tenant:other")).toBeNull();
    expect(await read(engine, "1000000000000999")).toBeNull();
    expect(await read(engine, "nonsense")).toBeNull();
  });

  test("what the engine's rules refuse is a failed command with a reason", async () => {
    const view = await accepted(newEngine(), "PROCESS_INSTANCE:CREATE", { processId: "nowhere" });
    expect(view).toMatchObject({ state: "failed", error: { code: "not_found" } });
  });

  test("a caller may hold on until it ends", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const held = read(engine, commandId, "tenant:t", 10_000);
    await engine.resume();
    expect(await held).toMatchObject({ state: "succeeded" });
  });

  test("a hold ends on time when the command does not", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const held = read(engine, commandId, "tenant:t", 10_000);
    await settled();
    await advance(engine, 10_000);
    expect(await held).toMatchObject({ state: "queued", queuedAhead: 0 });
  });

  test("while it is queued it can be cancelled, by its tenant, once", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(await engine.cancel("tenant:other", commandId)).toBe("not_found");
    expect(await engine.cancel("tenant:t", commandId)).toBe("cancelled");
    expect(await engine.cancel("tenant:t", commandId)).toBe("not_queued");
    await engine.resume();
    expect(await read(engine, commandId)).toMatchObject({ state: "cancelled" });
    expect(addsUp(await status(engine))).toBe(true);
  });
});

describe("the bound", () => {
  test("of 1 000 concurrent creates on a paused engine exactly 100 are queued, and critical ones still pass", async () => {
    const engine = await deployed(100);
    const instance = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const activated = await accepted(engine, "JOB:ACTIVATE", { type: "pay" });
    await engine.pause(true);
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)),
    );
    const refused = answers.filter((answer) => answer.kind === "refused");
    expect(answers.length - refused.length).toBe(100);
    for (const answer of refused) expect(answer.problem).toMatchObject({ code: "queue_full", retryAfterSeconds: 30 });
    expect(await status(engine)).toMatchObject({ depth: 100, peakDepth: 100, depthPercent: 100, paused: true });

    const { jobKey } = (JSON.parse(activated.result ?? "{}") as { jobs: { jobKey: string }[] }).jobs[0] ?? {
      jobKey: "",
    };
    await accepted(engine, "JOB:COMPLETE", { jobKey });
    await accepted(engine, "PROCESS_INSTANCE:CANCEL", JSON.parse(instance.result ?? "{}"));
    expect(await status(engine)).toMatchObject({ depth: 100, criticalDepth: 2 });

    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    const after = await status(engine);
    // The completion came first and ended the instance, so the cancellation found nothing left to cancel.
    expect(after.counters).toMatchObject({ accepted: 105, completed: 104, failed: 1, refused: { queue_full: 900 } });
    expect(addsUp(after)).toBe(true);
  });

  test("depth returns to zero after drain and after cancellation", async () => {
    const engine = await deployed(10);
    await engine.pause(true);
    const answers = await Promise.all(
      Array.from({ length: 11 }, () => submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)),
    );
    const taken = answers.flatMap((answer) => (answer.kind === "accepted" ? [answer.command.commandId] : []));
    expect(taken).toHaveLength(10);
    for (const id of taken) await engine.cancel("tenant:t", id);
    expect(await status(engine)).toMatchObject({ depth: 0, inFlight: 0 });
  });

  test("bytes are bounded too", async () => {
    const engine = await deployed(100);
    await engine.changeFlow({ boundBytes: 1024 * 1024 });
    await engine.pause(true);
    const large = { ...CREATE, variables: { text: "x".repeat(600_000) } };
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", large)).kind).toBe("accepted");
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", large)).kind).toBe("refused");
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).kind).toBe("accepted");
  });

  test("a command that no queue of these bounds can hold is told so, not to wait", async () => {
    const engine = await deployed(100, 5_000);
    await calls(engine).changeFlow({ boundBytes: 2_000 });
    const large = { ...CREATE, variables: { text: "x".repeat(3_000) } };
    expect(await submit(engine, "PROCESS_INSTANCE:CREATE", large)).toMatchObject({
      problem: { code: "payload_too_large" },
    });
  });

  test("a refusal leaves every stored row as it was", async () => {
    const engine = await deployed(1);
    await engine.pause(true);
    await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const dump = () =>
      runInDurableObject(engine, (_object, { storage: { sql } }) =>
        JSON.stringify(["commands", "engine_state"].map((table) => sql.exec(`SELECT * FROM ${table}`).toArray())),
      );
    const before = await dump();
    for (let n = 0; n < 1100; n++) await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(await dump()).toBe(before);
  });
});

describe("waiting for room", () => {
  test("a caller that waits is taken in when there is room, in the order of arrival", async () => {
    const engine = await deployed(1, 5_000);
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const first = submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await settled();
    const second = submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await settled();
    await engine.cancel("tenant:t", commandId);
    expect(await first).toMatchObject({ kind: "accepted" });
    await advance(engine, 5_000);
    expect(await second).toMatchObject({ kind: "refused", problem: { code: "queue_full" } });
  });

  test("it is refused at its deadline, and its place is not taken later", async () => {
    const engine = await deployed(1, 5_000);
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    let answer: Submitted | undefined;
    const waiting = submit(engine, "PROCESS_INSTANCE:CREATE", CREATE).then((got) => {
      answer = got;
    });
    await settled();
    await advance(engine, 4_999);
    await settled();
    expect(answer).toBeUndefined();
    await advance(engine, 1);
    await waiting;
    expect(answer).toMatchObject({ kind: "refused" });
    await engine.resume();
    await settled();
    expect((await status(engine)).counters.accepted).toBe(2);
  });

  test("a caller that has gone takes no place", async () => {
    const engine = await deployed(1, 5_000);
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const waiting = submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await settled();
    await engine.abandon(lastToken());
    expect(await waiting).toMatchObject({ kind: "refused" });
    await engine.resume();
    await settled();
    expect((await status(engine)).counters.accepted).toBe(2);
  });

  test("an engine that takes nothing sends them all away", async () => {
    const engine = await deployed(1, 5_000);
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    const waiting = submit(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await settled();
    await engine.pause(false);
    expect(await waiting).toMatchObject({ kind: "refused", problem: { code: "engine_paused" } });
    expect(await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).toMatchObject({
      problem: { code: "engine_paused" },
    });
    expect(await submit(engine, "DEPLOYMENT:CREATE", DEPLOY)).toMatchObject({ kind: "accepted" });
  });
});

describe("pace", () => {
  test("is not told by commands that found the engine idle: they took no time", async () => {
    const engine = await deployed();
    for (let n = 0; n < 50; n++) await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(await status(engine)).toMatchObject({ completedLastMinute: 51, pacePerSecond: null });
  });
});

describe("what has ended", () => {
  test("can be read for a day and is then cleared, and the counters keep it", async () => {
    const engine = await deployed();
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    vi.setSystemTime(T0 + 24 * HOUR_MS - 1);
    await runDurableObjectAlarm(engine);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded" });
    vi.setSystemTime(T0 + 24 * HOUR_MS + 1);
    await runDurableObjectAlarm(engine);
    expect(await read(engine, commandId)).toBeNull();
    await evictDurableObject(engine);
    expect((await status(engine)).counters).toMatchObject({ accepted: 2, completed: 2 });
  });

  test("is cleared though the object slept all the time: each alarm meets a fresh one", async () => {
    const engine = await deployed();
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await evictDurableObject(engine);
    vi.setSystemTime(T0 + 24 * HOUR_MS + 1);
    await runDurableObjectAlarm(engine);
    expect(await read(engine, commandId)).toBeNull();
  });

  test("the broom comes at its hour, however often the object starts again and is given work", async () => {
    const engine = await deployed();
    const planned = () => runInDurableObject(engine, (_object, { storage }) => storage.getAlarm());
    const first = await planned();
    for (let start = 1; start <= 3; start++) {
      vi.setSystemTime(T0 + start * 60_000);
      await evictDurableObject(engine);
      await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    }
    expect(await planned()).toBe(first);
  });

  test("is cleared behind dead letters that nobody has dealt with", async () => {
    const engine = await deployed();
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await runInDurableObject(engine, (_object, { storage: { sql } }) => {
      // The oldest rows, more than one piece of clearing looks at.
      for (let sequence = -600; sequence < 0; sequence++) {
        sql.exec(
          `INSERT INTO commands (sequence, tenant, intent, bytes, weight, state, attempts, accepted_at, finished_at)
           SELECT ?, tenant, intent, bytes, weight, 'dead', 3, 0, 0 FROM commands LIMIT 1`,
          sequence,
        );
        sql.exec("INSERT INTO dead_letters VALUES (?)", sequence);
      }
    });
    vi.setSystemTime(T0 + 24 * HOUR_MS + 1);
    await runDurableObjectAlarm(engine);
    expect(await read(engine, commandId)).toBeNull();
  });

  test("an old command that still waits does not hold the books up", async () => {
    const engine = await deployed();
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    for (let n = 0; n < 1_100; n++) {
      const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
      await engine.cancel("tenant:t", commandId);
    }
    const stragglers = await runInDurableObject(engine, (_object, { storage: { sql } }) =>
      sql.exec("SELECT count(*) AS n FROM stragglers").one(),
    );
    expect(stragglers).toEqual({ n: 1 });
    await evictDurableObject(engine);
    expect(await status(engine)).toMatchObject({ depth: 1, counters: { accepted: 1_102, cancelled: 1_100 } });
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    await evictDurableObject(engine);
    expect((await status(engine)).counters).toMatchObject({ accepted: 1_102, completed: 2, cancelled: 1_100 });
  });

  test("keeps no body on disk", async () => {
    const engine = await deployed();
    await accepted(engine, "PROCESS_INSTANCE:CREATE", { ...CREATE, variables: { text: "x".repeat(10_000) } });
    const bodies = await runInDurableObject(engine, (_object, { storage: { sql } }) =>
      sql.exec("SELECT count(payload) AS n FROM commands").one(),
    );
    expect(bodies).toEqual({ n: 0 });
  });
});
