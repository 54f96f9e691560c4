import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileLimits, type Decision, decide } from "../../src/core/limiter.ts";
import type { Meter } from "../../src/core/meter.ts";
import { type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";
import { parseLimitHeader, serviceLimits, writeLimitHeader } from "../../src/core/rate-headers.ts";
import { Edge, ObjectSide, T0 } from "./lease-world.ts";

// What `RateLimit` and `Retry-After` tell a refused caller, over random policies of all types.

const bucket = fc
  .record({ tokens: fc.nat(40), perSeconds: fc.integer({ min: 1, max: 100 }), burst: fc.integer({ min: 1, max: 50 }) })
  .map(({ tokens, perSeconds, burst }): Policy => tokenBucketPolicy({ tokens, perSeconds }, burst));
const window = fc
  .record({
    type: fc.constantFrom("fixed-window" as const, "sliding-window" as const),
    limit: fc.integer({ min: 1, max: 50 }),
    windowSeconds: fc.integer({ min: 1, max: 100 }),
  })
  .map((one): Policy => ({ ...one, name: "w", scope: "tenant" }));
const policies = fc
  .array(fc.oneof(bucket, window), { minLength: 1, maxLength: 4 })
  .map((all) => all.map((policy, n): Policy => ({ ...policy, name: `p${n}` })));
const steps = fc.array(fc.tuple(fc.nat(3_000), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 40 });

/** The times of the header as a client reads them, by the name of the limit. */
function timesOf(decision: Decision): Map<string, number | undefined> {
  const limits = parseLimitHeader(writeLimitHeader(serviceLimits(decision)));
  return new Map((limits ?? []).map(({ name, t }) => [name, t]));
}

type Refusal = Decision & { outcome: "rate_limited" };

/** Holds for every refusal, wherever it is decided. */
function expectAgreement(refused: Refusal): void {
  const times = timesOf(refused);
  const ofViolated = refused.violated.map((name) => times.get(name) ?? 0);
  for (const seconds of ofViolated) expect(seconds).toBeGreaterThanOrEqual(1);
  expect(refused.retryAfterSeconds).toBe(Math.max(...ofViolated));
  const others = refused.reports.filter(({ name }) => !refused.violated.includes(name));
  for (const { name, resetSeconds } of others) expect(times.get(name)).toBe(resetSeconds ?? undefined);
}

describe("on a refusal `t` of a limit that refused is the time until this cost fits it", () => {
  test("an empty bucket of 10 at 1 in 6 s: one token fits in 6 s, all of it is back in 60 s", () => {
    const limits = compileLimits({ version: 1, policies: [tokenBucketPolicy({ tokens: 1, perSeconds: 6 }, 10)] });
    const { next } = decide(new Map(), limits, 10, T0);
    const { decision } = decide(next, limits, 1, T0);
    expect(decision).toMatchObject({ retryAfterSeconds: 6, reports: [{ resetSeconds: 60 }] });
    expect(writeLimitHeader(serviceLimits(decision))).toBe('"requests";r=0;t=6');
  });

  test("a token that comes in 10 ms is a whole second away", () => {
    const limits = compileLimits({ version: 1, policies: [tokenBucketPolicy({ tokens: 100, perSeconds: 1 }, 10)] });
    const { next } = decide(new Map(), limits, 10, T0);
    expect(timesOf(decide(next, limits, 1, T0).decision)).toEqual(new Map([["requests", 1]]));
  });

  test("waited alone it is enough, a second less is not, and Retry-After is the largest of them", () => {
    const property = fc.property(policies, steps, (chosen, plan) => {
      const limits = compileLimits({ version: 1, policies: chosen });
      let meters: ReadonlyMap<string, Meter> = new Map();
      let nowMs = T0;
      for (const [gapMs, cost] of plan) {
        nowMs += gapMs;
        const { decision, next } = decide(meters, limits, cost, nowMs);
        meters = next;
        if (decision.outcome !== "rate_limited") continue;
        expectAgreement(decision);
        const times = timesOf(decision);
        for (const policy of chosen.filter(({ name }) => decision.violated.includes(name))) {
          const alone = compileLimits({ version: 1, policies: [policy] });
          const seconds = times.get(policy.name) ?? 0;
          const outcomeIn = (waited: number) => decide(meters, alone, cost, nowMs + waited * 1000).decision.outcome;
          expect(outcomeIn(seconds)).toBe("allowed");
          expect(outcomeIn(seconds - 1)).toBe("rate_limited");
        }
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  test.each([
    ["exact", null],
    ["leased", 1_000],
  ])("%s: the object, an isolate's lease and a remembered refusal tell the same", (_label, leaseMs) => {
    const property = fc.property(policies, steps, fc.infiniteStream(fc.nat(1)), (chosen, plan, which) => {
      const limits = { version: 1, policies: chosen };
      const object = new ObjectSide(limits);
      const edges = [0, 1].map((isolate) => new Edge(limits, object, leaseMs, isolate));
      for (const [gapMs, cost] of plan.flatMap((step) => Array.from({ length: 4 }, () => step))) {
        object.clockMs += gapMs / 20;
        for (const edge of edges) {
          edge.clockMs = Math.floor(object.clockMs);
          edge.endDue();
        }
        object.clockMs = Math.floor(object.clockMs);
        const decision = edges[which.next().value ?? 0]?.check(cost, leaseMs ?? 1_000);
        if (decision?.outcome === "rate_limited") expectAgreement(decision);
      }
    });
    fc.assert(property, { numRuns: 200 });
  });
});
