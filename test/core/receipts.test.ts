import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileLimits, decide, giveBack } from "../../src/core/limiter.ts";
import type { Meter } from "../../src/core/meter.ts";
import { type Policy, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";
import { type Receipt, Receipts } from "../../src/core/receipts.ts";

const T0 = 1_700_000_000_000;

const windowOf = (type: WindowPolicy["type"], limit: number, windowSeconds: number): Policy => {
  return { type, name: "w", scope: "tenant", limit, windowSeconds };
};

/** One policy, charges to it, and what is given back of them. */
function account(policy: Policy) {
  const limits = compileLimits({ version: 1, policies: [policy] });
  const receipts = new Receipts(0.5);
  let meters: ReadonlyMap<string, Meter> = new Map();
  return {
    /** The receipt; null when it does not fit. */
    spend(cost: number, nowMs: number): Receipt | null {
      const { decision, next } = decide(meters, limits, cost, nowMs);
      meters = next;
      return decision.outcome === "allowed" ? receipts.charged(cost, next.keys()) : null;
    },
    giveBack(receipt: Receipt, cost: number, nowMs: number) {
      const since = receipts.giveBack(receipt, cost) ?? Number.NaN;
      meters = giveBack(meters, limits, cost, receipt.ids, since, nowMs).next;
    },
    remaining: (nowMs: number) => decide(meters, limits, 0, nowMs).decision.reports[0]?.remaining ?? 0,
  };
}

describe("a charge that is given back", () => {
  const all: Policy[] = [
    tokenBucketPolicy({ tokens: 3, perSeconds: 1 }, 30),
    windowOf("fixed-window", 40, 7),
    windowOf("sliding-window", 50, 5),
  ];

  test("leaves no more than there would be without it, whatever happened before and since", () => {
    const step = fc.tuple(fc.nat(5_000), fc.integer({ min: 1, max: 20 }));
    const plan = fc.array(step, { maxLength: 20 });
    const sizes = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(plan, sizes, plan, fc.nat(9_000), fc.constantFrom(...all), (before, cost, after, wait, policy) => {
        const [charged, never] = [account(policy), account(policy)];
        let at = T0;
        for (const [gap, spent] of before) {
          at += gap;
          for (const each of [charged, never]) each.spend(spent, at);
        }
        const receipt = charged.spend(cost, at);
        fc.pre(receipt !== null);
        for (const [gap, spent] of after) {
          at += gap;
          // What did not fit with the charge is left out without it: else the two have not done the same.
          if (charged.spend(spent, at) !== null) never.spend(spent, at);
        }
        if (receipt !== null) charged.giveBack(receipt, cost, at + wait);
        expect(charged.remaining(at + wait)).toBeLessThanOrEqual(never.remaining(at + wait));
      }),
    );
  });

  test.each(all)("is given back whole, in whatever order, when no time has passed ($type)", (policy) => {
    const order = fc.shuffledSubarray(
      Array.from({ length: 6 }, (_, index) => index),
      { minLength: 6 },
    );
    fc.assert(
      fc.property(order, (indices) => {
        const held = account(policy);
        const full = held.remaining(T0);
        const receipts = Array.from({ length: 6 }, (_, index) => held.spend(index, T0));
        for (const index of indices) {
          const receipt = receipts[index];
          if (receipt) held.giveBack(receipt, index, T0);
        }
        expect(held.remaining(T0)).toBe(full);
      }),
    );
  });

  test("what time has forgiven is not given back once more", () => {
    const held = account(tokenBucketPolicy({ tokens: 20, perSeconds: 1 }, 100));
    const receipts = Array.from({ length: 100 }, () => held.spend(1, T0));
    expect(held.spend(90, T0 + 4_700)).not.toBeNull();
    for (const receipt of receipts) if (receipt) held.giveBack(receipt, 1, T0 + 4_700);
    expect(held.remaining(T0 + 4_700)).toBe(10);
  });

  test("takes nothing from a window that came after it", () => {
    const held = account(windowOf("fixed-window", 40, 7));
    const receipt = held.spend(7, T0);
    held.spend(5, T0 + 7_000);
    if (receipt) held.giveBack(receipt, 7, T0 + 7_000);
    expect(held.remaining(T0 + 7_000)).toBe(35);
  });

  test("means nothing to another life of the object, and takes nothing from it", () => {
    const [one, other] = [new Receipts(0.1), new Receipts(0.2)];
    expect(other.giveBack(one.charged(3, ["a"]), 3)).toBeNull();
  });
});
