import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLOCK_REBASE_MS } from "../../src/core/clock.ts";
import type { Rule } from "../../src/core/meter.ts";
import { type SlidingWindow, slidingWindowRule } from "../../src/core/sliding-window.ts";

/** A minute's start. */
const T0 = 28_333_334 * 60_000;

function ruleOf(limit: number, windowSeconds: number): Rule<SlidingWindow> {
  const rule = slidingWindowRule({ type: "sliding-window", name: "w", scope: "tenant", limit, windowSeconds });
  if (rule === null) throw new Error("not countable");
  return rule;
}

const minute = ruleOf(100, 60);

function countsOf(previous: number, present: number, atMs: number, windowMs = 60_000): SlidingWindow {
  return { type: "sliding-window", previous, present, windowMs, atMs };
}

/** What weighs now, in 1 / window ms; by the definition, in whole numbers of any size. */
function weightOf({ previous, present, windowMs, atMs }: SlidingWindow): bigint {
  const elapsed = atMs % windowMs;
  return BigInt(previous) * BigInt(windowMs - elapsed) + BigInt(present) * BigInt(windowMs);
}

const anySize = fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 120 }));
const anySteps = fc.array(fc.tuple(fc.nat(40_000), fc.integer({ min: 1, max: 60 })), { maxLength: 60 });

describe("a sliding window", () => {
  test.for<[string, [previous: number, present: number], number, number, object]>([
    ["the window before counts whole at the border", [100, 0], 0, 1, { verdict: "later", waitMs: 600 }],
    ["half of it at half the time", [100, 50], 30_000, 1, { verdict: "later", waitMs: 600 }],
    ["what is just as much as there is room for fits", [100, 49], 30_000, 1, { verdict: "fits" }],
    ["a third of a count is no count", [1, 99], 20_000, 1, { verdict: "later", waitMs: 40_000 }],
    ["room comes with the window's end", [100, 50], 30_000, 50, { verdict: "later", waitMs: 30_000 }],
    ["room comes in the next window", [0, 100], 30_000, 50, { verdict: "later", waitMs: 60_000 }],
    ["the whole limit comes two windows on", [0, 1], 0, 100, { verdict: "later", waitMs: 120_000 }],
    ["after a lower the next window is waited for", [400, 200], 0, 1, { verdict: "later", waitMs: 90_300 }],
    ["a cost over the limit never fits", [0, 0], 0, 101, { verdict: "never" }],
    ["a look always fits", [400, 200], 0, 0, { verdict: "fits" }],
  ])("%s", ([, [previous, present], atMs, cost, verdict]) => {
    expect(minute.weigh(countsOf(previous, present, T0 + atMs), cost)).toEqual(verdict);
  });

  test.for<[string, [previous: number, present: number], number, number, number]>([
    ["nothing is used", [0, 0], 10_000, 100, 0],
    ["some is used in this window", [0, 30], 10_000, 70, 110_000],
    ["some was used in the one before", [30, 0], 10_000, 75, 50_000],
    ["a share is not whole: what is left is rounded down", [1, 0], 1, 99, 59_999],
    ["more is used than there is", [400, 200], 0, 0, 120_000],
  ])("when %s", ([, [previous, present], atMs, remaining, resetMs]) => {
    const window = countsOf(previous, present, T0 + atMs);
    expect([minute.remaining(window), minute.resetMs(window)]).toEqual([remaining, resetMs]);
  });

  test("a limit of zero admits nothing and divides by nothing", () => {
    const none = ruleOf(0, 1);
    expect(none.weigh(none.start(T0), 1)).toEqual({ verdict: "never" });
    expect([none.remaining(none.start(T0)), none.resetMs(none.start(T0))]).toEqual([0, 0]);
  });

  test("what is counted and never refused uses the limit up and goes no further", () => {
    expect(minute.chargeUpToLimit(countsOf(100, 0, T0 + 30_000), 70).present).toBe(50);
    expect(minute.chargeUpToLimit(countsOf(0, 120, T0), 5).present).toBe(120);
  });

  test("says what a plain list of all that was admitted says, and its weight never exceeds the limit", () => {
    fc.assert(
      fc.property(anySize, anySteps, ([limit, windowSeconds], steps) => {
        const rule = ruleOf(limit, windowSeconds);
        const windowMs = windowSeconds * 1000;
        const admitted = new Map<number, number>();
        let window = rule.start(T0);
        let at = T0;
        for (const [gap, cost] of steps) {
          at += gap;
          const index = Math.floor(at / windowMs);
          const model = countsOf(admitted.get(index - 1) ?? 0, admitted.get(index) ?? 0, at, windowMs);
          window = rule.settle(window, at);
          expect(window).toEqual(model);
          const after = weightOf(model) + BigInt(cost) * BigInt(windowMs);
          const fits = after <= BigInt(limit) * BigInt(windowMs);
          const { verdict } = rule.weigh(window, cost);
          expect(verdict).toBe(cost > limit ? "never" : fits ? "fits" : "later");
          expect(rule.remaining(window) >= cost).toBe(fits);
          if (verdict !== "fits") continue;
          window = rule.charge(window, cost);
          admitted.set(index, model.present + cost);
          expect(weightOf(window)).toBeLessThanOrEqual(BigInt(limit) * BigInt(windowMs));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("the wait told is enough, and one millisecond less is not", () => {
    const counts = fc.tuple(fc.nat(120), fc.nat(120), fc.nat(200_000));
    fc.assert(
      fc.property(anySize, counts, fc.integer({ min: 1, max: 50 }), (size, [previous, present, at], cost) => {
        const rule = ruleOf(...size);
        const window = countsOf(previous, present, T0 + at, size[1] * 1000);
        const verdict = rule.weigh(window, cost);
        if (verdict.verdict !== "later") return;
        expect(verdict.waitMs).toBeGreaterThan(0);
        expect(rule.weigh(rule.settle(window, T0 + at + verdict.waitMs), cost).verdict).toBe("fits");
        expect(rule.weigh(rule.settle(window, T0 + at + verdict.waitMs - 1), cost).verdict).toBe("later");
      }),
      { numRuns: 1_000 },
    );
  });

  test("is exact where a double is not: the largest limit, and counts from before a lower of it", () => {
    const large = ruleOf(1_000_000_000, 4_503);
    const windowMs = 4_503_000;
    const start = Math.ceil(T0 / windowMs) * windowMs;
    const full = countsOf(1_000_000_000, 0, start, windowMs);
    // A millisecond frees 222.07 counts.
    expect(large.weigh(full, 1)).toEqual({ verdict: "later", waitMs: 1 });
    expect(large.remaining(large.settle(full, start + 1))).toBe(222);
    const year = ruleOf(100_000, 31_536_000);
    const yearMs = 31_536_000_000;
    const most = countsOf(1_000_000_000, 1_000_000_000, 54 * yearMs + 7, yearMs);
    const verdict = year.weigh(most, 1);
    if (verdict.verdict !== "later") throw new Error("it does not fit");
    expect(year.weigh(year.settle(most, most.atMs + verdict.waitMs), 1).verdict).toBe("fits");
    expect(year.weigh(year.settle(most, most.atMs + verdict.waitMs - 1), 1).verdict).toBe("later");
    expect(year.remaining(most)).toBe(0);
  });
});

describe("a change of a sliding window's limits", () => {
  const at = T0 + 30_000;
  const owing = countsOf(60, 40, at);

  test.for<[string, [limit: number, windowSeconds: number], number]>([
    ["a raise frees exactly the difference", [150, 60], 80],
    ["a lower carries what was used", [50, 60], 0],
    ["the same again changes nothing", [100, 60], 30],
    ["a shorter window begins with all that weighed", [100, 10], 30],
    ["a longer window begins with all that weighed", [100, 3_600], 30],
  ])("%s", ([, size, remaining]) => {
    expect(ruleOf(...size).remaining(ruleOf(...size).settle(owing, at))).toBe(remaining);
  });

  test("there and back at once weighs no less, then and at any later time", () => {
    const counts = fc.tuple(fc.nat(120), fc.nat(120), fc.nat(200_000));
    fc.assert(
      fc.property(anySize, anySize, counts, fc.nat(300_000), (one, other, [previous, present, now], later) => {
        const window = countsOf(previous, present, T0 + now, one[1] * 1000);
        const there = ruleOf(...other).settle(window, T0 + now);
        const back = ruleOf(...one).settle(there, T0 + now);
        const [kept, plain] = [back, window].map((counted) => ruleOf(...one).settle(counted, T0 + now + later));
        expect(kept && plain && weightOf(kept) >= weightOf(plain)).toBe(true);
      }),
    );
  });
});

describe("a clock that steps back", () => {
  test("a little, over the window's border, grants and charges nothing", () => {
    const owing = countsOf(60, 40, T0 + 1_000);
    expect(minute.settle(owing, T0 - 9_000)).toEqual(owing);
  });

  test("far, is followed without credit, and nobody is locked out", () => {
    const full = countsOf(100, 0, T0 + 120_000);
    const now = T0 + 120_000 - CLOCK_REBASE_MS - 1;
    const back = minute.settle(full, now);
    expect(minute.remaining(back)).toBe(0);
    expect(minute.weigh(back, 1)).toEqual({ verdict: "later", waitMs: 601 });
    expect(minute.remaining(minute.settle(back, now + 120_000))).toBe(100);
  });

  test("far, never lowers what weighs", () => {
    const counts = fc.tuple(fc.nat(120), fc.nat(120), fc.nat(200_000));
    fc.assert(
      fc.property(counts, fc.nat(1_000_000), ([previous, present, now], step) => {
        const owing = countsOf(previous, present, T0 + now);
        const back = minute.settle(owing, T0 + now - CLOCK_REBASE_MS - 1 - step);
        expect(weightOf(back)).toBeGreaterThanOrEqual(weightOf(owing));
      }),
    );
  });
});
