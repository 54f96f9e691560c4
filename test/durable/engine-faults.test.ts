import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, again, CREATE, calls, deployed, type Engine, read, status, submit } from "./support.ts";

// Far from the machine's own time, which sets off alarms: none of these goes off by itself.
const T0 = 4_000_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
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
  // It is logged, each time; not here.
  beforeEach(() => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

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

  test("is not sent again into a full queue: the bound holds for it too", async () => {
    const { engine, commandId } = await poisoned();
    await calls(engine).changeFlow({ bound: 1 });
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(await calls(engine).redrive(commandId)).toBe("full");
    expect(await status(engine)).toMatchObject({ depth: 1, counters: { dead: 1 } });
  });

  test("leaves the list when an operator drops it, and stays dead", async () => {
    const { engine, commandId } = await poisoned();
    expect(await engine.dropDeadLetter(commandId)).toBe(true);
    expect(await engine.dropDeadLetter(commandId)).toBe(false);
    expect(await calls(engine).redrive(commandId)).toBe("not_found");
    expect(await read(engine, commandId)).toMatchObject({ state: "dead" });
  });
});

describe("when a write fails", () => {
  /** Writes of commands fail until this moment of the object's clock. */
  const breakWrites = (engine: Engine, how: string) =>
    runInDurableObject(engine, (_object, { storage: { sql } }) => {
      sql.exec(`CREATE TRIGGER broken BEFORE ${how} BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    });

  test("an acceptance that cannot be written is none, in memory either", async () => {
    const engine = await deployed();
    await engine.pause(true);
    await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await breakWrites(engine, `INSERT ON commands WHEN NEW.accepted_at < ${T0 + 1_000}`);
    await expect(submit(engine, "PROCESS_INSTANCE:CREATE", CREATE)).rejects.toThrow("the writer failed");
    expect(await status(again(engine))).toMatchObject({ depth: 1, counters: { accepted: 2 } });
    vi.setSystemTime(T0 + 1_000);
    await accepted(again(engine), "PROCESS_INSTANCE:CREATE", CREATE);
    await again(engine).resume();
    await vi.waitFor(async () =>
      expect(await status(again(engine))).toMatchObject({ inFlight: 0, counters: { completed: 3 } }),
    );
  });

  test("an end that cannot be written restarts the object, and the command runs when it can be", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await breakWrites(engine, `UPDATE ON commands WHEN coalesce(NEW.finished_at, 0) < ${T0 + 1_000}`);
    // Its caller hears of it, and the resumption that was not committed is none.
    expect(await engine.resume().catch(String)).toContain("the writer failed");
    vi.setSystemTime(T0 + 1_000);
    await again(engine).resume();
    await vi.waitFor(async () => expect(await read(again(engine), commandId)).toMatchObject({ state: "succeeded" }));
    const instances = await runInDurableObject(again(engine), (_object, { storage: { sql } }) =>
      sql.exec("SELECT count(*) AS n FROM process_instances").one(),
    );
    expect(instances).toEqual({ n: 1 });
  });
});
