import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Speed } from "../../src/core/pace.ts";
import { jitteredSeconds, plainRetryAfterSeconds, ReturnTimes } from "../../src/core/return-times.ts";

const T0 = 1_700_000_000_000;
const MIDDLE = 0.5;
const ALONE = { tenant: "a", weight: 1 };
const at = (perSecond: number | null): Speed => ({ perSecond, quota: null });

/** What so many callers of one tenant are told, one after the other at the same moment. */
function toldTo(count: number, times: ReturnTimes, asker = ALONE, ahead = 20, speed = at(2), nowMs = T0): number[] {
  return Array.from({ length: count }, () => times.tell(asker, ahead, speed, nowMs, MIDDLE));
}

describe("places", () => {
  test("one after the other, behind what waits, as fast as the pace", () => {
    expect(toldTo(5, new ReturnTimes())).toEqual([11, 11, 12, 12, 13]);
  });

  test("a quota that is slower than the pace sets the distance", () => {
    const speed = { perSecond: 10, quota: { tokens: 0, perSecond: 1 } };
    expect(toldTo(3, new ReturnTimes(), ALONE, 20, speed)).toEqual([21, 22, 23]);
  });

  test("while nobody knows a pace it is 30 s, and no place is given away", () => {
    const times = new ReturnTimes();
    expect(toldTo(3, times, ALONE, 20, at(null))).toEqual([30, 30, 30]);
    expect(toldTo(1, times)).toEqual([11]);
  });

  test("places that have passed are forgotten: the next one is told the time of the queue", () => {
    const times = new ReturnTimes();
    toldTo(20, times);
    expect(toldTo(1, times, ALONE, 20, at(2), T0 + 30_000)).toEqual([11]);
  });

  test("never more than 300 s, and the clock runs no further ahead than that", () => {
    const times = new ReturnTimes();
    const told = toldTo(5_000, times);
    expect(Math.max(...told)).toBeLessThanOrEqual(300);
    // Half a minute later there is half a minute of places again.
    expect(times.tell(ALONE, 20, at(2), T0 + 30_000, 0.999)).toBeLessThanOrEqual(300);
    expect(times.tell(ALONE, 20, at(2), T0 + 400_000, MIDDLE)).toBe(11);
  });

  test("one tenant that floods moves nobody else's time by more than their share of the pace", () => {
    const times = new ReturnTimes();
    toldTo(200, times);
    const [first] = toldTo(1, times, { tenant: "b", weight: 1 });
    expect(first).toBe(11);
  });

  test("tenants that are owed places share the pace by weight", () => {
    const times = new ReturnTimes();
    const [a, b] = [
      { tenant: "a", weight: 1 },
      { tenant: "b", weight: 4 },
    ];
    toldTo(1, times, a, 80);
    toldTo(1, times, b, 80);
    // 40 s for what waits, then a place every 0.5 s × 5 / weight.
    expect(toldTo(4, times, a, 80).map((seconds) => seconds - 40)).toEqual([3, 6, 8, 11]);
    expect(toldTo(3, times, b, 80).map((seconds) => seconds - 40)).toEqual([2, 2, 3]);
  });

  test("reach no further than a third of the time of the queue and half a second, and 30 s, beyond it", () => {
    expect(Math.max(...toldTo(1_000, new ReturnTimes()))).toBe(14);
    const slow = new ReturnTimes();
    expect(Math.max(...toldTo(1_000, slow, ALONE, 240))).toBe(150);
    slow.heard(ALONE, 300, T0);
    expect(toldTo(1, slow, ALONE, 240)).toEqual([150]);
  });

  test("are the same for a caller that comes early: it moves its tenant no further out than the queue explains", () => {
    const waits = fc.record({
      perSecond: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
      weights: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 }),
      steps: fc.array(fc.record({ who: fc.nat(4), ahead: fc.nat(2_000), laterMs: fc.nat(3_000), count: fc.nat(50) })),
    });
    fc.assert(
      fc.property(waits, ({ perSecond, weights, steps }) => {
        const times = new ReturnTimes();
        let nowMs = T0;
        for (const { who, ahead, laterMs, count } of steps) {
          nowMs += laterMs;
          const asker = { tenant: `t${who % weights.length}`, weight: weights[who % weights.length] ?? 1 };
          const speed = at(perSecond);
          times.toldElsewhere(asker, count, ahead, speed, nowMs);
          if (count > 40) times.heard(asker, 10 * count, nowMs);
          const queueSeconds = ahead / perSecond;
          const latest = Math.min(300, queueSeconds + Math.min(30, 0.5 + queueSeconds / 3));
          expect(times.tell(asker, ahead, speed, nowMs, 0.5)).toBeLessThanOrEqual(Math.ceil(latest));
        }
      }),
    );
  });

  test("is told what others have told, by count and by time", () => {
    const times = new ReturnTimes();
    times.toldElsewhere(ALONE, 8, 80, at(2), T0);
    expect(toldTo(1, times, ALONE, 80)).toEqual([45]);
    times.heard(ALONE, 50, T0);
    expect(toldTo(1, times, ALONE, 80)).toEqual([51]);
    times.heard(ALONE, 42, T0);
    expect(toldTo(1, times, ALONE, 80)).toEqual([43]);
    times.toldElsewhere(ALONE, 0, 80, at(2), T0);
    expect(toldTo(1, times, ALONE, 80)).toEqual([43]);
    expect(times.lastTold("a", T0)).toBe(43);
    expect(times.lastTold("a", T0 + 3_000)).toBe(40);
    expect(times.lastTold("a", T0 + 43_000)).toBeNull();
    expect(times.lastTold("b", T0)).toBeNull();
  });

  test("of a thousand tenants at most; whoever finds no room is told the time of the queue", () => {
    const times = new ReturnTimes();
    for (let n = 0; n < 1_000; n++) times.tell({ tenant: `t${n}`, weight: 1 }, 20, at(1_000), T0, MIDDLE);
    const late = { tenant: "late", weight: 1 };
    expect(toldTo(3, times, late, 2_000, at(1_000))).toEqual([4, 4, 4]);
    // Once the others have passed there is room again, and every weight is gone with its clock.
    expect(toldTo(3, times, late, 2_000, at(1_000), T0 + 60_000)).toEqual([3, 3, 3]);
  });

  test.each([
    ["a little", 5_000],
    ["far", 86_400_000],
  ])("a clock that steps back %s makes nobody wait longer", (_label, back) => {
    const times = new ReturnTimes();
    toldTo(5, times);
    const [next = 0] = toldTo(1, times, ALONE, 20, at(2), T0 - back);
    expect(next).toBe(13);
  });
});

describe("a long wait is spread", () => {
  test("by a tenth either way over a minute, not at all up to it", () => {
    expect([0, 0.999_999].map((random) => jitteredSeconds(100, random))).toEqual([90, 110]);
    expect([0, 0.999_999].map((random) => jitteredSeconds(60, random))).toEqual([60, 60]);
  });

  test("at the longest that is told only downwards, and never below a second", () => {
    expect([0, 0.5, 0.999_999].map((random) => jitteredSeconds(10_000, random))).toEqual([270, 285, 300]);
    expect(jitteredSeconds(0, MIDDLE)).toBe(1);
  });
});

describe("plain", () => {
  test.each([
    ["100 waiting, 56 finished in the last minute", 100, 56, 108],
    ["100 waiting, 72 finished", 100, 72, 84],
    ["nothing waiting", 0, 10, 1],
    ["more than five minutes' work", 10_000, 60, 300],
    ["nothing finished", 500, 0, 30],
  ])("%s", (_label, waiting, finished, seconds) => {
    expect(plainRetryAfterSeconds(waiting, finished)).toBe(seconds);
  });
});

test("a full table is looked through once a second, and not with every refusal", () => {
  const times = new ReturnTimes();
  const speed = at(1);
  for (let n = 0; n < 1_000; n++) times.tell({ tenant: `t${n}`, weight: 1 }, 200, speed, T0, MIDDLE);
  const looks = vi.spyOn(Map.prototype, Symbol.iterator);
  for (let n = 0; n < 10_000; n++) times.tell({ tenant: `late${n}`, weight: 1 }, 200, speed, T0 + n / 5, MIDDLE);
  expect(looks.mock.calls.length).toBeLessThanOrEqual(3);
  looks.mockRestore();
});
