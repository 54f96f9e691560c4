import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EdgeCounts } from "../../src/core/edge-told.ts";
import { emptyHistogram, HistogramCounter, PROCESSING_SECONDS, RETRY_AFTER_SECONDS } from "../../src/core/histogram.ts";
import { NO_USAGE } from "../../src/core/usage-minutes.ts";

const counted = (values: readonly number[], bounds = RETRY_AFTER_SECONDS) => {
  const counter = new HistogramCounter(bounds);
  for (const value of values) counter.observe(value);
  return counter;
};

describe("a histogram", () => {
  test("counts a value in the first bucket whose bound it does not pass", () => {
    expect(counted([1, 1.5, 2, 3601], [1, 2, 3600]).value).toEqual({ counts: [1, 2, 0, 1], sum: 3605.5 });
  });

  test.each([[PROCESSING_SECONDS], [RETRY_AFTER_SECONDS]])("has bounds that ascend: %j", (bounds) => {
    expect([...bounds].sort((a, b) => a - b)).toEqual(bounds);
    expect(new Set(bounds).size).toBe(bounds.length);
  });

  test("counted in parts and added is the one that was counted whole", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(5_000))), (parts) => {
        const sum = counted([]);
        for (const part of parts) sum.add(counted(part).value);
        expect(sum.value).toEqual(counted(parts.flat()).value);
      }),
    );
  });

  test("passes over one with other buckets, as an older Worker may send it", () => {
    const counter = counted([1]);
    counter.add({ counts: [7], sum: 7 });
    expect(counter.value.sum).toBe(1);
  });
});

describe("what an isolate has counted", () => {
  test("is told once, and once more when telling it failed", () => {
    const counts = new EdgeCounts();
    counts.refused("queue_full", 2, 0);
    counts.told(30, 0);
    counts.degraded(0);
    counts.address({ ...NO_USAGE, refused: 1 }, 0);
    const told = counts.take();
    expect(told).toMatchObject({
      refused: { queue_full: 2 },
      degraded: 1,
      addresses: { refused: 1 },
      retryAfter: { sum: 30 },
    });
    expect(counts.take()).toEqual({
      refused: {},
      degraded: 0,
      addresses: NO_USAGE,
      retryAfter: emptyHistogram(RETRY_AFTER_SECONDS),
    });
    counts.refused("queue_full", 1, 0);
    counts.giveBack(told, 0);
    expect(counts.take()).toMatchObject({ refused: { queue_full: 3 }, degraded: 1, retryAfter: { sum: 30 } });
  });

  test("waits from the first count that was not told", () => {
    const counts = new EdgeCounts();
    expect(counts.untoldMs(5_000)).toBe(0);
    counts.refused("queue_full", 1, 1_000);
    counts.told(1, 9_000);
    expect(counts.untoldMs(10_000)).toBe(9_000);
    counts.take();
    expect(counts.untoldMs(99_000)).toBe(0);
  });
});
