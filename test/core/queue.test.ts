import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Retries } from "../../src/core/delivery/retries.ts";
import { type Candidate, CommandQueue, type QueueEntry } from "../../src/core/queue.ts";
import { TENANT_QUOTAS } from "../../src/core/tenant-quotas.ts";

const BIG = { count: 1_000_000, bytes: 1_000_000_000 };

function candidate(changes: Partial<Candidate> = {}): Candidate {
  return { tenant: "t", bytes: 10, critical: false, weight: 1, acceptedAtMs: 0, deadlineAtMs: null, ...changes };
}

function counter(): () => number {
  let next = 1;
  return () => next++;
}

describe("a bounded queue", () => {
  test("takes exactly as many as the bound, and one more only after one has left", () => {
    const queue = new CommandQueue({ count: 10, bytes: BIG.bytes });
    const next = counter();
    const answers = Array.from({ length: 11 }, () => queue.offer(candidate(), next, 0));
    expect(answers.filter((answer) => answer === "full")).toHaveLength(1);
    expect(queue.depth).toBe(10);
    expect(queue.take()?.sequence).toBe(1);
    expect(queue.offer(candidate(), next, 0)).not.toBe("full");
    expect(queue.peakDepth).toBe(10);
  });

  test("says for how many more there is room, by what those that wait take of it", () => {
    const queue = new CommandQueue({ count: 10, bytes: 100 });
    let sequence = 1;
    expect(queue.room).toBe(10);
    queue.offer(candidate({ bytes: 10 }), () => sequence++, 0);
    expect(queue.room).toBe(9);
    queue.offer(candidate({ bytes: 30 }), () => sequence++, 0);
    expect(queue.room).toBe(3);
    queue.offer(candidate({ bytes: 60, tenant: "other" }), () => sequence++, 0);
    expect(queue.room).toBe(0);
  });

  test("is bounded by bytes as exactly as by count", () => {
    const queue = new CommandQueue({ count: BIG.count, bytes: 100 });
    const next = counter();
    expect(queue.offer(candidate({ bytes: 60 }), next, 0)).not.toBe("full");
    expect(queue.offer(candidate({ bytes: 41 }), next, 0)).toBe("full");
    expect(queue.offer(candidate({ bytes: 40 }), next, 0)).not.toBe("full");
  });

  test("a refusal uses up no key", () => {
    const queue = new CommandQueue({ count: 1, bytes: BIG.bytes });
    const next = counter();
    queue.offer(candidate(), next, 0);
    queue.offer(candidate(), next, 0);
    expect(next()).toBe(2);
  });

  test("critical commands pass the bound and go first, each lane in the order of arrival", () => {
    const queue = new CommandQueue({ count: 2, bytes: BIG.bytes });
    const next = counter();
    for (const critical of [false, true, false, true, false]) queue.offer(candidate({ critical }), next, 0);
    expect([queue.depth, queue.criticalDepth]).toEqual([2, 2]);
    expect([1, 2, 3, 4].map((sequence) => queue.aheadOf(sequence))).toEqual([2, 0, 3, 1]);
    expect(Array.from({ length: 5 }, () => queue.take()?.sequence)).toEqual([2, 4, 1, 3, undefined]);
  });

  test("one tenant's flood of critical commands ends, and another tenant's passes", () => {
    const queue = new CommandQueue(BIG);
    const next = counter();
    for (let n = 0; n < TENANT_QUOTAS.critical.value; n++) queue.offer(candidate({ critical: true }), next, 0);
    expect(queue.offer(candidate({ critical: true }), next, 0)).toBe("critical");
    expect(queue.offer(candidate({ critical: true, tenant: "other" }), next, 0)).toMatchObject({ tenant: "other" });
  });

  test("so do its bytes", () => {
    const queue = new CommandQueue(BIG);
    const next = counter();
    const half = candidate({ critical: true, bytes: TENANT_QUOTAS.criticalBytes.value / 2 });
    expect([1, 2, 3].map(() => typeof queue.offer(half, next, 0))).toEqual(["object", "object", "string"]);
    expect(queue.offer(half, next, 0)).toBe("criticalBytes");
    queue.take();
    expect(queue.offer(half, next, 0)).toMatchObject({ bytes: half.bytes });
  });

  test("while others lack room a tenant's large bodies leave half of the queue's bytes to them", () => {
    const queue = new CommandQueue({ count: 100, bytes: 1000 });
    const next = counter();
    expect(queue.offer(candidate({ bytes: 900, tenant: "large" }), next, 0)).toMatchObject({ tenant: "large" });
    queue.take();
    for (let n = 0; n < 5; n++) queue.offer(candidate({ bytes: 100 }), next, 0);
    expect(queue.offer(candidate({ bytes: 100 }), next, 0)).toMatchObject({ tenant: "t" });
    queue.wants({ tenant: "other", weight: 1 }, 0);
    expect(queue.offer(candidate({ bytes: 1 }), next, 0)).toBe("over_bytes");
    expect(queue.offer(candidate({ bytes: 400, tenant: "other" }), next, 0)).toMatchObject({ tenant: "other" });
  });

  test("a lower bound throws nobody out", () => {
    const queue = new CommandQueue({ count: 5, bytes: BIG.bytes });
    const next = counter();
    for (let n = 0; n < 5; n++) queue.offer(candidate(), next, 0);
    queue.setBounds({ count: 2, bytes: BIG.bytes });
    expect(queue.depth).toBe(5);
    expect(queue.offer(candidate(), next, 0)).toBe("full");
  });

  test("invariant 2: against a plain model, over random offers, takes and removals", () => {
    const step = fc.oneof(
      fc.record({ op: fc.constant("offer" as const), critical: fc.boolean(), bytes: fc.nat(40) }),
      fc.record({ op: fc.constant("take" as const) }),
      fc.record({ op: fc.constant("remove" as const), sequence: fc.integer({ min: 1, max: 300 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.integer({ min: 1, max: 30 }), (steps, bound) => {
        const bounds = { count: bound, bytes: bound * 20 };
        const queue = new CommandQueue(bounds);
        const next = counter();
        let model: QueueEntry[] = [];
        for (const one of steps) {
          const ordinary = model.filter((entry) => !entry.critical);
          const inOrder = [...model.filter((entry) => entry.critical), ...ordinary];
          if (one.op === "offer") {
            const bytes = ordinary.reduce((sum, entry) => sum + entry.bytes, one.bytes);
            const fits = one.critical || (ordinary.length < bound && bytes <= bounds.bytes);
            const { critical, bytes: size } = one;
            const entry = queue.offer(candidate({ critical, bytes: size }), next, 0);
            expect(entry === "full").toBe(!fits);
            // A tenant that is alone is never over its share.
            expect(entry).not.toBe("over_share");
            if (typeof entry !== "string") model.push(entry);
          } else if (one.op === "take") {
            const taken = queue.take();
            expect(taken).toEqual(inOrder[0]);
            model = model.filter((entry) => entry !== taken);
          } else {
            expect(queue.remove(one.sequence)).toBe(model.some((entry) => entry.sequence === one.sequence));
            model = model.filter((entry) => entry.sequence !== one.sequence);
          }
          expect(queue.depth).toBeLessThanOrEqual(bound);
          expect(queue.depth + queue.criticalDepth).toBe(model.length);
          const last = model.at(-1);
          const order = [...model.filter((entry) => entry.critical), ...model.filter((entry) => !entry.critical)];
          if (last !== undefined) expect(queue.aheadOf(last.sequence)).toBe(order.indexOf(last));
        }
      }),
    );
  });
});

test("critical commands between two attempts count in their tenant's ceiling", () => {
  const retries = new Retries();
  const queue = new CommandQueue({ count: 1, bytes: 1 }, retries);
  const critical = candidate({ tenant: "a", critical: true });
  let sequence = 0;
  const offer = () => queue.offer(critical, () => ++sequence, 0);
  for (let n = 0; n < TENANT_QUOTAS.critical.value; n++) offer();
  expect(offer()).toBe("critical");
  const taken = queue.take();
  if (taken === undefined) throw new Error("nothing was taken");
  retries.add(taken, 1_000, 0);
  expect(offer()).toBe("critical");
  expect(queue.refusalOf({ ...critical, tenant: "b" }, 0)).toBeNull();
  retries.remove(taken.sequence);
  expect(offer()).toMatchObject({ critical: true });
});
