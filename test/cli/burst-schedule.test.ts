import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixedRate } from "../../src/cli/burst-schedule.ts";

describe("a fixed rate", () => {
  test.each([
    ["10 a second for 30 s", 10, 30, 300],
    ["a decimal that doubles hold a little too low", 0.1, 30, 3],
    ["less than one in all", 0.1, 1, 1],
    ["a third", 1 / 3, 10, 3],
  ])("has as many requests as were asked for: %s", (_label, rate, seconds, total) => {
    expect(fixedRate(rate, seconds).total).toBe(total);
  });

  test("begins at once, and then keeps to its rate", () => {
    const schedule = fixedRate(10, 30);
    expect([-1, 0, 99, 100, 199, 200, 29_899, 29_900, 99_999].map((ms) => schedule.dueBy(ms))).toEqual([
      0, 1, 1, 2, 2, 3, 299, 300, 300,
    ]);
  });

  test("owes a request from the moment that it is due, and owes everything that was missed", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 10_000, noNaN: true }), fc.nat(100_000), (rate, n) => {
        const schedule = fixedRate(rate, 1_000_000 / rate);
        expect(schedule.dueBy(schedule.dueMs(n))).toBe(n + 1);
        expect(schedule.dueBy(schedule.dueMs(n) - 500 / rate)).toBe(n);
      }),
    );
  });
});
