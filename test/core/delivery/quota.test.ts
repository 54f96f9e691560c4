import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QuotaPacer } from "../../../src/core/delivery/quota.ts";

const T0 = 1_700_000_000_000;
const QUOTA = { burst: 50, perMinute: 50 };

/** How many jobs start by then, each as soon as it may. */
function startedBy(pacer: QuotaPacer, fromMs: number, untilMs: number): number {
  let started = 0;
  for (let nowMs = fromMs; nowMs <= untilMs; nowMs += pacer.waitMs(nowMs)) {
    while (pacer.waitMs(nowMs) === 0) {
      pacer.take(nowMs);
      started += 1;
    }
  }
  return started;
}

describe("a told quota", () => {
  test("is the burst at once, then so many a minute", () => {
    const pacer = new QuotaPacer(QUOTA, T0);
    expect(startedBy(pacer, T0, T0)).toBe(50);
    expect(startedBy(pacer, T0, T0 + 60_100)).toBe(50);
    expect(pacer.level(T0 + 60_100)).toEqual({ tokens: 0, perSecond: 50 / 60 });
  });

  test("is never overdrawn at the backend, though jobs arrive later than they are sent, and not all by as much", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 120, maxLength: 120 }), (latencies) => {
        const pacer = new QuotaPacer(QUOTA, T0);
        const arrivals: number[] = [];
        let nowMs = T0;
        for (const latency of latencies) {
          nowMs += pacer.waitMs(nowMs);
          pacer.take(nowMs);
          arrivals.push(nowMs + latency);
        }
        // The backend's own bucket: full until the first job arrives.
        let [tokens, atMs] = [50, 0];
        for (const arrivedMs of arrivals.toSorted((a, b) => a - b)) {
          tokens = Math.min(50, tokens + ((arrivedMs - (atMs || arrivedMs)) * 50) / 60_000) - 1;
          atMs = arrivedMs;
          expect(tokens).toBeGreaterThan(-1e-9);
        }
      }),
    );
  });

  test("that the backend says is used up is used up: one may start when the time is over", () => {
    const pacer = new QuotaPacer(QUOTA, T0);
    pacer.usedUpFor(2_000, T0);
    expect(pacer.waitMs(T0)).toBe(2_000);
    expect(startedBy(pacer, T0, T0 + 2_000)).toBe(1);
  });

  test("a later life never begins with more than there was, and with at most a second's worth less", () => {
    const times = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 80 });
    fc.assert(
      fc.property(times, (gaps) => {
        const pacer = new QuotaPacer(QUOTA, T0);
        let written = pacer.ahead() ?? undefined;
        let nowMs = T0;
        for (const gap of gaps) {
          nowMs += gap;
          if (pacer.waitMs(nowMs) === 0) pacer.take(nowMs);
          written = pacer.ahead() ?? written;
          const later = new QuotaPacer(QUOTA, nowMs, written).level(nowMs).tokens;
          const { tokens } = pacer.level(nowMs);
          expect(later).toBeLessThanOrEqual(tokens);
          expect(later).toBeGreaterThanOrEqual(Math.max(0, tokens - 2));
        }
      }),
    );
  });
});
