import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Client, Result } from "../../src/client/index.ts";
import {
  accepted,
  broken,
  CREATE,
  countListeners,
  idle,
  json,
  type Play,
  page,
  problem,
  silent,
  stage,
  succeeded,
} from "./support.ts";

// The shell around the decision, on virtual time: what is sent again, when, and what is left behind.

type Call = (client: Client, signal?: AbortSignal) => Promise<Result<unknown>>;
const calls: Record<string, Call> = {
  "send with a key": (client, signal) => client.send(...CREATE, { signal }),
  "send without a key": (client, signal) => client.send(...CREATE, { signal, idempotencyKey: false }),
  run: (client, signal) => client.run(...CREATE, { signal }),
  command: (client, signal) => client.command("1", { signal }),
  wait: (client, signal) => client.wait("1", { signal }),
  cancel: (client, signal) => client.cancel("1", { signal }),
  check: (client, signal) => client.check({}, { signal }),
  limits: (client, signal) => client.limits({ signal }),
  queue: (client, signal) => client.queue({ signal }),
};
const named = (name: string): Call => calls[name] ?? expect.unreachable(name);

describe("what is tried again", () => {
  const all = Object.keys(calls);
  const safe = all.filter((name) => name !== "send without a key" && name !== "check");
  test.each<[string, Play, readonly string[]]>([
    ["429", problem(429, "rate_limited", 1), all],
    ["503 of Headgate", problem(503, "queue_full", 1), all],
    ["503 of something else", page(503), safe],
    ["500", problem(500, "internal"), safe],
    ["502", page(502), safe],
    ["504", page(504), safe],
    ["a broken connection", broken, safe],
    ["no answer in time", silent, safe],
    ["400", problem(400, "invalid_request"), []],
    ["401", problem(401, "unauthenticated"), []],
    ["404", problem(404, "not_found"), []],
    ["413", problem(413, "payload_too_large"), []],
    ["422 that never fits", problem(422, "cost_exceeds_capacity"), []],
    ["422 another body", problem(422, "idempotency_conflict"), []],
    ["501", page(501), []],
  ])("%s", async (_label, play, repeated) => {
    for (const name of all) {
      const { client, time, seen } = stage([play], { timeoutMs: 1_000, totalMs: 600_000 });
      const result = await time.settle(named(name)(client));
      expect([name, result.ok]).toEqual([name, false]);
      expect([name, seen.length]).toEqual([name, repeated.includes(name) ? 5 : 1]);
      if (!result.ok) expect([name, result.error.attempts]).toEqual([name, seen.length]);
    }
  });

  test("a key that is still being worked on is asked for again, when the server says", async () => {
    const { client, time, seen } = stage([problem(409, "idempotency_in_flight", 3), accepted()]);
    const result = await time.settle(client.send(...CREATE));
    expect(result).toMatchObject({ ok: true, meta: { attempts: 2 } });
    expect((seen[1]?.atMs ?? 0) - (seen[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(3_000);
  });

  test("the last failure is what the call ends with, and the one before is kept", async () => {
    const { client, time } = stage([broken, problem(503, "queue_full", 2)], { retry: { attemptsMax: 2 } });
    expect(await time.settle(client.queue())).toMatchObject({
      ok: false,
      error: {
        code: "queue_full",
        status: 503,
        retryAfterSeconds: 2,
        attempts: 2,
        gaveUp: "attempts",
        requestId: "req-1",
        previous: { code: "network" },
      },
    });
  });

  test("with retry: false each request is made once", async () => {
    const { client, time, seen } = stage([problem(429, "rate_limited", 1)], { retry: false });
    expect(await time.settle(client.queue())).toMatchObject({ ok: false, error: { gaveUp: "attempts" } });
    expect(seen).toHaveLength(1);
  });

  test("a check that says no is an answer, and is not asked again", async () => {
    const no = {
      allowed: false,
      remaining: 0,
      resetSeconds: 9,
      code: "rate_limited",
      retryAfterSeconds: 2,
      violated: ["requests"],
      policies: [],
    };
    const { client, time, seen } = stage([json(200, no)]);
    expect(await time.settle(client.check({ cost: 3, key: "ann" }))).toMatchObject({ ok: true, value: no });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.init.body).toBe('{"cost":3,"key":"ann"}');
  });
});

describe("the same request again", () => {
  const plays: Play[] = [
    problem(429, "rate_limited", 2),
    problem(503, "queue_full", 1),
    problem(409, "idempotency_in_flight", 1),
    problem(500, "internal"),
    page(502),
    broken,
    silent,
  ];
  const script = fc.array(fc.constantFrom(...plays), { maxLength: 4 });

  test("whatever went wrong, every repeat has the same key and the same bytes, and comes no earlier than told", async () => {
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        async (failures, random) => {
          const { client, time, seen } = stage([...failures, accepted()], { random: () => random });
          // A payload that would be written otherwise the second time.
          let n = 0;
          const variables = { toJSON: () => ({ n: n++ }) } as never;
          const result = await time.settle(client.send("PROCESS_INSTANCE:CREATE", { processId: "p", variables }));
          expect(result.ok).toBe(true);
          expect(seen).toHaveLength(failures.length + 1);
          expect(new Set(seen.map(({ init }) => init.headers["idempotency-key"])).size).toBe(1);
          expect(new Set(seen.map(({ init }) => init.body)).size).toBe(1);
          expect(new Set(seen.map(({ url, init }) => `${init.method} ${url}`)).size).toBe(1);
          failures.forEach((failure, at) => {
            const told = failure === plays[0] ? 2_000 : failure === plays[1] || failure === plays[2] ? 1_000 : 0;
            expect((seen[at + 1]?.atMs ?? 0) - (seen[at]?.atMs ?? 0)).toBeGreaterThanOrEqual(told);
          });
          expect(time.pending).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("two calls have two keys, of chance", async () => {
    const { client, time, seen } = stage([accepted()]);
    await time.settle(client.send(...CREATE));
    await time.settle(client.send(...CREATE));
    const [one, other] = seen.map(({ init }) => init.headers["idempotency-key"]);
    expect(one).toMatch(/^"[0-9a-f]{32}"$/);
    expect(other).not.toBe(one);
  });

  test("headers are asked for anew for each try, so that a token can be renewed", async () => {
    let n = 0;
    const headers = async () => ({ authorization: `Bearer ${++n}`, "content-type": "text/plain" });
    const { client, time, seen } = stage([problem(503, "queue_full", 1), accepted()], {
      apiKey: undefined,
      headers,
    } as never);
    await time.settle(client.send(...CREATE));
    expect(seen.map(({ init }) => init.headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
    expect(seen[0]?.init.headers["content-type"]).toBe("application/json");
  });
});

describe("time", () => {
  test("a Retry-After that does not fit fails at once, with the time that was told", async () => {
    const { client, time, seen } = stage([problem(503, "queue_full", 60)]);
    const before = time.nowMs;
    expect(await time.settle(client.send(...CREATE))).toMatchObject({
      ok: false,
      error: { code: "queue_full", retryAfterSeconds: 60, gaveUp: "time", attempts: 1 },
    });
    expect(time.nowMs).toBe(before);
    expect(seen).toHaveLength(1);
  });

  test.each([
    ["the later of body and header counts: header", { "Retry-After": "4" }, 2, 4_000],
    ["the later of body and header counts: body", { "Retry-After": "2" }, 4, 4_000],
    ["a date", { "Retry-After": "Thu, 01 Jan 2026 00:00:07 GMT" }, undefined, 7_000],
    ["a header that cannot be read is none", { "Retry-After": "soon" }, 3, 3_000],
  ])("%s", async (_label, headers, retryAfterSeconds, toldMs) => {
    const body = { code: "queue_full", detail: "full", retryAfterSeconds };
    const { client, time, seen } = stage([
      json(503, body, { "Content-Type": "application/problem+json; charset=utf-8", ...headers }),
      accepted(),
    ]);
    await time.settle(client.send(...CREATE));
    const waited = (seen[1]?.atMs ?? 0) - (seen[0]?.atMs ?? 0);
    expect(waited).toBeGreaterThanOrEqual(toldMs);
    expect(waited).toBeLessThanOrEqual(toldMs * 1.1);
  });

  test("a try that takes too long is really aborted, and the next one is made", async () => {
    const { client, time, seen } = stage([silent, json(200, { tenant: "t", tier: null, policies: [] })]);
    const result = await time.settle(client.limits({ timeoutMs: 700 }));
    expect(result.ok).toBe(true);
    expect(seen[0]?.init.signal.aborted).toBe(true);
    expect((seen[1]?.atMs ?? 0) - (seen[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(700);
  });

  test("a body that drips is bounded by the same time", async () => {
    let cancelled = false;
    const drip: Play = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('{"tenant":')),
          cancel: () => {
            cancelled = true;
          },
        }),
      );
    const { client, time } = stage([drip], { retry: false });
    expect(await time.settle(client.limits())).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(time.pending).toBe(0);
    expect(cancelled).toBe(true);
  });

  test("all tries and waits together end by totalMs, whatever the server does", async () => {
    const plays = [silent, broken, problem(503, "queue_full", 5), problem(429, "rate_limited", 1), page(502)];
    const script = fc.array(fc.constantFrom<Play>(...plays), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.integer({ min: 1, max: 30_000 }),
        fc.constantFrom(...Object.keys(calls)),
        async (failures, totalMs, name) => {
          const { client, time } = stage(failures, { totalMs, timeoutMs: 4_000 });
          const before = time.nowMs;
          const result = await time.settle(named(name)(client));
          expect(result.ok).toBe(false);
          expect(time.nowMs - before).toBeLessThanOrEqual(totalMs);
          expect(time.pending).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("a clock that steps back gives a call no more time and no more tries", async () => {
    const back =
      (play: Play): Play =>
      (seen, time) => {
        time.nowMs -= 3_600_000;
        return play(seen, time);
      };
    const tried = stage([back(page(502))]);
    expect(await tried.time.settle(tried.client.queue())).toMatchObject({ ok: false, error: { gaveUp: "attempts" } });
    expect(tried.seen).toHaveLength(5);
    const told = stage([back(problem(503, "queue_full", 61))]);
    expect(await told.time.settle(told.client.queue())).toMatchObject({ ok: false, error: { gaveUp: "time" } });
  });
});

describe("the budget that calls share", () => {
  test("a hundred calls into an outage make thirty retries, and the others say why they did not", async () => {
    const { client, time, seen } = stage([problem(503, "queue_full", 1)]);
    const results = await time.settle(Promise.all(Array.from({ length: 100 }, () => client.send(...CREATE))));
    expect(seen.length).toBeGreaterThan(100);
    expect(seen.length).toBeLessThanOrEqual(100 + 10 + 20);
    const gaveUp = results.map((result) => (result.ok ? "ok" : result.error.gaveUp));
    expect(new Set(gaveUp)).toEqual(new Set(["budget"]));
  });

  test("what is spent is earned again by first tries, good or bad", async () => {
    const good = json(200, { tenant: "t", tier: null, policies: [] });
    const plays = [broken, broken, good, good, good, broken, broken, good];
    const { client, time } = stage(plays, { retry: { budget: { earnPercent: 20, reserve: 1 } } });
    expect(await time.settle(client.limits())).toMatchObject({ ok: false, error: { gaveUp: "budget", attempts: 2 } });
    for (let n = 0; n < 3; n++) expect((await time.settle(client.limits())).ok).toBe(true);
    expect(await time.settle(client.limits())).toMatchObject({ ok: false, error: { gaveUp: "budget", attempts: 1 } });
    expect(await time.settle(client.limits())).toMatchObject({ ok: true, meta: { attempts: 2 } });
  });

  test("two clients have a budget each", async () => {
    const none = { retry: { budget: { earnPercent: 0, reserve: 1 } } };
    for (const { client, time, seen } of [stage([broken], none), stage([broken], none)]) {
      expect(await time.settle(client.queue())).toMatchObject({ ok: false, error: { gaveUp: "budget" } });
      expect(seen).toHaveLength(2);
    }
  });
});

describe("an abort", () => {
  test.each(Object.keys(calls))("%s: before it begins, nothing is sent", async (name) => {
    const { client, time, seen } = stage([succeeded]);
    const result = await time.settle(named(name)(client, AbortSignal.abort("enough")));
    expect(result).toMatchObject({ ok: false, error: { code: "aborted", cause: "enough", attempts: 0 } });
    expect([seen.length, time.pending]).toEqual([0, 0]);
  });

  test.each(Object.keys(calls))("%s: during a fetch, at once, and the fetch is aborted", async (name) => {
    const { client, time, seen } = stage([silent]);
    const controller = new AbortController();
    const listening = countListeners(controller.signal);
    const result = named(name)(client, controller.signal);
    await idle();
    expect(listening()).toBe(1);
    controller.abort("enough");
    expect(await result).toMatchObject({ ok: false, error: { code: "aborted", cause: "enough", attempts: 1 } });
    expect(seen[0]?.init.signal.aborted).toBe(true);
    expect([listening(), time.pending]).toEqual([0, 0]);
  });

  test.each(Object.keys(calls))(
    "%s: during the wait for the next try, at once, and why it waited is kept",
    async (name) => {
      const { client, time, seen } = stage([problem(429, "rate_limited", 30)]);
      const controller = new AbortController();
      const listening = countListeners(controller.signal);
      const result = named(name)(client, controller.signal);
      await idle();
      expect(time.pending).toBe(1);
      controller.abort("enough");
      expect(await result).toMatchObject({
        ok: false,
        error: { code: "aborted", previous: { code: "rate_limited", retryAfterSeconds: 30 } },
      });
      expect([seen.length, listening(), time.pending]).toEqual([1, 0, 0]);
    },
  );

  test("after the end it has nothing left to do", async () => {
    const { client, time } = stage([problem(503, "queue_full", 1), succeeded]);
    const controller = new AbortController();
    const listening = countListeners(controller.signal);
    await time.settle(client.run(...CREATE, { signal: controller.signal }));
    expect([listening(), time.pending]).toEqual([0, 0]);
  });

  test("while the headers function is still asked, nothing is sent afterwards", async () => {
    let give = (_headers: Record<string, string>) => {};
    const headers = () => new Promise<Record<string, string>>((resolve) => (give = resolve));
    const { client, seen } = stage([succeeded], { apiKey: undefined, headers } as never);
    const controller = new AbortController();
    const result = client.queue({ signal: controller.signal });
    controller.abort();
    expect(await result).toMatchObject({ ok: false, error: { code: "aborted" } });
    give({});
    await idle();
    expect(seen).toHaveLength(0);
  });
});

test("a broken connection is told with the platform's reason", async () => {
  const refused: Play = () => {
    throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
  };
  const { client, time } = stage([refused], { retry: false });
  expect(await time.settle(client.queue())).toMatchObject({
    ok: false,
    error: { code: "network", detail: expect.stringMatching(/fetch failed.*ECONNREFUSED/) },
  });
});

test("what the headers function throws is an error of its own, and not tried again", async () => {
  const headers = () => Promise.reject(new Error("no token"));
  const { client, time, seen } = stage([succeeded], { apiKey: undefined, headers } as never);
  expect(await time.settle(client.queue())).toMatchObject({
    ok: false,
    error: { code: "headers_failed", detail: expect.stringContaining("no token"), gaveUp: "final" },
  });
  expect(seen).toHaveLength(0);
});

test("a connection that breaks in the middle of the body is a broken connection", async () => {
  const chunks = [new TextEncoder().encode('{"commandId":"1",')];
  const half: Play = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          const chunk = chunks.pop();
          if (chunk === undefined) controller.error(new Error("reset"));
          else controller.enqueue(chunk);
        },
      }),
    );
  const { client, time } = stage([half], { retry: false });
  expect(await time.settle(client.command("1"))).toMatchObject({ ok: false, error: { code: "network" } });
});
