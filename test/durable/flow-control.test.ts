import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, CREATE, calls, DEPLOY, deployed, type Engine, status, submit } from "./support.ts";

const T0 = 4_000_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: T0 });
});
afterEach(() => {
  vi.useRealTimers();
});

async function limited(limit: number): Promise<Engine> {
  const engine = await deployed(1000);
  expect(await calls(engine).changeFlow({ algorithm: "fixed", parameters: { limit } })).toMatchObject({ ok: true });
  return engine;
}

const limitOf = async (engine: Engine) => (await status(engine)).limit.value;

describe("the limit on what is in flight", () => {
  test("of 100 parallel commands exactly the limit is taken; it is free again after success, failure and cancellation", async () => {
    const engine = await limited(3);
    for (const payload of [CREATE, { processId: "nowhere" }]) {
      await engine.pause(true);
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => submit(engine, "PROCESS_INSTANCE:CREATE", payload)),
      );
      const refused = answers.flatMap((answer) => (answer.kind === "refused" ? [answer.problem] : []));
      expect(refused).toHaveLength(97);
      expect(refused[0]).toMatchObject({ code: "request_limit", retryAfterSeconds: 30 });
      expect(await status(engine)).toMatchObject({ inFlight: 3, peakDepth: 3 });
      await engine.resume();
      await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    }
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await engine.cancel("tenant:t", commandId);
    expect(await status(engine)).toMatchObject({ inFlight: 0 });
  });

  test("never refuses a critical command, and counts it", async () => {
    const engine = await limited(1);
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    for (let n = 0; n < 5; n++) await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY);
    expect(await status(engine)).toMatchObject({ inFlight: 6, criticalDepth: 5, counters: { refused: {} } });
  });

  test("is counted afresh after a restart, and holds for what was there before", async () => {
    const engine = await limited(3);
    await engine.pause(true);
    for (let n = 0; n < 2; n++) await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await evictDurableObject(engine);
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).kind).toBe("accepted");
    expect((await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).kind).toBe("refused");
  });

  test("a change of the limit leaves what is in flight alone", async () => {
    const engine = await limited(10);
    await engine.pause(true);
    for (let n = 0; n < 10; n++) await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await calls(engine).changeFlow({ algorithm: "aimd", parameters: { initialLimit: 2 } });
    expect(await status(engine)).toMatchObject({ inFlight: 10, limit: { algorithm: "aimd", value: 2 } });
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
  });
});

describe("an adaptive limit", () => {
  test("grows with use", async () => {
    const engine = await deployed();
    await calls(engine).changeFlow({ algorithm: "aimd", parameters: { initialLimit: 2 } });
    for (let n = 0; n < 5; n++) await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    // One command at a time is half of two, and not of three.
    expect(await limitOf(engine)).toBe(3);
  });

  test("learns nothing from the time that an operator held the engine still", async () => {
    const engine = await deployed();
    await calls(engine).changeFlow({ algorithm: "aimd", parameters: { requestTimeoutMs: 1000 } });
    await engine.pause(true);
    for (let n = 0; n < 20; n++) await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    vi.setSystemTime(T0 + 60_000);
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    expect(await limitOf(engine)).toBe(200);
  });
});

describe("the limit on writes", () => {
  test("refuses with the time until one fits, and critical writes count without being refused", async () => {
    const engine = await deployed();
    await calls(engine).changeFlow({ writeRate: { perSecond: 2, burst: 3, warmUpSeconds: 0 } });
    const kinds = async (count: number) => {
      const answers = [];
      for (let n = 0; n < count; n++) answers.push((await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).kind);
      return answers;
    };
    expect(await kinds(4)).toEqual(["accepted", "accepted", "accepted", "refused"]);
    expect(await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).toMatchObject({
      problem: { code: "write_limit", retryAfterSeconds: 1 },
      health: { limit: null },
    });
    vi.setSystemTime(T0 + 500);
    await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY);
    expect(await kinds(1)).toEqual(["refused"]);
    vi.setSystemTime(T0 + 1_000);
    expect(await kinds(1)).toEqual(["accepted"]);
  });
});

describe("latencies for the tenant's limiter", () => {
  test("are told some at a time, each once, to the tenant whose commands they are", async () => {
    const engine = await deployed();
    const told: number[] = [];
    for (let n = 0; n < 60; n++) {
      const submitted = await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE, n % 2 === 0 ? "tenant:a" : "tenant:b");
      told.push(submitted.kind === "accepted" ? submitted.latenciesMs.length : -1);
    }
    expect(told.filter((count) => count > 0)).toEqual([20, 20]);
  });
});

describe("what an operator changed", () => {
  test("holds after a restart, parameters and all", async () => {
    const engine = await deployed();
    await calls(engine).changeFlow({ algorithm: "gradient2", parameters: { longWindow: 50 }, bound: 7 });
    await calls(engine).changeFlow({ parameters: { maxLimit: 60 } });
    const before = await engine.flowSettings();
    await evictDurableObject(engine);
    expect(await engine.flowSettings()).toEqual(before);
    expect(before).toMatchObject({ algorithm: "gradient2", bound: 7, parameters: { longWindow: 50, maxLimit: 60 } });
  });

  test("is refused whole when a part of it is wrong", async () => {
    const engine = await deployed();
    const before = await engine.flowSettings();
    const checked = await calls(engine).changeFlow({ bound: 5, algorithm: "vegas", parameters: { alpha: 0 } });
    expect(checked).toMatchObject({ ok: false, faults: [{ path: "parameters.alpha" }] });
    expect(await engine.flowSettings()).toEqual(before);
  });
});
