import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeAnswer, judgeWhole } from "../../../src/core/delivery/answer.ts";
import { HOLD_MS_MAX, HOLD_MS_MIN } from "../../../src/core/delivery/circuit.ts";
import type { RouteStatuses } from "../../../src/core/delivery/statuses.ts";

// What a backend's status means for its command, with and without a Retry-After.

const NOW_MS = Date.UTC(2040, 0, 1);

const judge = (status: number, retryAfter: string | null, statuses: RouteStatuses = {}) =>
  judgeAnswer({ kind: "answered", status, retryAfter, body: { kind: "empty" } }, statuses, NOW_MS);

describe("a status", () => {
  test.each<[number, string, string]>([
    [429, "hold", "hold"],
    [503, "hold", "hold"],
    [400, "failed", "again"],
    [403, "failed", "again"],
    [404, "failed", "again"],
    [408, "failed", "again"],
    [409, "failed", "again"],
    [425, "failed", "again"],
    [302, "again", "again"],
    [500, "again", "again"],
    [501, "again", "again"],
    [502, "again", "again"],
    [504, "again", "again"],
    [599, "again", "again"],
  ])("%i alone is %s, and with a Retry-After %s as told", (status, alone, withTime) => {
    expect(judge(status, null).verdict).toBe(alone);
    expect(judge(status, "7")).toMatchObject({ verdict: withTime, waitMs: 7_000 });
    expect(judge(status, new Date(NOW_MS + 9_000).toUTCString())).toMatchObject({ verdict: withTime, waitMs: 9_000 });
  });

  test.each<[string, number, RouteStatuses, object]>([
    ["409 retry", 409, { 409: "retry" }, { verdict: "again", works: true }],
    ["404 not-now delays its own command", 404, { 404: "not-now" }, { verdict: "delay" }],
    ["503 not-now holds the queue", 503, { 503: "not-now" }, { verdict: "hold" }],
    ["500 final", 500, { 500: "final" }, { verdict: "failed", error: { code: "upstream_500" } }],
    ["429 retry", 429, { 429: "retry" }, { verdict: "again" }],
    ["another status", 404, { 409: "retry" }, { verdict: "again" }],
  ])("means what its route says: %s", (_label, status, statuses, verdict) => {
    expect(judge(status, "7", statuses)).toMatchObject(verdict);
  });

  test("told an absurd wait is within bounds, and told none is the backoff's", () => {
    const absurd = fc.oneof(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.constantFrom(403, 408, 425, 500, 502, 504), absurd, (status, retryAfter) => {
        const verdict = judge(status, retryAfter);
        const waitMs = "waitMs" in verdict ? verdict.waitMs : null;
        if (waitMs === null) return;
        expect(waitMs).toBeGreaterThanOrEqual(HOLD_MS_MIN);
        expect(waitMs).toBeLessThanOrEqual(HOLD_MS_MAX);
      }),
    );
    expect(judge(500, "-5")).toMatchObject({ verdict: "again", waitMs: null });
    expect(judge(403, "0")).toMatchObject({ verdict: "again", waitMs: null });
  });

  test("of a request that is handed on whole is for its caller, who hears of the 4xx itself", () => {
    const body = { kind: "text", value: "no" } as const;
    const result = { kind: "answered", status: 403, retryAfter: "7", body } as const;
    expect(judgeWhole(result, true, NOW_MS)).toMatchObject({
      verdict: "failed",
      result: expect.stringContaining('"status":403'),
    });
  });
});
