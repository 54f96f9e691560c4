import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { covers, isExact, writeAhead } from "../../src/core/charge-ahead.ts";
import { age, type Meter, owesAtLeast, type Rule, ruleOf } from "../../src/core/meter.ts";
import { type Policy, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";

/** A minute's start. */
const T0 = 28_333_334 * 60_000;

const bucketOf = (tokens: number, perSeconds: number, burst: number) =>
  tokenBucketPolicy({ tokens, perSeconds }, burst);
const windowOf = (type: WindowPolicy["type"], limit: number, windowSeconds: number): Policy => {
  return { type, name: "w", scope: "tenant", limit, windowSeconds };
};

/** Runs spends through memory and disk as the object does; `crash` is a step after which memory is lost. */
function run(rule: Rule, steps: readonly (readonly [gap: number, cost: number, crash: boolean])[]) {
  let memory: Meter = rule.start(T0);
  let written: Meter | undefined;
  let rows = 0;
  let at = T0;
  const admitted: { at: number; cost: number }[] = [];
  for (const [gap, cost, crash] of steps) {
    at += gap;
    memory = rule.settle(memory, at);
    if (rule.weigh(memory, cost).verdict === "fits") {
      memory = rule.charge(memory, cost);
      admitted.push({ at, cost });
      const row = writeAhead(rule, written, memory, cost);
      if (row !== null) {
        written = row;
        rows += 1;
      }
    }
    if (crash) memory = rule.settle(written ?? rule.start(at), at);
  }
  return { admitted, rows, at };
}

const anySteps = fc.array(fc.tuple(fc.nat(5_000), fc.integer({ min: 1, max: 50 }), fc.boolean()), { maxLength: 80 });
const anySize = fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 60 }));

describe("a disk that is charged ahead", () => {
  test("invariant 8: with crashes at any moment, no interval admits more than burst + rate × interval", () => {
    const policy = fc.tuple(anySize, fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(policy, anySteps, ([[tokens, perSeconds], burst], plan) => {
        const { admitted } = run(ruleOf(bucketOf(tokens, perSeconds, burst)), plan);
        for (const [i, first] of admitted.entries()) {
          let sum = 0;
          for (const { at, cost } of admitted.slice(i)) {
            sum += cost;
            expect(sum * perSeconds * 1000).toBeLessThanOrEqual(burst * perSeconds * 1000 + (at - first.at) * tokens);
          }
        }
      }),
    );
  });

  test("with crashes at any moment, no fixed window admits more than its limit", () => {
    fc.assert(
      fc.property(anySize, anySteps, ([limit, windowSeconds], plan) => {
        const sums = new Map<number, number>();
        for (const { at, cost } of run(ruleOf(windowOf("fixed-window", limit, windowSeconds)), plan).admitted) {
          const index = Math.floor(at / (windowSeconds * 1000));
          sums.set(index, (sums.get(index) ?? 0) + cost);
        }
        for (const sum of sums.values()) expect(sum).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test("with crashes at any moment, the weight of a sliding window never exceeds its limit", () => {
    fc.assert(
      fc.property(anySize, anySteps, ([limit, windowSeconds], plan) => {
        const windowMs = windowSeconds * 1000;
        const sums = new Map<number, number>();
        for (const { at, cost } of run(ruleOf(windowOf("sliding-window", limit, windowSeconds)), plan).admitted) {
          const index = Math.floor(at / windowMs);
          const present = (sums.get(index) ?? 0) + cost;
          sums.set(index, present);
          const weight = (sums.get(index - 1) ?? 0) * (windowMs - (at % windowMs)) + present * windowMs;
          expect(weight).toBeLessThanOrEqual(limit * windowMs);
        }
      }),
    );
  });

  test.for<[string, Policy]>([
    ["bucket", bucketOf(50, 1, 100)],
    ["fixed window", windowOf("fixed-window", 3_000, 60)],
    ["sliding window", windowOf("sliding-window", 3_000, 60)],
    ["fixed window of a second", windowOf("fixed-window", 50, 1)],
    ["sliding window of a second", windowOf("sliding-window", 50, 1)],
  ])("a minute of a %s at full rate writes about one row a second, not one a request", ([, policy]) => {
    const everyTenMs = Array.from({ length: 6_000 }, () => [10, 1, false] as const);
    const { admitted, rows } = run(ruleOf(policy), everyTenMs);
    expect(admitted.length).toBeGreaterThan(2_500);
    expect(rows).toBeLessThanOrEqual(65);
  });

  test.for<[string, Policy, number, number]>([
    ["a bucket's row is one second of refill ahead", bucketOf(50, 1, 100), 30, 80],
    ["a bucket of a token a second is one token ahead", bucketOf(1, 1, 5), 1, 2],
    ["a slow bucket's row is what it owes", bucketOf(1, 60, 1), 1, 1],
    ["a window's row is a second's counts ahead", windowOf("fixed-window", 3_000, 60), 30, 80],
    ["a slow window's row is what it counts", windowOf("sliding-window", 10, 60), 3, 3],
    ["a window that is used up is written as it is", windowOf("fixed-window", 10, 60), 10, 10],
  ])("%s", ([, policy, cost, ahead]) => {
    const rule = ruleOf(policy);
    const row = writeAhead(rule, undefined, rule.charge(rule.start(T0), cost), 1);
    expect(row && owedOf(row)).toBe(ahead);
  });
});

function owedOf(meter: Meter): number {
  switch (meter.type) {
    case "token-bucket":
      return meter.debt / meter.perToken;
    case "fixed-window":
      return meter.used;
    case "sliding-window":
      return meter.present;
  }
}

describe("a row and what memory owes", () => {
  const rule = ruleOf(windowOf("sliding-window", 100, 60));
  const memory = rule.charge(rule.start(T0), 10);

  test("a row of the window before covers what it left, and nothing since", () => {
    const later = rule.settle(memory, T0 + 60_000);
    expect(covers(memory, later)).toBe(true);
    expect(covers(memory, rule.charge(later, 1))).toBe(false);
  });

  test("a row from a time that the clock has left behind covers nothing", () => {
    const back = rule.settle(memory, T0 - 600_000);
    expect(covers(memory, back)).toBe(false);
  });

  test("a row under another window or rate covers nothing", () => {
    const longer = ruleOf(windowOf("sliding-window", 100, 3_600)).settle(memory, T0);
    expect(covers(memory, longer)).toBe(false);
    const [fast, slow] = [ruleOf(bucketOf(10, 1, 10)), ruleOf(bucketOf(1, 10, 10))];
    const spent = fast.charge(fast.start(T0), 10);
    expect(covers(spent, slow.settle(spent, T0))).toBe(false);
  });

  test("what covers at one time covers at any later", () => {
    const meters = fc.tuple(fc.nat(50), fc.nat(50), fc.nat(90_000)).map(([first, second, at]) => {
      return rule.charge(rule.settle(rule.charge(rule.start(T0), first), T0 + at), second);
    });
    fc.assert(
      fc.property(meters, meters, fc.nat(200_000), (written, owed, later) => {
        if (!covers(written, owed)) return;
        const at = owed.atMs + later;
        expect(owesAtLeast(age(written, at), age(owed, at))).toBe(true);
      }),
    );
  });

  test("is exact when time alone would make the one of the other", () => {
    expect(isExact(memory, rule.settle(memory, T0 + 70_000))).toBe(true);
    expect(isExact(rule.ahead(memory, 1), memory)).toBe(false);
    expect(isExact(undefined, memory)).toBe(false);
  });
});
