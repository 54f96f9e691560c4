import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bucket, charge, fullBucket, settle, weigh } from "../../src/core/bucket.ts";
import { ahead, covers } from "../../src/core/charge-ahead.ts";
import { type Grains, grainsOf, tokenBucketPolicy } from "../../src/core/policy.ts";

const T0 = 1_700_000_000_000;

function grains(tokens: number, perSeconds: number, burst: number): Grains {
  const found = grainsOf(tokenBucketPolicy({ tokens, perSeconds }, burst));
  if (found === null) throw new Error("not countable");
  return found;
}

/** Runs spends through memory and disk as the object does; `crashed` are the steps after which memory was lost. */
function run(g: Grains, steps: readonly (readonly [number, number, boolean])[]) {
  let memory: Bucket = fullBucket(g, T0);
  let written: Bucket | undefined;
  let rows = 0;
  let at = T0;
  const admitted: { at: number; cost: number }[] = [];
  for (const [gap, cost, crash] of steps) {
    at += gap;
    memory = settle(memory, g, at);
    if (weigh(memory, g, cost).verdict === "fits") {
      memory = charge(memory, g, cost);
      admitted.push({ at, cost });
      if (!covers(written, memory, g, at)) {
        written = ahead(memory, g);
        rows += 1;
      }
    }
    if (crash) memory = settle(written ?? fullBucket(g, at), g, at);
  }
  return { admitted, rows, at };
}

describe("a disk that is charged ahead", () => {
  test("invariant 8: with crashes at any moment, no interval admits more than burst + rate × interval", () => {
    const steps = fc.array(fc.tuple(fc.nat(5_000), fc.integer({ min: 1, max: 50 }), fc.boolean()), { maxLength: 80 });
    const policy = fc.tuple(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 60 }),
    );
    fc.assert(
      fc.property(policy, steps, ([tokens, perSeconds, burst], plan) => {
        const g = grains(tokens, perSeconds, burst);
        const { admitted } = run(g, plan);
        for (const [i, first] of admitted.entries()) {
          let sum = 0;
          for (const { at, cost } of admitted.slice(i)) {
            sum += cost;
            expect(sum * g.perToken).toBeLessThanOrEqual(g.burst + (at - first.at) * g.perMs);
          }
        }
      }),
    );
  });

  test("a crash costs at most one second of refill", () => {
    const g = grains(50, 1, 100);
    const memory = charge(fullBucket(g, T0), g, 30);
    expect(ahead(memory, g).debt - memory.debt).toBe(50 * g.perToken);
  });

  test("a minute at full rate writes about one row a second, not one a request", () => {
    const g = grains(50, 1, 100);
    const everyTenMs = Array.from({ length: 6_000 }, () => [10, 1, false] as const);
    const { admitted, rows } = run(g, everyTenMs);
    expect(admitted.length).toBe(3_100 - 1);
    expect(rows).toBeLessThanOrEqual(65);
  });

  test("a slow bucket writes its one token, never less", () => {
    const g = grains(1, 60, 1);
    const memory = charge(fullBucket(g, T0), g, 1);
    expect(ahead(memory, g).debt).toBe(2 * g.perToken);
  });
});
