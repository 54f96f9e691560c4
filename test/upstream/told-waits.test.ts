import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, advance, again, read, status } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { type Delivery, FUTURE_MS, newBackend, place, upstreamEngine } from "./support.ts";

// A wait that is told with another status than 429 and 503 is its command's alone.

beforeEach(() => {
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const isFirst = ({ body }: Delivery) => body === '{"n":0}';
const ok = () => Response.json({});
const told = (code: number, seconds: string) =>
  new Response(null, { status: code, headers: { "Retry-After": seconds } });

describe("a Retry-After of 70 s", () => {
  test.each([403, 408, 425, 500, 502, 504])("with %i delays its command so long, and no other", async (code) => {
    const backend = newBackend((delivery) => (isFirst(delivery) ? told(code, "70") : ok()));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    const other = await place(engine, 1);
    await settled();
    expect(await read(engine, other.commandId)).toMatchObject({ state: "succeeded" });
    expect(await read(engine, commandId)).toMatchObject({
      state: "queued",
      attempts: 1,
      estimatedWaitSeconds: 70,
      error: { code: `upstream_${code}` },
    });
    expect(await status(engine)).toMatchObject({ upstream: { state: "delivering" }, retrying: 1 });
    backend.answer = ok;
    await advance(engine, 69_999);
    expect(await read(engine, commandId)).toMatchObject({ state: "queued" });
    await advance(engine, 1);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 2 });
  });

  test("is kept over a restart, also where it is longer than any backoff", async () => {
    const backend = newBackend(() => told(403, "3000"));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    await settled();
    await evictDurableObject(engine);
    backend.answer = ok;
    const later = again(engine);
    await status(later);
    await advance(later, 2_999_000);
    expect(backend.deliveries).toHaveLength(1);
    await advance(later, 1_000);
    expect(await read(later, commandId)).toMatchObject({ state: "succeeded" });
  });

  test("that is never over ends in a dead letter, with what the backend said last", async () => {
    newBackend(() => told(403, "1"));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    for (let n = 0; n < 5; n++) await advance(engine, 1_000);
    expect(await read(engine, commandId)).toMatchObject({
      state: "dead",
      attempts: 5,
      error: { code: "upstream_403" },
    });
  });
});

describe("a route's own meaning of a status", () => {
  const find = (code: number) => {
    const backend = newBackend(() => new Response(null, { status: code }));
    return {
      backend,
      find: (engine: Awaited<ReturnType<typeof upstreamEngine>>) => accepted(engine, "ORDER:FIND", {}),
    };
  };

  test("not-now: spends no attempt, however often, and lets others go on", async () => {
    const { backend, find: send } = find(404);
    const engine = await upstreamEngine();
    const { commandId } = await send(engine);
    for (let n = 0; n < 60; n++) await advance(engine, 5_000);
    expect(backend.deliveries.length).toBeGreaterThan(5);
    expect(await read(engine, commandId)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await status(engine)).toMatchObject({ upstream: { state: "delivering" } });
    backend.answer = ok;
    await advance(engine, 60_000);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 1 });
  });

  test("retry and final", async () => {
    const conflict = find(409);
    const engine = await upstreamEngine();
    const retried = await conflict.find(engine);
    await settled();
    expect(await read(engine, retried.commandId)).toMatchObject({ state: "queued", attempts: 1 });
    conflict.backend.answer = () => new Response(null, { status: 500 });
    await advance(engine, 1_000);
    expect(await read(engine, retried.commandId)).toMatchObject({ state: "failed", attempts: 2 });
  });
});
