import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Deadlines } from "../../src/core/deadlines.ts";
import { Heap } from "../../src/core/heap.ts";

describe("a heap", () => {
  test("gives back what was put in, the least first", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (numbers) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const number of numbers) heap.push(number);
        const sorted = Array.from(numbers, () => heap.pop());
        expect(sorted).toEqual(numbers.toSorted((a, b) => a - b));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});

describe("deadlines", () => {
  test("are due in the order of their times, and never before, whatever came and went", () => {
    const step = fc.record({
      sequence: fc.integer({ min: 1, max: 8 }),
      inMs: fc.integer({ min: 0, max: 50 }),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const deadlines = new Deadlines();
        const model = new Map<number, number>();
        for (const [nowMs, { sequence, inMs, remove }] of steps.entries()) {
          if (remove) {
            deadlines.remove(sequence);
            model.delete(sequence);
          } else {
            deadlines.add(sequence, nowMs + inMs);
            model.set(sequence, nowMs + inMs);
          }
          const nextMs = model.size === 0 ? null : Math.min(...model.values());
          expect(deadlines.nextMs()).toBe(nextMs);
          const due = [...model].filter(([, atMs]) => atMs <= nowMs).map(([due]) => due);
          expect(deadlines.takeDue(nowMs).toSorted()).toEqual(due.toSorted());
          for (const gone of due) model.delete(gone);
        }
      }),
    );
  });

  test("that lie far ahead do not pile up when their commands begin long before", () => {
    const deadlines = new Deadlines();
    for (let sequence = 1; sequence <= 100_000; sequence++) {
      deadlines.add(sequence, 1_000_000 + sequence);
      if (sequence > 10) deadlines.remove(sequence - 10);
    }
    expect(deadlines.held).toBeLessThan(2_000);
    expect(deadlines.takeDue(Number.MAX_SAFE_INTEGER)).toHaveLength(10);
  });
});
