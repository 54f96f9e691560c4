import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimatedWaitSeconds, Pace, secondsUntilStarted } from "../../src/core/pace.ts";
import { seeded } from "../../src/core/random.ts";
import { askAt, errorsOver, quantile, runBurst } from "../sim/bursts.ts";

const T0 = 1_700_000_000_000;

/** An engine that finishes `perSecond` commands each second, busy all the time. */
function steady(perSecond: number, seconds: number): Pace {
  const pace = new Pace(T0);
  pace.setBusy(true, T0);
  for (let second = 1; second <= seconds; second++) pace.finished(perSecond, T0 + second * 1000);
  return pace;
}

describe("pace", () => {
  test("is unknown, not zero, before anything has finished", () => {
    expect(new Pace(T0).perSecond(T0 + 5_000)).toBeNull();
  });

  test("divides by the time that was observed, not by a minute that has not passed", () => {
    expect(steady(2, 20).perSecond(T0 + 20_000)).toBe(2);
  });

  test("says nothing of what finished while nothing else waited", () => {
    const pace = new Pace(T0);
    for (let n = 0; n < 100; n++) pace.finished(1, T0 + n * 10);
    expect(pace.perSecond(T0 + 1_000)).toBeNull();
    expect(pace.completedLastMinute(T0 + 1_000)).toBe(100);
  });

  test("does not count the time in which there was nothing to do", () => {
    const pace = steady(10, 10);
    pace.setBusy(false, T0 + 10_000);
    expect(pace.perSecond(T0 + 40_000)).toBe(10);
    expect(pace.completedLastMinute(T0 + 40_000)).toBe(100);
  });

  test("forgets what is older than a minute", () => {
    const pace = steady(10, 10);
    pace.setBusy(false, T0 + 10_000);
    expect(pace.perSecond(T0 + 75_000)).toBeNull();
    expect(pace.completedLastMinute(T0 + 75_000)).toBe(0);
  });

  test("of a busy engine that finishes nothing falls, and a long gap ends it", () => {
    const pace = steady(10, 10);
    expect(pace.perSecond(T0 + 20_000)).toBe(5);
    expect(pace.perSecond(T0 + 500_000)).toBeNull();
  });

  test("between two ends is what it was at the last one, for as long as such a silence is usual", () => {
    const pace = new Pace(T0);
    pace.setBusy(true, T0);
    for (let batch = 1; batch <= 4; batch++) pace.finished(4, T0 + batch * 2_000);
    expect(pace.perSecond(T0 + 8_000)).toBe(2);
    expect(pace.perSecond(T0 + 9_999)).toBe(2);
    expect(pace.perSecond(T0 + 10_001)).toBeLessThan(1.61);
  });

  test("is not moved by a clock that steps back", () => {
    const pace = steady(10, 10);
    expect(pace.perSecond(T0 - 100_000)).toBe(10);
  });

  test("goes on from where it was when the clock has stepped far back", () => {
    const pace = steady(10, 10);
    for (let second = 1; second <= 10; second++) pace.finished(30, T0 - 86_400_000 + second * 1000);
    expect(pace.perSecond(T0 - 86_400_000 + 10_000)).toBeGreaterThan(18);
  });
});

describe("pace of an engine whose most is known", () => {
  test("is not thrown off by one timer that comes late, and follows an engine that is slower", () => {
    const pace = new Pace(T0, 5);
    pace.setBusy(true, T0);
    pace.finished(1, T0 + 400);
    expect(pace.perSecond(T0 + 400)).toBeGreaterThan(4.5);
    for (let second = 1; second <= 30; second++) pace.finished(2, T0 + second * 1000);
    expect(pace.perSecond(T0 + 30_000)).toBeLessThan(2.3);
  });

  test("is never more than that, however the first commands come", () => {
    const bursts = fc.array(fc.tuple(fc.integer({ min: 1, max: 2_000 }), fc.nat(20), fc.boolean()), { minLength: 1 });
    fc.assert(
      fc.property(bursts, fc.double({ min: 0.1, max: 100, noNaN: true }), (steps, most) => {
        const pace = new Pace(T0, most);
        let nowMs = T0;
        pace.setBusy(true, nowMs);
        for (const [laterMs, count, busy] of steps) {
          nowMs += laterMs;
          pace.finished(count, nowMs);
          pace.setBusy(busy, nowMs);
          expect(pace.perSecond(nowMs) ?? 0).toBeLessThanOrEqual(most);
        }
      }),
    );
  });
});

describe("pace of an upstream, which is told when work begins", () => {
  /** Four at a time, two seconds each, for so many rounds; others wait. */
  function rounds(count: number): Pace {
    const pace = new Pace(T0);
    pace.setBusy(true, T0);
    for (let round = 0; round < count; round++) {
      for (let n = 0; n < 4; n++) pace.began(T0 + round * 2_000);
      for (let n = 0; n < 4; n++) pace.stopped(2_000, T0 + (round + 1) * 2_000);
      pace.finished(4, T0 + (round + 1) * 2_000);
    }
    return pace;
  }

  test("is right from the first end on, and right before the next", () => {
    const pace = rounds(1);
    for (let n = 0; n < 4; n++) pace.began(T0 + 2_000);
    expect(pace.perSecond(T0 + 2_000)).toBe(2);
    expect(pace.perSecond(T0 + 3_999)).toBeCloseTo(2, 9);
  });

  test("counts a first end of many that run", () => {
    const pace = new Pace(T0);
    pace.setBusy(true, T0);
    for (let n = 0; n < 8; n++) pace.began(T0);
    pace.stopped(2_000, T0 + 2_000);
    pace.finished(1, T0 + 2_000);
    expect(pace.perSecond(T0 + 2_000)).toBe(4);
  });

  test("falls when what runs takes longer than usual, and is forgotten when nothing ends for a minute", () => {
    const pace = rounds(5);
    for (let n = 0; n < 4; n++) pace.began(T0 + 10_000);
    const falling = [12_000, 20_000, 40_000, 60_000].map((ms) => pace.perSecond(T0 + ms) ?? 0);
    expect(falling).toEqual([...falling].sort((a, b) => b - a));
    expect(falling[0]).toBeCloseTo(2, 9);
    expect(falling[3]).toBeLessThan(0.4);
    expect(pace.perSecond(T0 + 75_000)).toBeNull();
  });

  test("less that runs at once is seen within ten seconds: a quota that nobody told us of", () => {
    const pace = rounds(10);
    for (let second = 20; second < 32; second += 2) {
      pace.began(T0 + second * 1000);
      pace.stopped(2_000, T0 + (second + 2) * 1000);
      pace.finished(1, T0 + (second + 2) * 1000);
    }
    expect(pace.perSecond(T0 + 32_000)).toBeCloseTo(0.5, 6);
  });

  test("after a while in which nobody waited is what it was when somebody did", () => {
    const pace = rounds(5);
    pace.setBusy(false, T0 + 10_000);
    expect(pace.perSecond(T0 + 40_000)).toBe(2);
  });

  test("an attempt that ended nothing took time all the same", () => {
    const pace = rounds(1);
    for (let n = 0; n < 4; n++) pace.began(T0 + 2_000);
    for (let n = 0; n < 4; n++) pace.stopped(2_000, T0 + 4_000);
    expect(pace.perSecond(T0 + 4_000)).toBe(1);
  });
});

// Table 3. Drawn, from a seed each: workers 1 to 4, slots 1 to 8 each; the mean job time from 0.2 to 10 s, even in its
// logarithm, jobs within ± spread of it, the spread itself even from 0 to the one named; 5 to 30 jobs per slot; all
// at once, or (one in two) evenly at 1.5 to 10 times what the slots do; a quota of 10 to 100 at once and 20 to 200 a
// minute; the moment of asking even between the first end and the last time that somebody waits. The error is relative
// to what then happens.
describe("table 3: the estimate", () => {
  test.each([
    ["all at once", 0, 40, 24],
    ["in 20 s", 250, 43, 24],
  ])("80 jobs %s, one worker, and one more after 20 s: within a fifth", (_label, everyMs, ahead, seconds) => {
    const burst = { jobs: 80, everyMs, slots: 4, jobMs: 2_200, spread: 0, quota: null };
    const done = runBurst(burst, seeded(1));
    for (const endsOnly of [false, true]) {
      const asked = askAt(burst, done, 20_000, endsOnly);
      expect(asked).toMatchObject({ ahead, trueSeconds: seconds });
      expect(Math.abs((asked.toldSeconds ?? 0) / seconds - 1)).toBeLessThan(0.2);
    }
  });

  const seeds = Array.from({ length: 200 }, (_, n) => n + 1);
  test.each([
    ["jobs alike", 0, false],
    ["jobs alike, a quota that we were told of", 0, true],
    ["jobs that vary by up to half", 0.5, false],
    ["jobs that vary by up to half, a quota that we were told of", 0.5, true],
  ])("over 200 bursts, %s: median within 20 %%, nine in ten within 40 %%", (_label, spread, quota) => {
    for (const endsOnly of [false, true]) {
      const errors = errorsOver(seeds, { spread, quota, endsOnly });
      expect(quantile(errors, 0.5)).toBeLessThan(0.1);
      expect(quantile(errors, 0.9)).toBeLessThan(0.35);
    }
  });
});

describe("seconds until so many have started", () => {
  test.each([
    ["by the pace", 43, { perSecond: 1.8, quota: null }, 43 / 1.8],
    ["by a quota that is slower", 70, { perSecond: 4, quota: { tokens: 20, perSecond: 1 } }, 50],
    ["by the pace while the quota has enough", 15, { perSecond: 4, quota: { tokens: 20, perSecond: 1 } }, 15 / 4],
    ["by the quota alone", 70, { perSecond: null, quota: { tokens: 20, perSecond: 1 } }, 50],
    ["nobody knows: a quota that binds nothing", 15, { perSecond: null, quota: { tokens: 20, perSecond: 1 } }, null],
    ["nobody knows", 15, { perSecond: null, quota: null }, null],
  ])("%s", (_label, ahead, speed, seconds) => {
    expect(secondsUntilStarted(ahead, speed)).toBe(seconds);
  });
});

describe("the estimate", () => {
  test("is in tenths of a second, and nothing ahead is no wait", () => {
    const at = (perSecond: number | null) => ({ perSecond, quota: null });
    expect(estimatedWaitSeconds(43, at(1.8))).toBe(23.9);
    expect(estimatedWaitSeconds(0, at(null))).toBe(0);
    expect(estimatedWaitSeconds(5, at(null))).toBe(30);
    expect(estimatedWaitSeconds(70, { perSecond: 4, quota: { tokens: 20, perSecond: 1 } })).toBe(50);
  });
});
