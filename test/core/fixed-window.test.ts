import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLOCK_REBASE_MS } from "../../src/core/clock.ts";
import { type FixedWindow, fixedWindowRule } from "../../src/core/fixed-window.ts";
import type { Rule } from "../../src/core/meter.ts";

/** An hour's start. */
const T0 = 472_223 * 3_600_000;

function ruleOf(limit: number, windowSeconds: number): Rule<FixedWindow> {
  const rule = fixedWindowRule({ type: "fixed-window", name: "w", scope: "tenant", limit, windowSeconds });
  if (rule === null) throw new Error("not countable");
  return rule;
}

const minute = ruleOf(30, 60);

/** A window in which so much was used at this time. */
function used(rule: Rule<FixedWindow>, cost: number, atMs: number): FixedWindow {
  return rule.charge(rule.start(atMs), cost);
}

const anySize = fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 120 }));
const anySteps = fc.array(fc.tuple(fc.nat(40_000), fc.integer({ min: 1, max: 60 })), { maxLength: 60 });

describe("a fixed window", () => {
  test("of 30 a minute answers the 31st, 2 s into the minute, with 58 s to wait", () => {
    const full = used(minute, 30, T0 + 2_000);
    expect(minute.weigh(full, 1)).toEqual({ verdict: "later", waitMs: 58_000 });
    expect(minute.weigh(minute.settle(full, T0 + 59_999), 1)).toEqual({ verdict: "later", waitMs: 1 });
    expect(minute.weigh(minute.settle(full, T0 + 60_000), 30)).toEqual({ verdict: "fits" });
  });

  test.for<[string, number, number, number, number]>([
    ["nothing is used", 0, 0, 30, 0],
    ["some is used", 2_000, 12, 18, 58_000],
    ["all is used in the last millisecond", 59_999, 30, 0, 1],
    ["all is used in the first", 0, 30, 0, 60_000],
  ])("when %s", ([, atMs, cost, remaining, resetMs]) => {
    const window = used(minute, cost, T0 + atMs);
    expect([minute.remaining(window), minute.resetMs(window)]).toEqual([remaining, resetMs]);
  });

  test("a cost over the limit never fits, and a cost of zero always does", () => {
    expect(minute.weigh(minute.start(T0), 31)).toEqual({ verdict: "never" });
    expect(minute.weigh(used(minute, 30, T0), 0)).toEqual({ verdict: "fits" });
    expect(ruleOf(0, 1).weigh(ruleOf(0, 1).start(T0), 1)).toEqual({ verdict: "never" });
    expect(ruleOf(0, 1).remaining(ruleOf(0, 1).start(T0))).toBe(0);
  });

  test("what is counted and never refused uses the window up and goes no further", () => {
    expect(minute.chargeUpToLimit(used(minute, 28, T0), 5).used).toBe(30);
    expect(minute.chargeUpToLimit(used(minute, 40, T0), 5).used).toBe(40);
  });

  test("says what a plain list of all that was admitted says, and admits at most its limit in each window", () => {
    fc.assert(
      fc.property(anySize, anySteps, ([limit, windowSeconds], steps) => {
        const rule = ruleOf(limit, windowSeconds);
        const admitted = new Map<number, number>();
        let window = rule.start(T0);
        let at = T0;
        for (const [gap, cost] of steps) {
          at += gap;
          const index = Math.floor(at / (windowSeconds * 1000));
          const before = admitted.get(index) ?? 0;
          window = rule.settle(window, at);
          expect(rule.remaining(window)).toBe(limit - before);
          const { verdict } = rule.weigh(window, cost);
          expect(verdict).toBe(cost > limit ? "never" : before + cost <= limit ? "fits" : "later");
          if (verdict !== "fits") continue;
          window = rule.charge(window, cost);
          admitted.set(index, before + cost);
        }
      }),
    );
  });

  test("the wait told is enough, and one millisecond less is not", () => {
    fc.assert(
      fc.property(anySize, fc.nat(200_000), fc.nat(80), fc.integer({ min: 1, max: 50 }), (size, at, spent, cost) => {
        const rule = ruleOf(...size);
        const window = used(rule, spent, T0 + at);
        const verdict = rule.weigh(window, cost);
        if (verdict.verdict !== "later") return;
        expect(rule.weigh(rule.settle(window, T0 + at + verdict.waitMs), cost).verdict).toBe("fits");
        expect(rule.weigh(rule.settle(window, T0 + at + verdict.waitMs - 1), cost).verdict).toBe("later");
      }),
    );
  });
});

describe("a change of a fixed window's limits", () => {
  const full = used(minute, 30, T0 + 2_000);

  test.for<[string, [limit: number, windowSeconds: number], number, number]>([
    ["a raise frees exactly the difference", [50, 60], 20, 58_000],
    ["a lower carries what was used", [10, 60], 0, 58_000],
    ["the same again changes nothing", [30, 60], 0, 58_000],
    ["a shorter window begins with all that was used", [30, 10], 0, 8_000],
    ["a longer window begins with all that was used", [40, 3_600], 10, 3_598_000],
  ])("%s", ([, size, remaining, resetMs]) => {
    const changed = ruleOf(...size).settle(full, T0 + 2_000);
    expect([ruleOf(...size).remaining(changed), ruleOf(...size).resetMs(changed)]).toEqual([remaining, resetMs]);
  });

  test("after a lower nothing fits until the window ends", () => {
    const lower = ruleOf(10, 60);
    const verdict = lower.weigh(lower.settle(full, T0 + 2_000), 1);
    expect(verdict).toEqual({ verdict: "later", waitMs: 58_000 });
  });

  test("there and back at once forgets nothing", () => {
    fc.assert(
      fc.property(anySize, anySize, fc.nat(200_000), fc.nat(80), (one, other, at, spent) => {
        const window = used(ruleOf(...one), spent, T0 + at);
        const there = ruleOf(...other).settle(window, T0 + at);
        expect(ruleOf(...one).settle(there, T0 + at)).toEqual(window);
      }),
    );
  });

  test("a window that had ended before a change is not brought back by it", () => {
    expect(ruleOf(30, 3_600).settle(full, T0 + 60_000).used).toBe(0);
  });
});

describe("a clock that steps back", () => {
  test("a little, over the window's border, grants and charges nothing", () => {
    const full = used(minute, 30, T0 + 60_000);
    const back = minute.settle(full, T0 + 59_000);
    expect(back).toEqual(full);
    expect(minute.remaining(minute.settle(back, T0 + 60_000))).toBe(0);
  });

  test("far, is followed without credit, and nobody is locked out", () => {
    const full = used(minute, 30, T0 + 60_000);
    const now = T0 + 60_000 - CLOCK_REBASE_MS - 1;
    const back = minute.settle(full, now);
    expect(minute.weigh(back, 1)).toEqual({ verdict: "later", waitMs: 1 });
    expect(minute.remaining(minute.settle(back, T0))).toBe(30);
  });
});
