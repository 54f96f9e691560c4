import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CommandView } from "../../src/core/command.ts";
import type { Intent } from "../../src/core/intents.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Submitted } from "../../src/durable/admission.ts";
import type { CommandEngine } from "../../src/durable/command-engine.ts";
import type { EngineStatus } from "../../src/durable/engine-status.ts";
import type { Calls } from "../../src/durable/stubs.ts";

const T0 = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
let engines = 0;
let tokens = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Moves the clock on from inside the object: a timer's work must run in the object that set it. */
function advance(object: Engine, ms: number): Promise<unknown> {
  return runInDurableObject(object, () => vi.advanceTimersByTimeAsync(ms));
}

type Engine = DurableObjectStub<CommandEngine>;

function newEngine(): Engine {
  engines += 1;
  return env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.idFromName(`engine:${engines}`));
}

/** The object's methods as the product calls them; the platform's own types give up on recursive JSON. */
function calls(engine: Engine): Calls<CommandEngine> {
  return engine as unknown as Calls<CommandEngine>;
}

async function submit(engine: Engine, intent: Intent, payload: JsonObject, tenant = "tenant:t"): Promise<Submitted> {
  const text = JSON.stringify(payload);
  tokens += 1;
  const token = `token-${tokens}`;
  return await calls(engine).submit({ tenant, intent, payload: text, bytes: text.length, weight: 1, token });
}

async function accepted(engine: Engine, intent: Intent, payload: JsonObject, tenant?: string): Promise<CommandView> {
  const submitted = await submit(engine, intent, payload, tenant);
  if (submitted.kind !== "accepted") throw new Error(`refused: ${JSON.stringify(submitted.problem)}`);
  return submitted.command;
}

async function read(engine: Engine, commandId: string, tenant = "tenant:t", waitMs = 0): Promise<CommandView | null> {
  return await calls(engine).command(tenant, commandId, waitMs);
}

async function status(engine: Engine): Promise<EngineStatus> {
  return await calls(engine).status({});
}

const DEPLOY: JsonObject = { processId: "order", tasks: [{ type: "pay" }] };
const CREATE: JsonObject = { processId: "order" };

async function deployed(bound = 100, enqueueWaitMs = 0): Promise<Engine> {
  const engine = newEngine();
  await engine.changeFlowSettings({ bound, enqueueWaitMs });
  await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY);
  return engine;
}

function addsUp({ counters, inFlight }: EngineStatus): boolean {
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

/** Lets calls that are under way reach the object: turns of the event loop, not time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await scheduler.wait(0);
}

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

    const { jobKey } = (activated.result as { jobs: { jobKey: string }[] }).jobs[0] ?? { jobKey: "" };
    await accepted(engine, "JOB:COMPLETE", { jobKey });
    await accepted(engine, "PROCESS_INSTANCE:CANCEL", instance.result ?? {});
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
    await engine.changeFlowSettings({ boundBytes: 1024 * 1024 });
    await engine.pause(true);
    const large = { ...CREATE, variables: { text: "x".repeat(600_000) } };
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", large)).kind).toBe("accepted");
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", large)).kind).toBe("refused");
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).kind).toBe("accepted");
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
    await engine.abandon(`token-${tokens}`);
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

describe("after a restart", () => {
  test("what was accepted is there, runs once, and the counters still add up", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push((await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE)).commandId);
    await engine.cancel("tenant:t", ids[3] ?? "");
    await evictDurableObject(engine);
    expect(await status(engine)).toMatchObject({ depth: 19, paused: true, counters: { accepted: 21, cancelled: 1 } });
    await engine.resume();
    await evictDurableObject(engine);
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    const instances = await runInDurableObject(engine, (_object, { storage: { sql } }) =>
      sql.exec("SELECT count(*) AS n FROM process_instances").one(),
    );
    expect(instances).toEqual({ n: 19 });
    expect((await status(engine)).counters).toMatchObject({ accepted: 21, completed: 20, cancelled: 1 });
  });

  test("the alarm goes on with the work when nobody calls", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await runInDurableObject(engine, (_object, { storage: { sql } }) => {
      sql.exec("DELETE FROM engine_state WHERE name = 'settings'");
    });
    await evictDurableObject(engine);
    expect(await runDurableObjectAlarm(engine)).toBe(true);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded" });
  });

  test("no key is given out twice", async () => {
    const engine = await deployed();
    const before = (await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE)).commandId;
    await evictDurableObject(engine);
    const after = (await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE)).commandId;
    expect(BigInt(after)).toBeGreaterThan(BigInt(before));
  });

  test("settings that an operator changed still hold", async () => {
    const engine = await deployed(7, 1234);
    await evictDurableObject(engine);
    expect(await engine.flowSettings()).toMatchObject({ bound: 7, enqueueWaitMs: 1234 });
  });

  test("the books are exact over many ends, whatever the mark has passed", async () => {
    const engine = await deployed(5000);
    for (let n = 0; n < 1_250; n++)
      await submit(engine, "PROCESS_INSTANCE:CREATE", n % 5 === 0 ? { processId: "no" } : CREATE);
    const before = await status(engine);
    await evictDurableObject(engine);
    expect((await status(engine)).counters).toEqual(before.counters);
    expect(before.counters).toMatchObject({ accepted: 1_251, completed: 1_001, failed: 250 });
  });
});

describe("a command that trips over a bug", () => {
  async function poisoned(): Promise<{ engine: Engine; commandId: string }> {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await runInDurableObject(engine, (_object, { storage: { sql } }) => {
      sql.exec(`UPDATE commands SET payload = '{"processId":7}' WHERE state = 'queued'`);
    });
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    return { engine, commandId };
  }

  test("is set aside as a dead letter and holds up nobody", async () => {
    const { engine, commandId } = await poisoned();
    expect(await read(engine, commandId)).toMatchObject({ state: "dead", attempts: 3, error: { code: "internal" } });
    expect((await status(engine)).counters).toMatchObject({ accepted: 3, completed: 2, dead: 1 });
    expect(await calls(engine).deadLetters(10, null)).toMatchObject([{ commandId }]);
  });

  test("can be sent again under its own id, also after a restart", async () => {
    const { engine, commandId } = await poisoned();
    await runInDurableObject(engine, (_object, { storage: { sql } }) => {
      sql.exec(`UPDATE commands SET payload = ? WHERE state = 'dead'`, JSON.stringify(CREATE));
    });
    await engine.pause(true);
    await calls(engine).redrive(commandId);
    await evictDurableObject(engine);
    expect(await status(engine)).toMatchObject({ depth: 1, counters: { accepted: 3, completed: 2, dead: 0 } });
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 1 });
    await evictDurableObject(engine);
    expect((await status(engine)).counters).toMatchObject({ accepted: 3, completed: 3, dead: 0 });
  });

  test("leaves the list when an operator drops it, and stays dead", async () => {
    const { engine, commandId } = await poisoned();
    expect(await engine.dropDeadLetter(commandId)).toBe(true);
    expect(await engine.dropDeadLetter(commandId)).toBe(false);
    expect(await calls(engine).redrive(commandId)).toBeNull();
    expect(await read(engine, commandId)).toMatchObject({ state: "dead" });
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

  test("keeps no body on disk", async () => {
    const engine = await deployed();
    await accepted(engine, "PROCESS_INSTANCE:CREATE", { ...CREATE, variables: { text: "x".repeat(10_000) } });
    const bodies = await runInDurableObject(engine, (_object, { storage: { sql } }) =>
      sql.exec("SELECT count(payload) AS n FROM commands").one(),
    );
    expect(bodies).toEqual({ n: 0 });
  });
});
