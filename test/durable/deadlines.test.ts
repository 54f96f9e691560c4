import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { settled } from "../support/event-loop.ts";
import { advance, again, CREATE, deployed, type Engine, read, status, submit } from "./support.ts";

// What nobody waits for any more is expired, and not executed.

const T0 = Date.UTC(2040, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ now: T0, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function create(engine: Engine, deadlineMs: number | null): Promise<string> {
  const submitted = await submit(engine, "PROCESS_INSTANCE:CREATE", CREATE, undefined, 1, { deadlineMs });
  if (submitted.kind !== "accepted") throw new Error(submitted.kind);
  return submitted.command.commandId;
}

describe("a deadline", () => {
  test("that passes while the command waits ends it, answers who waits for it, and frees its place", async () => {
    const engine = await deployed(2);
    await engine.pause(true);
    const late = await create(engine, 5_000);
    await create(engine, null);
    const held = read(engine, late, undefined, 60_000);
    await settled();
    await advance(engine, 4_999);
    expect((await status(engine)).depth).toBe(2);
    await advance(engine, 1);
    expect(await held).toMatchObject({ state: "expired", attempts: 0, error: { code: "deadline_exceeded" } });
    expect(await status(engine)).toMatchObject({ depth: 1, inFlight: 1, counters: { expired: 1 } });
    await create(engine, null);
    await engine.resume();
    expect(await status(engine)).toMatchObject({ inFlight: 0, counters: { accepted: 4, completed: 3, expired: 1 } });
  });

  test("that does not pass changes nothing", async () => {
    const engine = await deployed();
    const inTime = await create(engine, 5_000);
    await advance(engine, 60_000);
    expect(await read(engine, inTime)).toMatchObject({ state: "succeeded" });
    expect((await status(engine)).counters.expired).toBe(0);
  });

  test("holds over a restart, also while nobody calls", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const late = await create(engine, 5_000);
    const later = await create(engine, 50_000);
    await evictDurableObject(engine);
    vi.setSystemTime(T0 + 10_000);
    expect(await read(again(engine), late)).toMatchObject({ state: "expired" });
    expect(await read(again(engine), later)).toMatchObject({ state: "queued" });
    await again(engine).resume();
    expect(await read(again(engine), later)).toMatchObject({ state: "succeeded" });
  });

  test("of a command that was cancelled is forgotten", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const id = await create(engine, 5_000);
    expect(await engine.cancel("tenant:t", id)).toBe("cancelled");
    await advance(engine, 10_000);
    expect(await read(engine, id)).toMatchObject({ state: "cancelled" });
    expect((await status(engine)).counters).toMatchObject({ cancelled: 1, expired: 0 });
  });
});
