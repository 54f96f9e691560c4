import fc from "fast-check";
import { expect, test } from "vitest";
import { BURST_STEPS, SHARED_STEPS_PER_MS, WorkShares } from "../../src/core/work-shares.ts";

const T0 = 1_000_000;

test("whoever runs whenever it may takes together no more than the rate, and their bursts", () => {
  const worlds = fc.record({
    tenants: fc.integer({ min: 1, max: 8 }),
    costs: fc.array(fc.integer({ min: 1_000, max: 50_000_000 }), { minLength: 1, maxLength: 20 }),
    stepMs: fc.integer({ min: 1, max: 300 }),
  });
  fc.assert(
    fc.property(worlds, ({ tenants, costs, stepMs }) => {
      const shares = new WorkShares();
      let total = 0;
      let turn = 0;
      for (let nowMs = T0; nowMs < T0 + 20_000; nowMs += stepMs) {
        for (let tenant = 0; tenant < tenants; tenant++) {
          if (!shares.mayRun(`t${tenant}`, nowMs)) continue;
          const cost = costs[turn++ % costs.length] ?? 0;
          shares.charge(`t${tenant}`, cost, nowMs);
          total += cost;
        }
      }
      const most = 20_000 * SHARED_STEPS_PER_MS + tenants * (BURST_STEPS + Math.max(...costs));
      expect(total).toBeLessThanOrEqual(most);
    }),
  );
});

test("a tenant that owes waits for its own debt, and others do not wait for it", () => {
  const shares = new WorkShares();
  shares.charge("costly", 50_000_000, T0);
  expect(shares.waiting(T0)).toEqual(["costly"]);
  expect(shares.mayRun("other", T0)).toBe(true);
  const nextMs = shares.nextMs(T0) ?? 0;
  expect(nextMs - T0).toBe(Math.ceil((50_000_000 - BURST_STEPS) / SHARED_STEPS_PER_MS));
  expect(shares.mayRun("costly", nextMs - 1)).toBe(false);
  expect(shares.mayRun("costly", nextMs)).toBe(true);
  expect(shares.nextMs(nextMs)).toBeNull();
});

test("a clock that is set back mints nothing", () => {
  const shares = new WorkShares();
  shares.charge("costly", 50_000_000, T0);
  expect(shares.mayRun("costly", T0 - 5_000)).toBe(false);
  expect(shares.mayRun("costly", T0 - 4_000)).toBe(false);
});
