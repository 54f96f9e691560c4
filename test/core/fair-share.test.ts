import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairLanes } from "../../src/core/fair-lanes.ts";
import { FAIR_MEMORY_MS, FairShare } from "../../src/core/fair-share.ts";
import { CommandQueue } from "../../src/core/queue.ts";

const T0 = 1_700_000_000_000;

/** Lanes with so many commands of each tenant. */
function lanes(held: Readonly<Record<string, number>>, weightOf: (tenant: string) => number = () => 1): FairLanes {
  const made = new FairLanes();
  let sequence = 0;
  for (const [tenant, count] of Object.entries(held)) {
    for (let n = 0; n < count; n++) {
      const weight = weightOf(tenant);
      made.push({
        sequence: ++sequence,
        tenant,
        weight,
        bytes: 1,
        critical: false,
        acceptedAtMs: T0,
        deadlineAtMs: null,
      });
    }
  }
  return made;
}

const a = { tenant: "a", weight: 1 };
const b = { tenant: "b", weight: 1 };

describe("a share of the queue", () => {
  test("is all of it for a tenant that is alone", () => {
    expect(new FairShare().allows(a, 100, lanes({ a: 99 }), T0)).toBe(true);
  });

  test("is no matter while nobody was refused, however many wait", () => {
    expect(new FairShare().allows(a, 100, lanes({ a: 90, b: 1, c: 1 }), T0)).toBe(true);
  });

  test("once another was refused: not beyond one's own while the other lacks its own", () => {
    const share = new FairShare();
    share.refused(b, T0);
    expect(share.allows(a, 100, lanes({ a: 49 }), T0)).toBe(true);
    expect(share.allows(a, 100, lanes({ a: 50 }), T0)).toBe(false);
    expect(share.allows(b, 100, lanes({ a: 90 }), T0)).toBe(true);
    expect(share.allows(a, 100, lanes({ a: 40, b: 50 }), T0)).toBe(true);
  });

  test("what the one who was refused has of its share is no longer kept for it", () => {
    const share = new FairShare();
    share.refused(b, T0);
    expect(share.allows(a, 100, lanes({ a: 50, b: 49 }), T0)).toBe(false);
    expect(share.allows(a, 101, lanes({ a: 51, b: 49 }), T0)).toBe(false);
  });

  test("is by weight", () => {
    const share = new FairShare();
    share.refused({ tenant: "premium", weight: 9 }, T0);
    expect(share.allows(a, 100, lanes({ a: 9 }), T0)).toBe(true);
    expect(share.allows(a, 100, lanes({ a: 10 }), T0)).toBe(false);
  });

  test("the first place is everybody's, with more tenants than places too", () => {
    const share = new FairShare();
    for (let n = 0; n < 500; n++) share.refused({ tenant: `t${n}`, weight: 10 }, T0);
    expect(share.allows(a, 100, lanes({}), T0)).toBe(true);
    expect(share.allows(a, 100, lanes({ a: 1 }), T0)).toBe(false);
  });

  test("a refusal is remembered for half a minute and no longer, and forgotten when the clock jumps", () => {
    const share = new FairShare();
    share.refused(b, T0);
    expect(share.allows(a, 10, lanes({ a: 9 }), T0 + FAIR_MEMORY_MS - 1)).toBe(false);
    expect(share.allows(a, 10, lanes({ a: 9 }), T0 + FAIR_MEMORY_MS)).toBe(true);
    share.refused(b, T0);
    expect(share.allows(a, 10, lanes({ a: 9 }), T0 - FAIR_MEMORY_MS)).toBe(true);
  });
});

describe("an empty queue", () => {
  const offer = (queue: CommandQueue, tenant: string, sequence: number) =>
    queue.offer(
      { tenant, weight: 1, bytes: 1, critical: false, acceptedAtMs: T0, deadlineAtMs: null },
      () => sequence,
      T0,
    );

  test("refuses no tenant for shares, whatever was refused before it was empty", () => {
    const queue = new CommandQueue({ count: 10, bytes: 1e9 });
    for (let n = 0; n < 20; n++) offer(queue, n < 15 ? "a" : "b", n);
    while (queue.take() !== undefined);
    const again = Array.from({ length: 10 }, (_, n) => typeof offer(queue, "a", 100 + n));
    expect(again).toEqual(new Array(10).fill("object"));
  });

  test("ends the lack that an isolate tells of only afterwards", () => {
    const queue = new CommandQueue({ count: 10, bytes: 1e9 });
    offer(queue, "a", 1);
    queue.wants(b, T0, 2_000);
    const again = Array.from({ length: 9 }, (_, n) => typeof offer(queue, "a", 100 + n));
    expect(again).toEqual(new Array(9).fill("object"));
  });

  test("is none while commands between two attempts keep their places", () => {
    const outside = { ordinary: 0, criticalOf: () => 0 };
    const queue = new CommandQueue({ count: 10, bytes: 1e9 }, outside);
    for (let n = 0; n < 20; n++) offer(queue, n < 15 ? "a" : "b", n);
    while (queue.take() !== undefined) outside.ordinary += 1;
    outside.ordinary -= 4;
    const again = Array.from({ length: 4 }, (_, n) => offer(queue, "a", 100 + n));
    expect(again.slice(2)).toEqual(["over_share", "over_share"]);
  });
});

describe("a contended queue", () => {
  test("never holds more of one tenant than its share, once it held less; and is never over its bound", () => {
    const offer = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(offer, { maxLength: 400 }), fc.integer({ min: 5, max: 40 }), (offers, bound) => {
        const queue = new CommandQueue({ count: bound, bytes: 1e9 });
        const weights = [1, 1, 2, 3, 10];
        let sequence = 0;
        for (const [who, takes] of offers) {
          const weight = weights[who] ?? 1;
          const candidate = {
            tenant: `t${who}`,
            weight,
            bytes: 1,
            critical: false,
            acceptedAtMs: T0,
            deadlineAtMs: null,
          };
          queue.offer(candidate, () => ++sequence, T0);
          if (takes) queue.take();
          expect(queue.depth).toBeLessThanOrEqual(bound);
        }
      }),
    );
  });

  test("gives each that keeps asking its share, within one filling of the queue", () => {
    const weights: Readonly<Record<string, number>> = { flood: 1, one: 1, two: 2, ten: 10 };
    const queue = new CommandQueue({ count: 140, bytes: 1e9 });
    let sequence = 0;
    const ask = (tenant: string) => {
      const candidate = {
        tenant,
        weight: weights[tenant] ?? 1,
        bytes: 1,
        critical: false,
        acceptedAtMs: T0,
        deadlineAtMs: null,
      };
      const entry = queue.offer(candidate, () => ++sequence, T0);
      if (typeof entry !== "string") held.set(tenant, (held.get(tenant) ?? 0) + 1);
    };
    const held = new Map<string, number>();
    for (let n = 0; n < 200; n++) ask("flood");
    expect(held.get("flood")).toBe(140);
    // The flood comes down as its own turns come, one in fourteen.
    for (let n = 0; n < 140 * 14; n++) {
      const taken = queue.take();
      if (taken !== undefined) held.set(taken.tenant, (held.get(taken.tenant) ?? 0) - 1);
      for (const tenant of Object.keys(weights)) for (let k = 0; k < 3; k++) ask(tenant);
    }
    for (const [tenant, weight] of Object.entries(weights)) {
      expect(held.get(tenant)).toBeGreaterThanOrEqual(10 * weight - 1);
      expect(held.get(tenant)).toBeLessThanOrEqual(10 * weight + 1);
    }
  });
});
