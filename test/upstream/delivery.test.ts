import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { accepted, advance, calls, read, status, submit } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { FUTURE_MS, newBackend, place, takes, upstreamEngine } from "./support.ts";

const T0 = FUTURE_MS;

beforeEach(() => {
  vi.useFakeTimers({ now: T0, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a delivery", () => {
  test("carries the payload, whose it is, and one id; and what the backend says is the result", async () => {
    const backend = newBackend(() => Response.json({ orderId: "o-1" }));
    const engine = await upstreamEngine();
    const { commandId } = await accepted(engine, "ORDER:PLACE", { n: 1 }, "tenant:ann smith");
    await settled();
    const [delivery] = backend.deliveries;
    expect(delivery).toMatchObject({
      method: "POST",
      url: "http://upstream.test/api/orders",
      body: '{"n":1}',
      id: commandId,
    });
    expect(Object.fromEntries(delivery?.headers ?? [])).toEqual({
      authorization: "Bearer of-the-backend",
      "content-type": "application/json",
      "idempotency-key": commandId,
      "x-headgate-attempt": "1",
      "x-headgate-command-id": commandId,
      "x-headgate-intent": "ORDER:PLACE",
      "x-headgate-tenant": "ann%20smith",
    });
    expect(await read(engine, commandId, "tenant:ann smith")).toMatchObject({
      state: "succeeded",
      attempts: 1,
      result: '{"orderId":"o-1"}',
    });
  });

  test("hands on the headers that are listed, and fills the path from the payload", async () => {
    const backend = newBackend();
    const engine = await upstreamEngine();
    await submit(engine, "ORDER:CANCEL", { orderId: "a/b ?" }, "tenant:t", 1, { headers: { traceparent: "00-1" } });
    await settled();
    expect(backend.deliveries[0]).toMatchObject({
      method: "DELETE",
      url: "http://upstream.test/api/orders/a%2Fb%20%3F",
    });
    expect(backend.deliveries[0]?.headers.get("traceparent")).toBe("00-1");
  });

  test("of an intent of the cluster's surface goes where its row says", async () => {
    const backend = newBackend();
    await accepted(await upstreamEngine(), "JOB:COMPLETE", { jobKey: "7" });
    await settled();
    expect(backend.deliveries[0]?.url).toBe("http://upstream.test/api/v2/jobs/7/completion");
  });

  test("begins when the one before has ended, so many at a time, critical ones first", async () => {
    const backend = newBackend(() => takes(1_000, () => new Response(null, { status: 204 })));
    const engine = await upstreamEngine();
    for (let n = 0; n < 4; n++) await place(engine, n);
    await accepted(engine, "ORDER:CANCEL", { orderId: 9 });
    await settled();
    expect(await status(engine)).toMatchObject({ running: 2, depth: 2, criticalDepth: 1, inFlight: 5 });
    await advance(engine, 1_000);
    await advance(engine, 1_000);
    await advance(engine, 1_000);
    expect(backend.deliveries.map(({ method, body }) => body || method)).toEqual([
      '{"n":0}',
      '{"n":1}',
      '{"orderId":9}',
      '{"n":2}',
      '{"n":3}',
    ]);
    expect(await status(engine)).toMatchObject({ running: 0, inFlight: 0, counters: { accepted: 5, completed: 5 } });
  });
});

describe("what the upstream answers", () => {
  const page = () => new Response("<html>", { headers: { "Content-Type": "text/html; charset=utf-8" } });
  const broken = () => new Response("{", { headers: { "Content-Type": "application/json" } });
  const endless = () =>
    new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(64 * 1024)) }));
  const cut = () =>
    new Response(
      new ReadableStream({
        start: (stream) => {
          stream.enqueue(new Uint8Array([123]));
          stream.error(new Error("connection reset"));
        },
      }),
    );

  test.each<[string, () => Response, object]>([
    ["JSON that is no object", () => Response.json([1]), { state: "succeeded", result: '{"value":[1]}' }],
    ["nothing", () => new Response(null, { status: 204 }), { state: "succeeded", result: "{}" }],
    ["plain text", () => new Response("ok"), { state: "succeeded", result: '{"text":"ok"}' }],
    [
      "more than is read",
      endless,
      { state: "succeeded", result: '{"omitted":"the answer has more than 262144 bytes"}' },
    ],
    [
      "no, by its rules",
      () => Response.json({ detail: "no such order" }, { status: 404 }),
      { state: "failed", attempts: 1, error: { code: "upstream_404", message: "answered 404: no such order" } },
    ],
  ])("%s ends it", async (_label, answer, view) => {
    newBackend(answer);
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 1);
    await settled();
    expect(await read(engine, commandId)).toMatchObject(view);
  });

  test.each<[string, () => Response | Promise<Response>, string]>([
    ["no connection", () => Promise.reject(new TypeError("connection refused")), "upstream_unreachable"],
    ["an answer that breaks off", cut, "upstream_unreachable"],
    ["a fault of its own", () => Response.json({ error: "oops" }, { status: 500 }), "upstream_500"],
    ["a redirect", () => new Response(null, { status: 301, headers: { Location: "/x" } }), "upstream_301"],
    ["a page for people", page, "upstream_nonsense"],
    ["broken JSON", broken, "upstream_nonsense"],
  ])("%s spends an attempt, and the next one has the same id", async (_label, answer, code) => {
    const backend = newBackend(answer);
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 1);
    await settled();
    expect(await read(engine, commandId)).toMatchObject({ state: "queued", attempts: 1, error: { code } });
    expect(await status(engine)).toMatchObject({ retrying: 1, depth: 0, inFlight: 1 });
    backend.answer = () => Response.json({});
    await advance(engine, 1_000);
    const { state, attempts, error } = (await read(engine, commandId)) ?? {};
    expect({ state, attempts, error }).toEqual({ state: "succeeded", attempts: 2, error: undefined });
    expect(backend.deliveries.map(({ id }) => id)).toEqual([commandId, commandId]);
    expect(backend.deliveries.map(({ headers }) => headers.get("X-Headgate-Attempt"))).toEqual(["1", "2"]);
  });

  test("nothing in time is aborted, and spends an attempt", async () => {
    let gone = false;
    const backend = newBackend((_delivery, signal) => {
      signal.addEventListener("abort", () => {
        gone = true;
      });
      return new Promise(() => undefined);
    });
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 1);
    await settled();
    await advance(engine, 9_999);
    expect(gone).toBe(false);
    backend.answer = () => Response.json({});
    await advance(engine, 1);
    expect(gone).toBe(true);
    expect(await read(engine, commandId)).toMatchObject({ attempts: 1, error: { code: "upstream_timeout" } });
    await advance(engine, 1_000);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 2 });
  });
});

describe("a command that keeps failing", () => {
  test("is a dead letter after so many attempts, with its owner, and can be sent again under its id", async () => {
    const backend = newBackend(() => new Response("down", { status: 500 }));
    const engine = await upstreamEngine();
    const { commandId } = await place(engine, 1);
    for (let second = 0; second < 120; second++) await advance(engine, 1_000);
    expect(backend.deliveries).toHaveLength(5);
    expect(await calls(engine).deadLetters(10, null)).toMatchObject([
      { commandId, tenant: "t", state: "dead", attempts: 5, error: { message: "answered 500: down" } },
    ]);
    expect(await calls(engine).redrive("1000000000000099")).toBe("not_found");

    backend.answer = () => Response.json({});
    await calls(engine).redrive(commandId);
    await advance(engine, 60_000);
    expect(await read(engine, commandId)).toMatchObject({ state: "succeeded", attempts: 1 });
    expect(new Set(backend.deliveries.map(({ id }) => id))).toEqual(new Set([commandId]));
    expect(await calls(engine).redrive(commandId)).toBe("not_found");
    expect(await calls(engine).deadLetter(commandId)).toBe("not_dead");
  });

  test("does not hold up the others", async () => {
    newBackend(({ body }) => (body === '{"n":0}' ? new Response(null, { status: 500 }) : Response.json({})));
    const engine = await upstreamEngine();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await place(engine, n)).commandId);
    await settled();
    const states = await Promise.all(ids.map(async (id) => (await read(engine, id))?.state));
    expect(states).toEqual(["queued", "succeeded", "succeeded", "succeeded", "succeeded"]);
  });
});
