import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileLimits, decide, giveBack } from "../../src/core/limiter.ts";
import type { Meter } from "../../src/core/meter.ts";
import { type Limits, type Policy, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";
import { GIVEN_MAX, type Receipt, Receipts } from "../../src/core/receipts.ts";
import { NOBODY } from "../../src/core/subjects.ts";
import { Edge, LEASE_MS, ObjectSide } from "./lease-world.ts";

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

describe("a receipt that is given back again", () => {
  const limits: Limits = { version: 1, policies: [tokenBucketPolicy({ tokens: 0, perSeconds: 1 }, 100)] };

  test("gives nothing the second time, whatever was given back between", () => {
    const receipts = new Receipts(0.1);
    const [first, other] = [receipts.charged(3, ["a"]), receipts.charged(5, ["a"])];
    expect(receipts.giveBack(first, 3)).toBe(5);
    expect(receipts.giveBack(other, 5)).toBe(0);
    expect([receipts.giveBack(first, 3), receipts.giveBack({ ...other }, 5)]).toEqual([null, null]);
  });

  test("gives nothing either when so many were given back since that it is forgotten", () => {
    const receipts = new Receipts(0.1);
    const first = receipts.charged(1, ["a"]);
    receipts.giveBack(first, 1);
    for (let n = 0; n < GIVEN_MAX; n++) receipts.giveBack(receipts.charged(1, ["a"]), 1);
    expect(receipts.giveBack(first, 1)).toBeNull();
  });

  test("leaves no more than once would, in any order of charges and refunds, by the object and by leases", () => {
    const step = fc.record({
      charge: fc.integer({ min: 1, max: 9 }),
      refund: fc.nat(30),
      times: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const object = new ObjectSide(limits);
        const edge = new Edge(limits, object, LEASE_MS);
        const open = new Map<Receipt, number>();
        const closed: [Receipt, number][] = [];
        const giveBack = (receipt: Receipt, cost: number) => {
          if (edge.given.has(receipt)) return;
          if (edge.holding().refund(cost, receipt, edge.clockMs) === null)
            object.life.refund(cost, receipt, NOBODY, T0);
        };
        for (const { charge, refund, times } of steps) {
          const answer = edge.check(charge, LEASE_MS);
          if (answer.outcome === "allowed" && "receipt" in answer) open.set(answer.receipt as Receipt, charge);
          const [receipt, cost] = [...open][refund % Math.max(1, open.size)] ?? [];
          if (receipt === undefined || cost === undefined) continue;
          open.delete(receipt);
          closed.push([receipt, cost]);
          for (let n = 0; n < times; n++) giveBack(receipt, cost);
          const again = closed[refund % closed.length];
          if (again !== undefined) giveBack(...again);
        }
        for (const [receipt, cost] of closed) giveBack(receipt, cost);
        for (const clock of [object, edge]) clock.clockMs += 2 * LEASE_MS;
        edge.endDue();
        const spent = [...open.values()].reduce((sum, cost) => sum + cost, 0);
        expect(object.life.look(NOBODY, object.clockMs).reports[0]?.remaining).toBe(100 - spent);
      }),
      { numRuns: 300 },
    );
  });
});
