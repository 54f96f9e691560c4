import { describe, expect, test } from "vitest";
import { estimatedWaitSeconds, Pace, queueRetryAfterSeconds } from "../../src/core/pace.ts";

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

  test("is not moved by a clock that steps back", () => {
    const pace = steady(10, 10);
    expect(pace.perSecond(T0 - 100_000)).toBe(10);
  });
});

describe("what a refused caller is told", () => {
  test.each([
    ["200 waiting at 25/s", 200, 25, 8],
    ["less than a second's work", 1, 1000, 1],
    ["nothing waiting", 0, 10, 1],
    ["more than five minutes' work", 10_000, 1, 300],
    ["no pace", 500, null, 30],
  ])("%s", (_label, waiting, pace, seconds) => {
    expect(queueRetryAfterSeconds(waiting, pace, 0.5)).toBe(seconds);
  });

  test("a wait of more than a minute is spread by a tenth either way, a shorter one is not", () => {
    expect([0, 0.999_999].map((random) => queueRetryAfterSeconds(100, 1, random))).toEqual([90, 110]);
    expect([0, 0.999_999].map((random) => queueRetryAfterSeconds(60, 1, random))).toEqual([60, 60]);
  });

  test("the estimate is in tenths of a second, and nothing ahead is no wait", () => {
    expect(estimatedWaitSeconds(43, 1.8)).toBe(23.9);
    expect(estimatedWaitSeconds(0, null)).toBe(0);
    expect(estimatedWaitSeconds(5, null)).toBe(30);
  });
});
