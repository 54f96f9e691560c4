import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { charge, fullBucket, msUntilFull, remainingTokens, settle, weigh } from "../../src/core/bucket.ts";
import { CLOCK_REBASE_MS } from "../../src/core/clock.ts";
import { type Grains, grainsOf, type TokenBucketPolicy, tokenBucketPolicy } from "../../src/core/policy.ts";

const T0 = 1_700_000_000_000;

function grains(tokens: number, perSeconds: number, burst: number): Grains {
  const found = grainsOf(tokenBucketPolicy({ tokens, perSeconds }, burst));
  if (found === null) throw new Error("not countable");
  return found;
}

const anyPolicy: fc.Arbitrary<TokenBucketPolicy> = fc
  .record({
    tokens: fc.integer({ min: 1, max: 10_000 }),
    perSeconds: fc.integer({ min: 1, max: 3_600 }),
    burst: fc.integer({ min: 1, max: 10_000 }),
  })
  .map(({ tokens, perSeconds, burst }) => tokenBucketPolicy({ tokens, perSeconds }, burst));

const anyGrains = anyPolicy.map((policy) => grains(policy.rate.tokens, policy.rate.perSeconds, policy.burst));

/** Spends and waits, as (milliseconds since the last step, cost). */
const anySteps = fc.array(fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 2_000 })), {
  maxLength: 60,
});

describe("a bucket in grains", () => {
  test("a third of a token a second is exact: 3 s give one token, 2 999 ms do not", () => {
    const third = grains(1, 3, 1);
    const spent = charge(fullBucket(third, T0), third, 1);
    expect(weigh(settle(spent, third, T0 + 2_999), third, 1)).toEqual({ verdict: "later", waitMs: 1 });
    expect(weigh(settle(spent, third, T0 + 3_000), third, 1)).toEqual({ verdict: "fits" });
  });

  test("settling at any times between two moments changes nothing", () => {
    fc.assert(
      fc.property(anyGrains, fc.nat(2_000), fc.array(fc.nat(5_000), { maxLength: 20 }), (g, cost, gaps) => {
        const start = charge(fullBucket(g, T0), g, cost);
        const end = T0 + gaps.reduce((sum, gap) => sum + gap, 0);
        let touched = start;
        let at = T0;
        for (const gap of gaps) {
          at += gap;
          touched = settle(touched, g, at);
        }
        expect(touched).toEqual(settle(start, g, end));
      }),
    );
  });

  test("invariant 1: what is admitted in any interval is at most burst + rate × interval", () => {
    fc.assert(
      fc.property(anyPolicy, anySteps, (policy, steps) => {
        const g = grains(policy.rate.tokens, policy.rate.perSeconds, policy.burst);
        const admitted: { at: number; cost: number }[] = [];
        let bucket = fullBucket(g, T0);
        let at = T0;
        for (const [gap, cost] of steps) {
          at += gap;
          bucket = settle(bucket, g, at);
          if (weigh(bucket, g, cost).verdict !== "fits") continue;
          bucket = charge(bucket, g, cost);
          admitted.push({ at, cost });
        }
        for (const [i, first] of admitted.entries()) {
          let sum = 0;
          for (const { at: when, cost } of admitted.slice(i)) {
            sum += cost;
            // In whole grains, so that no rounding of the test can hide or make a fault.
            expect(sum * g.perToken).toBeLessThanOrEqual(g.burst + (when - first.at) * g.perMs);
          }
        }
      }),
    );
  });

  test("invariant 5: the wait told is enough, and one millisecond less is not", () => {
    fc.assert(
      fc.property(anyGrains, anySteps, fc.integer({ min: 1, max: 2_000 }), (g, steps, cost) => {
        let bucket = fullBucket(g, T0);
        let at = T0;
        for (const [gap, spent] of steps) {
          at += gap;
          bucket = settle(bucket, g, at);
          if (weigh(bucket, g, spent).verdict === "fits") bucket = charge(bucket, g, spent);
        }
        const verdict = weigh(bucket, g, cost);
        if (verdict.verdict !== "later") return;
        expect(weigh(settle(bucket, g, at + verdict.waitMs), g, cost).verdict).toBe("fits");
        expect(weigh(settle(bucket, g, at + verdict.waitMs - 1), g, cost).verdict).toBe("later");
      }),
    );
  });

  test("a change of limits there and back never lowers what is owed", () => {
    fc.assert(
      fc.property(anyGrains, anyGrains, fc.integer({ min: 1, max: 10_000 }), (a, b, cost) => {
        const owing = charge(fullBucket(a, T0), a, cost);
        const back = settle(settle(owing, b, T0), a, T0);
        expect(back.debt).toBeGreaterThanOrEqual(owing.debt);
        expect(back.debt - owing.debt).toBeLessThanOrEqual(Math.ceil(a.perToken / b.perToken));
      }),
    );
  });

  test("ages by the rate that it was kept under, and by another only from the moment that it is given it", () => {
    const [fast, slow] = [grains(1, 1, 10), grains(1, 60, 10)];
    const spent = charge(fullBucket(fast, T0), fast, 10);
    const slowed = settle(spent, slow, T0 + 4_000);
    expect(remainingTokens(slowed, slow)).toBe(4);
    expect(remainingTokens(settle(slowed, slow, T0 + 63_000), slow)).toBe(4);
    expect(remainingTokens(settle(slowed, slow, T0 + 64_000), slow)).toBe(5);
  });

  test("a clock that steps far back is followed without credit, and nobody is locked out", () => {
    const g = grains(1, 1, 10);
    const spent = charge(fullBucket(g, T0), g, 10);
    const stepped = settle(spent, g, T0 - CLOCK_REBASE_MS - 1);
    expect(remainingTokens(stepped, g)).toBe(0);
    expect(remainingTokens(settle(stepped, g, T0 - CLOCK_REBASE_MS - 1 + 4_000), g)).toBe(4);
  });

  test("a rate of zero never refills and says so", () => {
    const g = grains(0, 1, 2);
    const spent = charge(fullBucket(g, T0), g, 2);
    expect(weigh(settle(spent, g, T0 + 1e9), g, 1)).toEqual({ verdict: "never" });
    expect(msUntilFull(spent, g)).toBeNull();
  });
});
