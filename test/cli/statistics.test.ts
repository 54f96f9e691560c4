import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countBy, spreadOf } from "../../src/cli/statistics.ts";

describe("a spread", () => {
  test.each([
    ["of one value is that value", [7], { count: 1, min: 7, median: 7, p95: 7, p99: 7, max: 7 }],
    ["of two takes the lower as the median", [9, 1], { count: 2, min: 1, median: 1, p95: 9, p99: 9, max: 9 }],
    ["sorts numbers, not texts", [10, 9, 100], { count: 3, min: 9, median: 10, p95: 100, p99: 100, max: 100 }],
  ])("%s", (_label, values, spread) => {
    expect(spreadOf(values)).toEqual(spread);
  });

  test("of 1 to 100 is at its ranks", () => {
    const values = Array.from({ length: 100 }, (_, n) => 100 - n);
    expect(spreadOf(values)).toEqual({ count: 100, min: 1, median: 50, p95: 95, p99: 99, max: 100 });
  });

  test("of nothing is none", () => {
    expect(spreadOf([])).toBeNull();
  });

  test("is made of the values and is in order, and the values stay as they are", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const before = [...values];
        const spread = spreadOf(values);
        expect(values).toEqual(before);
        if (spread === null) throw new Error("there are values");
        const { count, min, median, p95, p99, max } = spread;
        const figures = [min, median, p95, p99, max];
        expect(count).toBe(values.length);
        expect(figures).toEqual(figures.toSorted((a, b) => a - b));
        for (const figure of figures) expect(values).toContain(figure);
      }),
    );
  });
});

test("things are counted by name, the most frequent first", () => {
  expect([...countBy(["a", "b", "b", "c", "b", "c"], (name) => name)]).toEqual([
    ["b", 3],
    ["c", 2],
    ["a", 1],
  ]);
});
