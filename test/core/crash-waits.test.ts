import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Limits, type Policy, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";
import type { Receipt } from "../../src/core/receipts.ts";
import { NOBODY } from "../../src/core/subjects.ts";
import { LEASE_MS, ObjectSide } from "./lease-world.ts";

// What a caller is told to wait does not depend on whether the object has crashed.

/** A token takes longer than a second to come back. */
const slowBucket = fc
  .record({
    tokens: fc.integer({ min: 0, max: 5 }),
    perSeconds: fc.integer({ min: 6, max: 5_000 }),
    burst: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ tokens, perSeconds, burst }): Policy => tokenBucketPolicy({ tokens, perSeconds }, burst));
const slowWindow = fc
  .record({
    type: fc.constantFrom<WindowPolicy["type"]>("fixed-window", "sliding-window"),
    limit: fc.integer({ min: 1, max: 9 }),
    windowSeconds: fc.integer({ min: 10, max: 5_000 }),
  })
  .map(({ type, limit, windowSeconds }): Policy => ({ type, name: type, scope: "tenant", limit, windowSeconds }));
const limitsOf = (policies: readonly Policy[]): Limits => ({ version: 1, policies });

const step = fc.record({
  waitMs: fc.oneof(fc.nat(3_000), fc.nat(2_000_000)),
  cost: fc.integer({ min: 1, max: 6 }),
  refunds: fc.boolean(),
  crashes: fc.boolean(),
});

/** Two objects that are asked the same; one of them crashes now and then. */
function both(limits: Limits) {
  const [crashing, steady] = [new ObjectSide(limits), new ObjectSide(limits)];
  const objects = [crashing, steady];
  return {
    crashing,
    objects,
    pass: (ms: number) => {
      for (const object of objects) object.clockMs += ms;
    },
    check: (cost: number) => objects.map((object) => object.life.check({ cost, limits }, object.clockMs, LEASE_MS)),
  };
}

describe("after a crash at any instant", () => {
  test("a slow limit tells what it would have told without", () => {
    const policies = fc.uniqueArray(fc.oneof(slowBucket, slowWindow), { minLength: 1, selector: ({ name }) => name });
    fc.assert(
      fc.property(policies, fc.array(step, { maxLength: 40 }), (some, steps) => {
        const world = both(limitsOf(some));
        for (const { waitMs, cost, refunds, crashes } of steps) {
          world.pass(waitMs);
          const answers = world.check(cost);
          const [seen, truth] = answers.map(({ receipt: _receipt, ...decision }) => decision);
          expect(seen).toEqual(truth);
          const receipts = answers.flatMap(({ receipt }): Receipt[] => (receipt === undefined ? [] : [receipt]));
          if (refunds && receipts.length === 2) {
            world.objects.forEach((object, n) => {
              const receipt = receipts[n];
              if (receipt !== undefined) object.life.refund(cost, receipt, NOBODY, object.clockMs);
            });
          }
          if (crashes) world.crashing.crash();
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a bucket of one token in 1000 s tells 699 s, and not 1699 s", () => {
    const world = both(limitsOf([tokenBucketPolicy({ tokens: 1, perSeconds: 1_000 }, 1)]));
    world.check(1);
    world.crashing.crash();
    world.pass(301_000);
    expect(world.check(1)).toMatchObject([{ retryAfterSeconds: 699 }, { retryAfterSeconds: 699 }]);
  });

  test("a charge that takes longer than a second to come back is exact, also in a fast bucket", () => {
    const world = both(limitsOf([tokenBucketPolicy({ tokens: 2, perSeconds: 1 }, 100)]));
    world.check(100);
    world.crashing.crash();
    expect(world.check(90)).toMatchObject([{ retryAfterSeconds: 45 }, { retryAfterSeconds: 45 }]);
  });

  test("a fast bucket tells a second too much at most", () => {
    const charges = fc.array(fc.tuple(fc.nat(900), fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), charges, (perSecond, some) => {
        const world = both(limitsOf([tokenBucketPolicy({ tokens: perSecond, perSeconds: 1 }, 100)]));
        for (const [waitMs, cost] of some) {
          world.pass(waitMs);
          // Only what both admit: the two are to owe the same.
          if (
            world.objects.every(({ life, clockMs }) => (life.look(NOBODY, clockMs).reports[0]?.remaining ?? 0) >= cost)
          )
            world.check(cost);
        }
        world.crashing.crash();
        const [seen, truth] = world
          .check(100)
          .map((answer) => ("retryAfterSeconds" in answer ? answer.retryAfterSeconds : 0));
        expect((seen ?? 0) - (truth ?? 0)).toBeGreaterThanOrEqual(0);
        expect((seen ?? 0) - (truth ?? 0)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("a slow bucket writes a row for each charge, and none for a refusal", () => {
    const world = both(limitsOf([tokenBucketPolicy({ tokens: 1, perSeconds: 60 }, 5)]));
    for (let n = 0; n < 5; n++) world.check(1);
    const rows = world.crashing.disk.count;
    for (let n = 0; n < 20; n++) world.check(1);
    // The limits are a row, too.
    expect([rows, world.crashing.disk.count]).toEqual([6, 6]);
  });
});
