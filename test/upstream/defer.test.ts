import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { advance, again, calls, type Engine, read, status, submit } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { type Backend, FUTURE_MS, newBackend, takes, upstreamEngine } from "./support.ts";

// OVERFLOW=defer: what comes when there is no room is saved, and taken up when the queue is short again.

beforeEach(() => {
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function send(engine: Engine, n: number, deadlineMs: number | null = null, tenant = "tenant:t") {
  const submitted = await submit(engine, "ORDER:PLACE", { n }, tenant, 1, { deadlineMs });
  if (submitted.kind !== "accepted") throw new Error(JSON.stringify(submitted));
  return submitted;
}

const order = ({ deliveries }: Backend) => deliveries.map(({ body }) => JSON.parse(body).n);
const slow = () => newBackend(() => takes(1_000, () => Response.json({})));

describe("a full queue", () => {
  test("saves what comes for later, without a place, and says how much is ahead", async () => {
    slow();
    const engine = await upstreamEngine(4);
    const sent = [];
    for (let n = 0; n < 9; n++) sent.push(await send(engine, n));
    expect(sent.map(({ deferred }) => deferred)).toEqual([...new Array(6).fill(false), true, true, true]);
    expect(sent.map(({ command }) => command.queuedAhead)).toEqual([undefined, undefined, 0, 1, 2, 3, 4, 5, 6]);
    expect(await status(engine)).toMatchObject({
      depth: 4,
      peakDepth: 4,
      running: 2,
      deferred: 3,
      inFlight: 9,
      counters: { accepted: 9, refused: {} },
    });
    expect(await read(engine, sent[8]?.command.commandId ?? "")).toMatchObject({ state: "queued", queuedAhead: 6 });
  });

  test("saves no more bytes of a tenant than it may have so, and names the limit; another tenant's are saved", async () => {
    slow();
    const engine = await upstreamEngine(1);
    for (let n = 0; n < 3; n++) await send(engine, n);
    const bytes = 30 * 1024 * 1024;
    const large = (tenant: string) => submit(engine, "ORDER:PLACE", {}, tenant, 1, { bytes });
    const kinds = [await large("tenant:t"), await large("tenant:t")].map(({ kind }) => kind);
    expect(kinds).toEqual(["accepted", "accepted"]);
    expect(await large("tenant:t")).toMatchObject({
      kind: "refused",
      problem: { code: "queue_full", detail: expect.stringContaining("TENANT_DEFERRED_BYTES_MAX of 67108864 bytes") },
    });
    expect(await large("tenant:other")).toMatchObject({ kind: "accepted", deferred: true });
    for (let second = 0; second < 6; second++) await advance(engine, 1_000);
    expect(await status(engine)).toMatchObject({ deferred: 0, inFlight: 0 });
  });

  test("takes the saved up when it is below half, oldest first, and leaves the other half to fresh ones", async () => {
    const backend = slow();
    const engine = await upstreamEngine(4);
    for (let n = 0; n < 12; n++) await send(engine, n);
    await settled();
    await advance(engine, 1_000);
    expect(await status(engine)).toMatchObject({ depth: 2, deferred: 6 });
    // Two run each second: half of the queue stays theirs, and what comes fresh is never refused a place.
    expect((await send(engine, 100)).deferred).toBe(false);
    expect((await send(engine, 101)).deferred).toBe(false);
    expect((await send(engine, 102)).deferred).toBe(true);
    for (let second = 0; second < 10; second++) await advance(engine, 1_000);
    expect(await status(engine)).toMatchObject({ depth: 0, deferred: 0, inFlight: 0, peakDepth: 4 });
    expect(new Set(order(backend)).size).toBe(15);
    expect(order(backend).indexOf(100)).toBeLessThan(order(backend).indexOf(11));
  });

  test("keeps the saved over restarts, counts them as accepted, and does each once", async () => {
    const backend = slow();
    const engine = await upstreamEngine(2);
    for (let n = 0; n < 8; n++) await send(engine, n);
    await settled();
    await evictDurableObject(engine);
    const later = again(engine);
    expect(await status(later)).toMatchObject({ deferred: 4, inFlight: 8, counters: { accepted: 8 } });
    for (let second = 0; second < 10; second++) await advance(later, 1_000);
    expect(await status(later)).toMatchObject({ inFlight: 0, counters: { accepted: 8, completed: 8 } });
    // The two that were under way were delivered again, with their ids.
    expect(new Set(order(backend))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
    expect(new Set(backend.deliveries.map(({ id }) => id)).size).toBe(8);
  });

  test("lets a saved one be cancelled, and expires one that nobody waits for any more", async () => {
    const backend = slow();
    const engine = await upstreamEngine(1);
    for (let n = 0; n < 3; n++) await send(engine, n);
    const cancelled = (await send(engine, 3)).command.commandId;
    const late = (await send(engine, 4, 500)).command.commandId;
    expect(await calls(engine).cancel("tenant:t", cancelled)).toBe("cancelled");
    await settled();
    await advance(engine, 500);
    expect(await read(engine, late)).toMatchObject({ state: "expired" });
    expect(await status(engine)).toMatchObject({ deferred: 0, counters: { cancelled: 1, expired: 1 } });
    for (let second = 0; second < 4; second++) await advance(engine, 1_000);
    expect(order(backend)).toEqual([0, 1, 2]);
  });

  test("of a paused engine that takes nothing is refused all the same", async () => {
    slow();
    const engine = await upstreamEngine(1);
    await engine.pause(false);
    const refused = await submit(engine, "ORDER:PLACE", { n: 0 });
    expect(refused).toMatchObject({ kind: "refused", problem: { code: "engine_paused" } });
  });

  test("that empties at once begins what was saved at once, and does not wait to be woken", async () => {
    const backend = newBackend(({ body }) =>
      body === '{"n":0}' ? takes(2_000, () => Response.json({})) : Response.json({}),
    );
    const engine = await upstreamEngine(1);
    await engine.pause(true);
    for (let n = 0; n < 9; n++) await send(engine, n);
    await engine.resume();
    await settled(100);
    expect(order(backend)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await status(engine)).toMatchObject({ running: 1, deferred: 0, depth: 0 });
  });
});
