import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FlowControl } from "../../../src/core/flow-control/flow-control.ts";
import { LIMIT_DEFAULTS, type LimitConfig } from "../../../src/core/flow-control/limit.ts";
import { writeRateAt } from "../../../src/core/flow-control/write-rate.ts";

const T0 = 1_700_000_000_000;
const FIXED_3: LimitConfig = { algorithm: "fixed", windowed: false, params: { limit: 3 } };
const AIMD: LimitConfig = { algorithm: "aimd", windowed: false, params: LIMIT_DEFAULTS.aimd };

describe("the limit on what is in flight", () => {
  test("is exact: the last place is given, one more is not", () => {
    const flow = new FlowControl({ limit: FIXED_3, writeRate: null }, T0, 0);
    expect(flow.weigh(2, false, T0)).toEqual({ verdict: "pass" });
    expect(flow.weigh(3, false, T0)).toEqual({ verdict: "request_limit", limit: 3 });
  });

  test("never holds up a critical command", () => {
    const flow = new FlowControl({ limit: FIXED_3, writeRate: null }, T0, 0);
    expect(flow.weigh(1000, true, T0)).toEqual({ verdict: "pass" });
  });

  test("is not moved by an ignored end, and is by a loss", () => {
    const flow = new FlowControl({ limit: AIMD, writeRate: null }, T0, 0);
    flow.finished("ignored", 60_000, 1, T0, 0);
    expect(flow.limit).toBe(200);
    flow.finished("dropped", 1, 1, T0, 0);
    expect(flow.limit).toBe(180);
  });

  test("the same settings again forget nothing that it has learned", () => {
    const flow = new FlowControl({ limit: AIMD, writeRate: null }, T0, 0);
    flow.finished("dropped", 1, 1, T0, 0);
    flow.change({ limit: { ...AIMD, params: { ...LIMIT_DEFAULTS.aimd } }, writeRate: null }, T0, 0);
    expect(flow.limit).toBe(180);
    flow.change(
      { limit: { ...AIMD, windowed: true, params: { ...LIMIT_DEFAULTS.aimd, maxLimit: 900 } }, writeRate: null },
      T0,
      0,
    );
    expect(flow.limit).toBe(180);
    flow.change(
      { limit: { ...AIMD, params: { ...LIMIT_DEFAULTS.aimd, initialLimit: 50, maxLimit: 90 } }, writeRate: null },
      T0,
      0,
    );
    expect(flow.limit).toBe(90);
    flow.change({ limit: FIXED_3, writeRate: null }, T0, 0);
    expect(flow.limit).toBe(3);
    flow.change({ limit: null, writeRate: null }, T0, 0);
    expect(flow.weigh(1_000_000, false, T0)).toEqual({ verdict: "pass" });
  });
});

describe("the limit on writes", () => {
  const rate = { perSecond: 10, burst: 5, warmUpSeconds: 0 };

  function admitted(flow: FlowControl, count: number, nowMs: number, critical = false): number {
    let passed = 0;
    for (let n = 0; n < count; n++) {
      if (flow.weigh(0, critical, nowMs).verdict !== "pass") continue;
      flow.written(critical, nowMs);
      passed += 1;
    }
    return passed;
  }

  test("admits the burst and then the rate, and says how long until one fits", () => {
    const flow = new FlowControl({ limit: null, writeRate: rate }, T0, 0);
    expect(admitted(flow, 20, T0)).toBe(5);
    expect(flow.weigh(0, false, T0)).toEqual({ verdict: "write_limit", waitMs: 100 });
    expect(admitted(flow, 20, T0 + 300)).toBe(3);
  });

  test("a look counts nothing", () => {
    const flow = new FlowControl({ limit: null, writeRate: rate }, T0, 0);
    for (let n = 0; n < 100; n++) flow.weigh(0, false, T0);
    expect(admitted(flow, 20, T0)).toBe(5);
  });

  test("critical writes count and are never refused", () => {
    const flow = new FlowControl({ limit: null, writeRate: rate }, T0, 0);
    expect(admitted(flow, 20, T0, true)).toBe(20);
    expect(admitted(flow, 20, T0)).toBe(0);
    expect(admitted(flow, 20, T0 + 100)).toBe(1);
  });

  test("warms up in a straight line, from an empty bucket to the full rate", () => {
    const warm = { perSecond: 100, burst: 100, warmUpSeconds: 10 };
    expect([0, 1_000, 5_000, 10_000, 60_000].map((ms) => writeRateAt(warm, T0, T0 + ms))).toEqual([
      1, 10, 50, 100, 100,
    ]);
    const flow = new FlowControl({ limit: null, writeRate: warm }, T0, 0);
    expect(admitted(flow, 50, T0)).toBe(0);
    let total = 0;
    for (let ms = 10; ms <= 10_000; ms += 10) total += admitted(flow, 5, T0 + ms);
    // The line's own area is 500; the rate of each step is the one at its beginning.
    expect(total).toBeGreaterThan(480);
    expect(total).toBeLessThanOrEqual(500);
  });

  test("a change of the rate, there and back, mints nothing", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }), (perSecond, burst) => {
        const flow = new FlowControl({ limit: null, writeRate: rate }, T0, 0);
        admitted(flow, 5, T0);
        flow.change({ limit: null, writeRate: { perSecond, burst, warmUpSeconds: 0 } }, T0, 0);
        flow.change({ limit: null, writeRate: rate }, T0, 0);
        expect(admitted(flow, 20, T0)).toBe(0);
      }),
    );
  });
});
