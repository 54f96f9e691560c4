import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairRate } from "../../src/core/fair-rate.ts";

const PER_SECOND = 100;
const T0 = 1_700_000_000_000;

/** Asks by caller, in their order, all in one second. @returns how many each had */
function ask(rate: FairRate, callers: readonly string[], nowMs: number): Map<string, number> {
  const passed = new Map<string, number>();
  for (const caller of callers) {
    if (rate.take(caller, nowMs)) passed.set(caller, (passed.get(caller) ?? 0) + 1);
  }
  return passed;
}

const times = (count: number, caller: string) => Array.from({ length: count }, () => caller);

describe("operations that callers share", () => {
  test("while one floods, another's first passes, and in the next second it has as much as the other", () => {
    const rate = new FairRate(PER_SECOND);
    expect(ask(rate, [...times(1_000, "flood"), "honest"], T0)).toEqual(
      new Map([
        ["flood", 90],
        ["honest", 1],
      ]),
    );
    const next = ask(rate, [...times(1_000, "flood"), ...times(45, "honest")], T0 + 1_000);
    expect([next.get("flood"), next.get("honest")]).toEqual([45, 45]);
  });

  test("never are there more than so many a second, and a newcomer's first passes while others are few", () => {
    const asks = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 400 });
    fc.assert(
      fc.property(fc.array(asks, { maxLength: 5 }), (seconds) => {
        const rate = new FairRate(PER_SECOND);
        for (const [n, callers] of seconds.entries()) {
          const passed = ask(rate, callers, T0 + n * 1_000);
          expect([...passed.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(PER_SECOND);
          for (const caller of new Set(callers)) expect(passed.get(caller) ?? 0).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });

  test("callers that go on asking have the same, to the operation", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 9 }),
        fc.array(fc.nat(8), { minLength: 900, maxLength: 900 }),
        (n, order) => {
          const rate = new FairRate(PER_SECOND);
          const all = [...order.map((one) => `t${one % n}`), ...Array.from({ length: 900 }, (_, one) => `t${one % n}`)];
          ask(rate, all, T0);
          const passed = ask(rate, all, T0 + 1_000);
          expect(new Set(passed.values())).toEqual(new Set([Math.floor(90 / n)]));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("a thousand callers have no more than there is, and memory for no more", () => {
    const rate = new FairRate(PER_SECOND);
    const passed = ask(
      rate,
      Array.from({ length: 1_000 }, (_, n) => `t${n}`),
      T0,
    );
    expect(passed.size).toBe(PER_SECOND);
  });
});
