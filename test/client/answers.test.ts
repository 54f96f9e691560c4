import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAnswer } from "../../src/client/answer.ts";
import { decodeQueue } from "../../src/client/decode.ts";
import { HeadgateError, unwrap } from "../../src/client/index.ts";
import { accepted, CREATE, json, type Play, page, problem, raw, stage, view } from "./support.ts";

// What a server, or something before it, may answer, and what a caller is told of it.

/** One request, one answer. */
async function ask(play: Play, options: object = {}) {
  const { client, time, seen } = stage([play], { retry: false, ...options });
  return { result: await time.settle(client.send(...CREATE, { waitSeconds: 5 })), seen };
}

describe("an answer that is none of Headgate's", () => {
  const problemType = { "Content-Type": "application/problem+json" };
  test.each<[string, Play, number, string]>([
    ["a page with 200", page(200), 200, "not_json"],
    ["a page with 404", page(404), 404, "not_json"],
    ["half a JSON", raw(202, '{"commandId":"1000'), 202, "not_json"],
    ["nothing at all", raw(202, ""), 202, "wrong_shape"],
    ["nothing at all with 500", raw(500, ""), 500, "wrong_shape"],
    ["JSON null", raw(202, "null"), 202, "wrong_shape"],
    ["a list", raw(202, "[]"), 202, "wrong_shape"],
    ["JSON of something else", json(200, { hello: "world" }), 200, "wrong_shape"],
    ["a command that is not one", json(200, { ...view("succeeded"), state: "fine" }), 200, "wrong_shape"],
    ["a 200 with a command that has not ended", json(200, view("queued")), 200, "wrong_shape"],
    ["another command's end", json(200, { ...view("succeeded"), intent: "JOB:FAIL" }), 200, "wrong_shape"],
    ["an acceptance without an id", accepted("", {}), 202, "wrong_shape"],
    ["an error as plain JSON", json(503, { code: "queue_full", detail: "x" }), 503, "wrong_shape"],
    ["a problem that is a list", raw(500, "[]", problemType), 500, "wrong_shape"],
    ["a problem with half a body", raw(500, '{"code":', problemType), 500, "not_json"],
    ["brackets by the million", raw(200, "[".repeat(1_000_000)), 200, "not_json"],
    ["deep JSON", raw(200, "[".repeat(50_000) + "]".repeat(50_000)), 200, "wrong_shape"],
    ["a redirect", raw(302, "", { Location: "https://elsewhere.test/" }), 302, "redirect"],
    ["not modified", () => new Response(null, { status: 304 }), 304, "redirect"],
    ["a redirect as browsers show it", () => ({ status: 0, headers: new Headers(), body: null }), 0, "redirect"],
  ])("%s", async (_label, play, status, why) => {
    const { result, seen } = await ask(play);
    expect(result).toMatchObject({ ok: false, error: { code: "unexpected_answer", status, why, attempts: 1 } });
    if (!result.ok && result.error.code === "unexpected_answer") {
      expect(result.error.bodyStart.length).toBeLessThanOrEqual(200);
    }
    expect(seen).toHaveLength(1);
    expect(seen[0]?.init.redirect).toBe("manual");
  });

  test("10 MB are not read to their end, and the connection is given up", async () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    let sent = 0;
    let cancelled = false;
    const flood: Play = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += chunk.byteLength;
            if (sent > 10 * 1024 * 1024) controller.close();
            else controller.enqueue(chunk);
          },
          cancel: () => {
            cancelled = true;
          },
        }),
      );
    const { result } = await ask(flood);
    expect(result).toMatchObject({ ok: false, error: { code: "unexpected_answer", why: "too_large", status: 200 } });
    expect(cancelled).toBe(true);
    expect(sent).toBeLessThan(9 * 1024 * 1024);
  });

  test("the bound on an answer can be set", async () => {
    const { result } = await ask(accepted(), { answerBytesMax: 20 });
    expect(result).toMatchObject({ ok: false, error: { why: "too_large" } });
  });

  test("whatever bytes come with whatever status, the call ends with a result and throws nothing", () => {
    const headers = fc.dictionary(
      fc.constantFrom("Content-Type", "Retry-After", "RateLimit", "X-Request-Id"),
      fc.string(),
    );
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant('{"code":"queue_full","retryAfterSeconds":-1,"errors":[null,{}]}'),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), text, headers, fc.boolean(), (status, body, given, problemLike) => {
        const all: Record<string, string> = {
          ...given,
          ...(problemLike ? { "Content-Type": "application/problem+json" } : {}),
        };
        const answer = { status, text: body, tooLarge: false, headers: { get: (name: string) => all[name] ?? null } };
        const read = readAnswer(answer, 0, (_status, value) => decodeQueue(value));
        expect(["value", "fault"]).toContain(read.kind);
        if (status >= 300) expect(read.kind).toBe("fault");
        if (read.kind !== "fault" || !("retryAfterSeconds" in read.fault)) return;
        expect(read.fault.retryAfterSeconds ?? 0).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a problem", () => {
  test("is told whole: code, sentence, limits, fields, request", async () => {
    const more = {
      "violated-policies": ["minute", "day"],
      errors: [{ path: "payload.processId", message: "is required" }],
    };
    const { result } = await ask(problem(429, "rate_limited", 9, more));
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: "rate_limited",
        status: 429,
        detail: "no: rate_limited",
        retryAfterSeconds: 9,
        violatedPolicies: ["minute", "day"],
        errors: [{ path: "payload.processId", message: "is required" }],
        requestId: "req-1",
        attempts: 1,
        previous: null,
        commandId: null,
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
  });

  test("of an unknown code keeps its code and says so", async () => {
    const { result } = await ask(problem(418, "teapot"));
    expect(result).toMatchObject({ ok: false, error: { code: "unknown_problem", problemCode: "teapot", status: 418 } });
  });

  test.each(["__proto__", "constructor", "toString"])("with the code %s is an unknown one", async (code) => {
    const { result } = await ask(problem(400, code));
    expect(result).toMatchObject({ ok: false, error: { code: "unknown_problem", problemCode: code } });
  });

  test("can be thrown, with all that is known of it", async () => {
    const { result } = await ask(problem(404, "not_found"));
    expect(() => unwrap(result)).toThrow(HeadgateError);
    try {
      unwrap(result);
    } catch (thrown) {
      expect(thrown).toMatchObject({
        name: "HeadgateError",
        message: "not_found: no: not_found",
        error: { status: 404 },
      });
    }
  });
});

describe("what a success says beside its value", () => {
  test.each<[string, Record<string, string>, object]>([
    ["nothing", {}, { requestId: null, replayed: false, rateLimit: null }],
    ["a request id", { "X-Request-Id": "abc" }, { requestId: "abc" }],
    ["that it was done before", { "Idempotency-Replayed": "true" }, { replayed: true }],
    [
      "one limit",
      { RateLimit: '"requests";r=7;t=3' },
      { rateLimit: { policy: "requests", remaining: 7, resetSeconds: 3 } },
    ],
    [
      "several limits: the tightest",
      { RateLimit: '"day";r=7;t=3, "minute";r=2;t=9, "other";r=2;t=5' },
      { rateLimit: { policy: "minute", remaining: 2, resetSeconds: 9 } },
    ],
    [
      "a limit that never comes back is tighter than one that does",
      { RateLimit: '"day";r=0;t=3, "once";r=0' },
      { rateLimit: { policy: "once", remaining: 0, resetSeconds: null } },
    ],
    ["a header that cannot be read", { RateLimit: "many" }, { rateLimit: null }],
  ])("%s", async (_label, headers, meta) => {
    const body = { commandId: "1", state: "queued", statusUrl: "/", queuedAhead: 0, estimatedWaitSeconds: 0 };
    const { result } = await ask(json(202, body, headers));
    expect(result).toMatchObject({ ok: true, meta: { attempts: 1, ...meta } });
  });
});
