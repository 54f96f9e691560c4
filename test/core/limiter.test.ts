import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Buckets,
  compileLimits,
  count,
  criticalCeiling,
  type Decision,
  decide,
  giveBack,
  judge,
  tightest,
} from "../../src/core/limiter.ts";
import { type Limits, type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";
import { type CaseBucket, TOKEN_BUCKET_CASES } from "../support/token-bucket-cases.ts";

const T0 = 1_700_000_000_000;

function limitsOf(...buckets: readonly (CaseBucket & { name?: string })[]): Limits {
  const policies = buckets.map(({ burst, ratePerSecond, name = "requests" }): Policy => {
    return { ...tokenBucketPolicy(ratePerSecond, burst), name };
  });
  return { version: 1, policies };
}

function retryOf(decision: Decision): number | null {
  return decision.outcome === "rate_limited" ? decision.retryAfterSeconds : null;
}

describe("reported faults of other limiters, on the core", () => {
  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))("%s: %s", (_id, _rule, one) => {
    let limits = compileLimits(limitsOf(one.bucket));
    let buckets: Buckets = new Map();
    for (const step of one.steps) {
      const now = T0 + step.at * 1000;
      if (step.op === "configure") {
        if (step.bucket !== undefined) limits = compileLimits(limitsOf(step.bucket));
        continue;
      }
      const { decision, next } = decide(buckets, limits, step.op === "peek" ? 0 : (step.cost ?? 1), now);
      buckets = next;
      const { allowed, remaining, retryAfterSeconds, code } = step.expect ?? {};
      if (allowed !== undefined) expect(decision.outcome === "allowed").toBe(allowed);
      if (remaining !== undefined) expect(tightest(decision.reports)?.remaining).toBe(remaining);
      if (retryAfterSeconds !== undefined) expect(retryOf(decision)).toBe(retryAfterSeconds);
      if (code !== undefined) expect(decision.outcome).toBe(code);
    }
  });
});

describe("all policies together, or none", () => {
  const a = { name: "a", burst: 30, ratePerSecond: { tokens: 1, perSeconds: 60 } };
  const b = { name: "b", burst: 5, ratePerSecond: { tokens: 1, perSeconds: 10 } };

  test("when one policy has nothing left, ten refused calls take nothing from the other", () => {
    const limits = compileLimits(limitsOf(a, b));
    let { next } = decide(new Map(), limits, 5, T0);
    for (let call = 0; call < 10; call++) {
      const step = decide(next, limits, 1, T0);
      next = step.next;
      expect(step.decision).toMatchObject({ outcome: "rate_limited", violated: ["b"], retryAfterSeconds: 10 });
    }
    expect(next.get("a")).toMatchObject({ debt: 5 * (next.get("a")?.perToken ?? 0) });
  });

  test("Retry-After is the longest wait of all that refuse", () => {
    const limits = compileLimits(limitsOf({ ...a, burst: 5 }, b));
    const { next } = decide(new Map(), limits, 5, T0);
    expect(decide(next, limits, 2, T0).decision).toMatchObject({ violated: ["a", "b"], retryAfterSeconds: 120 });
  });

  test("a cost that one policy can never hold is refused for good, naming that policy alone", () => {
    const limits = compileLimits(limitsOf(a, b));
    expect(decide(new Map(), limits, 6, T0).decision).toMatchObject({
      outcome: "cost_exceeds_capacity",
      violated: ["b"],
    });
  });

  test("a policy that is taken away and brought back has forgiven nothing", () => {
    const both = compileLimits(limitsOf(a, b));
    const one = compileLimits(limitsOf(a));
    const spent = decide(new Map(), both, 5, T0).next;
    const without = decide(spent, one, 1, T0).next;
    expect(decide(without, both, 1, T0).decision.outcome).toBe("rate_limited");
  });

  test("a refusal leaves the state as time alone would have left it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 40 }))), (steps) => {
        const limits = compileLimits(limitsOf(a, b));
        let buckets: Buckets = new Map();
        let at = T0;
        for (const [gap, cost] of steps) {
          at += gap;
          const looked = decide(buckets, limits, 0, at).next;
          const { decision, next } = decide(buckets, limits, cost, at);
          if (decision.outcome !== "allowed") expect(next).toEqual(looked);
          buckets = next;
        }
      }),
    );
  });
});

describe("a charge that is given back", () => {
  test("leaves no more than there would be without it, whatever happened in between", () => {
    const step = fc.tuple(fc.nat(5_000), fc.integer({ min: 1, max: 20 }));
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(20_000),
        (steps, cost, wait) => {
          const limits = compileLimits(limitsOf({ burst: 30, ratePerSecond: { tokens: 3, perSeconds: 1 } }));
          let buckets: Buckets = new Map();
          let at = T0;
          for (const [gap, spent] of steps) {
            at += gap;
            buckets = decide(buckets, limits, spent, at).next;
          }
          const charged = decide(buckets, limits, cost, at);
          if (charged.decision.outcome !== "allowed") return;
          const given = giveBack(charged.next, limits, cost, at + wait).next;
          const never = decide(buckets, limits, 0, at + wait).next;
          expect(given.get("requests")?.debt).toBeGreaterThanOrEqual(never.get("requests")?.debt ?? 0);
        },
      ),
    );
  });

  test("is given back whole when it is given back at once", () => {
    const limits = compileLimits(limitsOf({ burst: 30, ratePerSecond: { tokens: 3, perSeconds: 1 } }));
    const { next } = decide(new Map(), limits, 7, T0);
    expect(giveBack(next, limits, 7, T0).reports).toMatchObject([{ remaining: 30 }]);
  });

  test("a judgement says what a decision would, and charges nothing", () => {
    const limits = compileLimits(limitsOf({ burst: 3, ratePerSecond: { tokens: 1, perSeconds: 1 } }));
    expect(judge(new Map(), limits, 3, T0)).toMatchObject({ outcome: "allowed", reports: [{ remaining: 3 }] });
    const { next } = decide(new Map(), limits, 3, T0);
    expect(judge(next, limits, 1, T0)).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 1 });
  });
});

describe("critical commands", () => {
  const free = limitsOf({ burst: 100, ratePerSecond: { tokens: 50, perSeconds: 1 } });

  test("are counted and never refused: they empty the bucket and go no further", () => {
    const limits = compileLimits(free);
    let buckets: Buckets = new Map();
    for (let call = 0; call < 150; call++) buckets = count(buckets, limits, 1, T0).next;
    expect(decide(buckets, limits, 1, T0).decision).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 1 });
    expect(decide(buckets, limits, 1, T0 + 20).decision.outcome).toBe("allowed");
  });

  test("have a ceiling of ten times the tier", () => {
    expect(criticalCeiling(free).policies).toMatchObject([{ burst: 1_000, rate: { tokens: 500, perSeconds: 1 } }]);
  });

  test("of a tenant that is set to zero can still end its work", () => {
    const zero = limitsOf({ burst: 0, ratePerSecond: { tokens: 0, perSeconds: 1 } });
    expect(criticalCeiling(zero).policies).toMatchObject([{ burst: 20, rate: { tokens: 10, perSeconds: 1 } }]);
  });
});
