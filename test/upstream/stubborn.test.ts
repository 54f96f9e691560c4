import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, advance, again, calls, type Engine, read, status, submit } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { type Backend, type Delivery, FUTURE_MS, newBackend, place, takes, upstreamEngine } from "./support.ts";

// Commands that a backend will not have, among others that it takes: they must not stand in the way of these.

beforeEach(() => {
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const number = ({ body }: Delivery): number => JSON.parse(body || "{}").n ?? -1;
const orders = ({ deliveries }: Backend) => deliveries.map(number);
const ok = () => Response.json({});

async function seconds(engine: Engine, count: number, step = 1): Promise<void> {
  for (let n = 0; n < count; n += step) await advance(engine, step * 1_000);
}

describe("many commands that always fail", () => {
  test("do not stop those that do not, nor critical ones, and hold the bound", async () => {
    const backend = newBackend((delivery) => (number(delivery) % 4 === 0 ? new Response(null, { status: 500 }) : ok()));
    const engine = await upstreamEngine(1_000);
    await engine.pause(true);
    for (let n = 0; n < 600; n++) await place(engine, n);
    await engine.resume();
    await seconds(engine, 5);
    const other = await place(engine, 1, "tenant:other");
    const critical = await accepted(engine, "ORDER:CANCEL", { orderId: 1 }, "tenant:other");
    await seconds(engine, 65, 5);
    expect(await read(engine, other.commandId, "tenant:other")).toMatchObject({ state: "succeeded" });
    expect(await read(engine, critical.commandId, "tenant:other")).toMatchObject({ state: "succeeded" });
    expect((await status(engine)).counters.completed).toBe(452);
    // They die at their own pace, and are no outage.
    await seconds(engine, 300, 5);
    expect(await status(engine)).toMatchObject({ inFlight: 0, counters: { dead: 150, completed: 452 } });
    expect(new Set(backend.deliveries.map(({ id }) => id)).size).toBe(602);
  });

  test("keep their places: what waits and what is tried again is never more than the bound", async () => {
    newBackend(() => new Response(null, { status: 500 }));
    const engine = await upstreamEngine(10);
    for (let n = 0; n < 40; n++) await place(engine, n);
    for (let n = 0; n < 20; n++) {
      await seconds(engine, 5, 5);
      const { depth, retrying, running, peakDepth } = await status(engine);
      expect(depth + retrying).toBeLessThanOrEqual(10 + 2);
      expect(running).toBeLessThanOrEqual(2);
      expect(peakDepth).toBeLessThanOrEqual(10);
    }
  });
});

describe("a command to which the backend always says 'not now'", () => {
  test.each([
    ["with a time", { "Retry-After": "5" }],
    ["without one", {}],
  ])("%s holds the line once, and then waits by itself", async (_label, headers) => {
    const backend = newBackend((delivery) =>
      number(delivery) === 0 ? new Response(null, { status: 503, headers }) : takes(20, ok),
    );
    const engine = await upstreamEngine(1_000);
    const { commandId } = await place(engine, 0);
    await seconds(engine, 6);
    for (let n = 1; n <= 400; n++) await place(engine, n);
    await seconds(engine, 20);
    expect(await status(engine)).toMatchObject({ inFlight: 1, counters: { completed: 400 } });
    expect(orders(backend).filter((n) => n === 0).length).toBeLessThan(10);
    expect(await read(engine, commandId)).toMatchObject({ state: "queued", attempts: 0 });
  });
});

describe("a slow attempt", () => {
  test("that was under way when the line was held is no probe: the next one begins on time", async () => {
    const backend = newBackend((delivery) => {
      if (number(delivery) === 0) return takes(9_000, ok);
      return number(delivery) === 1 ? new Response(null, { status: 429, headers: { "Retry-After": "1" } }) : ok();
    });
    const engine = await upstreamEngine();
    await place(engine, 0);
    await place(engine, 1);
    await settled();
    await place(engine, 2);
    await seconds(engine, 2);
    expect(orders(backend)).toContain(2);
  });
});

describe("a no whose words break off", () => {
  const half = (status: number, headers: Record<string, string>) => () =>
    new Response(new ReadableStream({ start: (stream) => stream.error(new Error("reset")) }), { status, headers });

  test("is a no: 503 holds, and another 4xx has failed", async () => {
    const backend = newBackend(half(503, { "Retry-After": "60" }));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    await settled();
    expect(await status(engine)).toMatchObject({ upstream: { state: "waiting", resumesInSeconds: 60 } });
    backend.answer = half(422, {});
    await seconds(engine, 60, 10);
    expect(await read(engine, commandId)).toMatchObject({ state: "failed", error: { code: "upstream_422" } });
  });
});

describe("a yes that is more than can be kept", () => {
  const deep = `${"[".repeat(70)}${"]".repeat(70)}`;
  test.each([
    ["too deep", deep, "application/json", { omitted: expect.stringContaining("64") }],
    ["a JSON document a line", '{"a":1}\n{"a":2}', "application/x-ndjson", { text: '{"a":1}\n{"a":2}' }],
    ["white space", " \n", "application/json", {}],
    [
      "larger than a row when it is written as JSON",
      "\u0001".repeat(200_000),
      "text/plain",
      { omitted: expect.any(String) },
    ],
  ])("%s is a yes all the same", async (_label, body, type, result) => {
    newBackend(() => new Response(body, { headers: { "Content-Type": type } }));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 0);
    await settled();
    const view = await read(engine, commandId);
    expect(view).toMatchObject({ state: "succeeded", attempts: 1 });
    expect(JSON.parse(view?.result ?? "null")).toEqual(result);
  });
});

describe("a command that there is no way for any more", () => {
  test.each([
    ["its intent is not declared", "ORDER:GONE", {}],
    ["its payload does not fill the path", "ORDER:CANCEL", { id: 7 }],
  ])("%s: is dead at once, and nobody else waits for it", async (_label, intent, payload) => {
    const backend = newBackend();
    const engine = await upstreamEngine();
    const submitted = await submit(engine, intent, payload);
    if (submitted.kind !== "accepted") throw new Error(submitted.kind);
    await settled();
    const { commandId } = submitted.command;
    expect(await read(engine, commandId)).toMatchObject({ state: "dead", error: { code: "upstream_no_route" } });
    expect(await status(engine)).toMatchObject({ upstream: { state: "delivering" } });
    expect(backend.deliveries).toEqual([]);
  });
});

describe("a deadline between two attempts", () => {
  test("is kept though nobody asks", async () => {
    const backend = newBackend(() => new Response(null, { status: 429, headers: { "Retry-After": "3" } }));
    const engine = await upstreamEngine();
    const submitted = await submit(engine, "ORDER:PLACE", {}, "tenant:t", 1, { deadlineMs: 1_000 });
    if (submitted.kind !== "accepted") throw new Error(submitted.kind);
    await settled();
    await advance(engine, 4_000);
    expect(backend.deliveries).toHaveLength(1);
    expect(await read(engine, submitted.command.commandId)).toMatchObject({ state: "expired" });
  });
});

describe("an operator's resume", () => {
  test("asks an upstream again that wanted to be left alone for an hour", async () => {
    const backend = newBackend(() => new Response(null, { status: 503, headers: { "Retry-After": "3600" } }));
    const engine = await upstreamEngine();
    await place(engine, 0);
    await settled();
    backend.answer = ok;
    await evictDurableObject(engine);
    await again(engine).resume();
    await settled();
    expect(await status(again(engine))).toMatchObject({ inFlight: 0, counters: { completed: 1 } });
  });
});

describe("a repeat of a command with a long answer", () => {
  test("is told the same, word for word, though the answer is not kept a second time", async () => {
    newBackend(() => new Response('"'.repeat(250_000), { headers: { "Content-Type": "text/plain" } }));
    const engine = await upstreamEngine();
    const idempotency = { key: "k", fingerprint: "f" };
    const send = () => submit(engine, "ORDER:PLACE", {}, "tenant:t", 1, { idempotency, waitMs: 30_000 });
    const first = await send();
    if (first.kind !== "accepted") throw new Error(first.kind);
    const command = await calls(engine).firstAnswer("tenant:t", first.command.commandId, 30_000, "held", "k");
    expect(JSON.stringify(command).length).toBeGreaterThan(500_000);
    expect(await send()).toMatchObject({ kind: "repeated", answer: { told: "ended", command } });
  });
});
