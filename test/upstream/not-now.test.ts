import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, advance, again, type Engine, read, status } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { type Backend, FUTURE_MS, newBackend, place, takes, upstreamEngine } from "./support.ts";

// An upstream that says "not now", or nothing at all: what waits, what is spent, and how it comes back.

const T0 = FUTURE_MS;

beforeEach(() => {
  vi.useFakeTimers({ now: T0, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const notNow = (status: 429 | 503, retryAfter?: string) => () =>
  new Response(null, { status, headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter } });

/** When each delivery was made, in seconds from the start. */
const times = ({ deliveries }: Backend) => deliveries.map(({ atMs }) => (atMs - T0) / 1000);

/** Lets time pass, in steps: what is answered in one is gone on with in the next. */
async function seconds(engine: Engine, count: number, step = 1): Promise<void> {
  for (let n = 0; n < count; n += step) await advance(engine, step * 1_000);
}

describe("429 and 503", () => {
  test.each<[string, 429 | 503, string, number]>([
    ["in seconds", 503, "7", 7],
    ["as a date", 429, new Date(T0 + 9_000).toUTCString(), 9],
    ["longer than an hour, which is believed for an hour", 429, "999999999999", 3_600],
  ])("hold the whole queue, told %s, and spend no attempt", async (_label, code, retryAfter, waits) => {
    const backend = newBackend(notNow(code, retryAfter));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    await settled();
    await place(engine, 1);
    await place(engine, 2);
    expect(await status(engine)).toMatchObject({
      upstream: { state: "waiting", resumesInSeconds: waits },
      retrying: 1,
    });
    expect(await read(engine, commandId)).toMatchObject({ state: "queued", attempts: 0 });
    backend.answer = () => Response.json({});
    await advance(engine, waits * 1000 - 1);
    expect(backend.deliveries).toHaveLength(1);
    await advance(engine, 1);
    expect(times(backend)).toEqual([0, waits, waits, waits]);
    expect(await status(engine)).toMatchObject({ upstream: { state: "delivering" }, inFlight: 0 });
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  test.each([
    ["garbage", "soon"],
    ["nothing", undefined],
    ["no time at all", "0"],
  ])("with %s for a time wait longer and longer, up to the most", async (_label, retryAfter) => {
    const backend = newBackend(notNow(503, retryAfter));
    const engine = await upstreamEngine();
    await place(engine, 0);
    await seconds(engine, 600, 5);
    // 0.5 to 1 s, 1 to 2 s, … 30 to 60 s.
    expect(backend.deliveries.length).toBeGreaterThan(14);
    expect(backend.deliveries.length).toBeLessThan(28);
    expect(await status(engine)).toMatchObject({ counters: { dead: 0 }, inFlight: 1 });
  });

  test("let one go first afterwards, and the rest when that one was answered", async () => {
    const backend = newBackend(() => takes(100, notNow(503, "5")));
    const engine = await upstreamEngine();
    for (let n = 0; n < 6; n++) await place(engine, n);
    await advance(engine, 5_099);
    expect(times(backend)).toEqual([0, 0]);
    backend.answer = () => takes(100, () => Response.json({}));
    await advance(engine, 1_000);
    expect(times(backend).slice(2, 6)).toEqual([5.1, 5.2, 5.2, 5.3]);
  });

  test("ten minutes of them spend no attempt and lose nothing", async () => {
    const backend = newBackend(({ atMs }) =>
      atMs < T0 + 600_000 ? notNow(atMs % 2 === 0 ? 503 : 429, "20")() : Response.json({}),
    );
    const engine = await upstreamEngine();
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) ids.push((await place(engine, n)).commandId);
    await seconds(engine, 590, 5);
    expect(await status(engine)).toMatchObject({ inFlight: 40, counters: { completed: 0, dead: 0 } });
    expect((await Promise.all(ids.map((id) => read(engine, id)))).every((view) => view?.attempts === 0)).toBe(true);
    await seconds(engine, 40);
    expect(await status(engine)).toMatchObject({ inFlight: 0, counters: { completed: 40, failed: 0, dead: 0 } });
    expect(new Set(backend.deliveries.map(({ id }) => id)).size).toBe(40);
  });

  test("survive a restart: the upstream is still left alone", async () => {
    const backend = newBackend(notNow(503, "300"));
    const engine = await upstreamEngine();
    await place(engine, 0);
    await settled();
    await evictDurableObject(engine);
    backend.answer = () => Response.json({});
    const later = again(engine);
    expect(await status(later)).toMatchObject({ upstream: { state: "waiting" }, retrying: 1 });
    await settled();
    expect(backend.deliveries).toHaveLength(1);
    await seconds(later, 300, 10);
    expect(await status(later)).toMatchObject({ inFlight: 0, counters: { completed: 1 } });
  });
});

describe("an upstream that is down", () => {
  test("is only probed, each time by another command, and burns nobody's attempts", async () => {
    const backend = newBackend(() => Promise.reject(new TypeError("connection refused")));
    const engine = await upstreamEngine();
    for (let n = 0; n < 100; n++) await place(engine, n);
    await seconds(engine, 1_800, 10);
    // Five failures open it; then probes, a minute apart at the most.
    expect(backend.deliveries.length).toBeLessThan(80);
    expect(await status(engine)).toMatchObject({ inFlight: 100, counters: { dead: 0, completed: 0 } });
    expect((await status(engine)).depth).toBeLessThanOrEqual(100);

    backend.answer = () => Response.json({});
    await seconds(engine, 130, 5);
    expect(await status(engine)).toMatchObject({ inFlight: 0, counters: { completed: 100, dead: 0 } });
  });
});

describe("a restart in the middle of an attempt", () => {
  test("delivers again with the same id, and does not count the attempt that nobody answered", async () => {
    const backend = newBackend(() => new Promise(() => undefined));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    await settled();
    expect(await read(engine, commandId)).toMatchObject({ state: "running" });
    for (let n = 0; n < 8; n++) {
      await evictDurableObject(engine);
      await status(again(engine));
      await settled();
    }
    backend.answer = () => Response.json({});
    await evictDurableObject(engine);
    await status(again(engine));
    await settled();
    expect(backend.deliveries.map(({ id }) => id)).toEqual(new Array(10).fill(commandId));
    expect(await read(again(engine), commandId)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  test("leaves what has ended alone, and delivers the rest in order", async () => {
    const backend = newBackend(({ body }) => (body === '{"n":2}' ? new Promise(() => undefined) : Response.json({})));
    const engine = await upstreamEngine();
    for (let n = 0; n < 5; n++) await place(engine, n);
    await settled();
    await evictDurableObject(engine);
    await status(again(engine));
    await settled();
    const bodies = backend.deliveries.map(({ body }) => JSON.parse(body).n);
    expect(bodies.filter((n) => n !== 2)).toEqual([0, 1, 3, 4]);
    expect(bodies.filter((n) => n === 2)).toHaveLength(2);
    await accepted(again(engine), "ORDER:PLACE", { n: 5 });
  });
});
