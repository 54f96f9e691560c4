import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FIRST_COMERS_PER_SECOND_MAX, FirstComers, PASSED_MS, REFUSED_MS } from "../../src/core/first-comers.ts";

const T0 = 1_700_000_000_000;

describe("a tenant's first command at a full queue", () => {
  test("is let through, and the next ones are not while it is likely to be there", () => {
    const first = new FirstComers();
    expect([first.take("a", T0), first.take("a", T0), first.take("a", T0 + PASSED_MS - 1)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(first.take("a", T0 + PASSED_MS)).toBe(true);
  });

  test("is not a first when one went on by the gate, or was refused of late", () => {
    const first = new FirstComers();
    first.passed("a", T0);
    first.refused("b", T0);
    expect([first.isFirst("a", T0 + 1), first.isFirst("b", T0 + REFUSED_MS - 1)]).toEqual([false, false]);
    expect([first.isFirst("a", T0 + PASSED_MS), first.isFirst("b", T0 + REFUSED_MS)]).toEqual([true, true]);
  });

  test("that did not reach the engine is the next one's, and so is its part of the second", () => {
    const first = new FirstComers();
    for (let n = 0; n < FIRST_COMERS_PER_SECOND_MAX; n++) first.take(`t${n}`, T0);
    expect(first.isFirst("late", T0)).toBe(false);
    first.giveBack("t0");
    expect([first.isFirst("late", T0), first.take("t0", T0), first.isFirst("late", T0)]).toEqual([true, true, false]);
  });

  test("a clock that steps back makes nothing longer", () => {
    const first = new FirstComers();
    first.refused("a", T0);
    expect(first.isFirst("a", T0 - 60_000)).toBe(true);
  });

  test("of however many tenants: the engine is asked so often a second at most, and once a second by each", () => {
    const step = fc.tuple(fc.nat(400), fc.nat(3_000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const first = new FirstComers();
        const seconds = new Map<number, number>();
        const last = new Map<number, number>();
        let nowMs = T0;
        for (const [waitMs, tenant] of steps) {
          nowMs += waitMs % 20;
          if (!first.take(`t${tenant}`, nowMs)) continue;
          const second = Math.floor(nowMs / 1_000);
          seconds.set(second, (seconds.get(second) ?? 0) + 1);
          expect(nowMs - (last.get(tenant) ?? 0)).toBeGreaterThanOrEqual(PASSED_MS);
          last.set(tenant, nowMs);
        }
        for (const count of seconds.values()) expect(count).toBeLessThanOrEqual(FIRST_COMERS_PER_SECOND_MAX);
      }),
    );
  });
});
