import { expect, test } from "vitest";
import { LogBudget } from "../../src/core/log-budget.ts";

test("a flood is so many lines a second, and the next line tells how many were left out", () => {
  const budget = new LogBudget(3);
  const taken = Array.from({ length: 10 }, (_, n) => budget.take(5_000 + n));
  expect(taken).toEqual([0, 0, 0, ...new Array(7).fill(null)]);
  expect(budget.take(6_000)).toBe(7);
  expect(budget.take(6_001)).toBe(0);
});

test("a clock that steps back begins a second of its own", () => {
  const budget = new LogBudget(1);
  expect([budget.take(9_000), budget.take(9_001), budget.take(1_000)]).toEqual([0, null, 1]);
});
