import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RETRY_AFTER_UNKNOWN_SECONDS } from "../../src/core/pace.ts";
import type { Manners } from "../../src/sim/spec.ts";
import { type Measured, measureWaits, type Scene, sceneWorld } from "./waits.ts";

const even = (seconds: number, perSecond: number) => ({ seconds, from: perSecond, to: perSecond });
const measure = (scene: Scene) => measureWaits(sceneWorld(scene));
const LIGHT = { name: "light", weight: 1 };
const HEAVY = { name: "heavy", weight: 9 };

describe("callers that ignore what they are told", () => {
  // ENGINE_RATE_MAX=40 QUEUE_MAX=70: both ask every 25 ms for 10 s; 30 fresh commands come once the queue is empty.
  test.each([0, 1, 2])(
    "two tenants of weight 1 and 9 that flood are told no growing waits: %d isolates",
    (isolates) => {
      const { refusals, tries } = measure({
        seed: 1,
        perSecond: 40,
        bound: 70,
        isolates,
        tenants: [LIGHT, HEAVY],
        loads: [
          { tenant: "light", manners: "never", phases: [even(10, 40), even(2.5, 0), even(0.5, 60)] },
          { tenant: "heavy", manners: "never", phases: [even(10, 40)] },
        ],
      });
      expect(refusals.length).toBeGreaterThan(300);
      expect(Math.max(...refusals.map(({ toldSeconds }) => toldSeconds))).toBeLessThanOrEqual(4);
      const fresh = tries.filter(({ atMs }) => atMs > 12_000);
      expect(fresh.map(({ taken }) => taken)).toEqual(new Array(30).fill(true));
    },
  );
});

/** A part of the callers of one tenant obeys, the others do something else. */
function mixed(tenant: string, share: number, others: Manners, seconds: number, perSecond: number): Scene["loads"] {
  return [
    { tenant, manners: "obey", phases: [even(seconds, perSecond * share)] },
    { tenant, manners: others, phases: [even(seconds, perSecond * (1 - share))] },
  ];
}

/** The longest that was told beyond half as much again as the true wait and 2 s, in seconds. */
function excess({ refusals }: Measured): number {
  // While no pace is known it is half a minute by contract.
  const told = refusals.filter(({ toldSeconds }) => toldSeconds !== RETRY_AFTER_UNKNOWN_SECONDS);
  return Math.max(...told.map(({ toldSeconds, trueSeconds }) => toldSeconds - (1.5 * trueSeconds + 2)));
}

describe("one burst of which a part obeys", () => {
  const ENGINE = { seed: 1, perSecond: 10, bound: 100 };

  test.each([0, 0.25, 0.5, 0.75, 1])("one tenant, %d of its callers: they are taken at their first return", (share) => {
    for (const [isolates, others] of [
      [0, "never"],
      [1, "ignore"],
      [2, "never"],
    ] as const) {
      const loads = mixed("light", share, others, 3, 80);
      const measured = measure({ ...ENGINE, isolates, tenants: [LIGHT], loads });
      expect(measured.refusals.length).toBeGreaterThan(100);
      expect(measured.obedient.taken).toBeGreaterThanOrEqual(0.95 * measured.obedient.returned);
      expect(excess(measured)).toBeLessThanOrEqual(0);
    }
  });

  test.each([0.25, 0.5, 0.75, 1])("tenants of weight 1 and 9, %d of their callers; the others go away", (share) => {
    const loads = [...mixed("light", share, "never", 3, 35), ...mixed("heavy", share, "never", 3, 45)];
    const measured = measure({ ...ENGINE, isolates: 1, tenants: [LIGHT, HEAVY], loads });
    expect(measured.obedient.taken).toBeGreaterThanOrEqual(0.95 * measured.obedient.returned);
    expect(excess(measured)).toBeLessThanOrEqual(0);
  });
});

describe("a limit on what is in flight", () => {
  test.each([0, 1, 2])("takes a burst at its first return, as a full queue does: %d isolates", (isolates) => {
    const loads = mixed("light", 1, "never", 1.5, 40);
    const { obedient } = measure({
      seed: 1,
      perSecond: 10,
      bound: 1_000,
      limit: 30,
      isolates,
      tenants: [LIGHT],
      loads,
    });
    expect(obedient.returned).toBeGreaterThan(15);
    expect(obedient.taken).toBeGreaterThanOrEqual(0.95 * obedient.returned);
  });
});

describe("a cold engine in front of a backend with a quota of 5 a second", () => {
  test.each([1, 2, 3, 4, 5, 6, 7])("takes all who come back as told, and tells 30 s to none (seed %d)", (seed) => {
    const world = sceneWorld({
      seed,
      perSecond: 40,
      bound: 20,
      isolates: seed % 3,
      tenants: [LIGHT],
      loads: mixed("light", 1, "never", 1, 46),
    });
    const quota = { burst: 1, perMinute: 300 };
    const engine = { ...world.engine, quota };
    const { refusals, obedient } = measureWaits({ ...world, engine, backend: { ...world.backend, quota } });
    expect(obedient.returned).toBeGreaterThan(15);
    expect(obedient.taken).toBeGreaterThanOrEqual(0.95 * obedient.returned);
    expect(Math.max(...refusals.map(({ toldSeconds }) => toldSeconds))).toBeLessThanOrEqual(7);
  });
});

describe("no wait is told that is over half as much again as the true one, and 2 s", () => {
  const tenant = fc.record({
    weight: fc.constantFrom(1, 2, 9),
    manners: fc.constantFrom<Manners>("never", "obey", "ignore"),
    share: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
    overload: fc.double({ min: 0.3, max: 3, noNaN: true }),
  });
  const world = fc.record({
    seed: fc.integer({ min: 1, max: 1_000 }),
    perSecond: fc.integer({ min: 5, max: 50 }),
    bound: fc.integer({ min: 20, max: 120 }),
    isolates: fc.constantFrom(0, 1, 2),
    tenants: fc.array(tenant, { minLength: 1, maxLength: 4 }),
    /** How long a flood lasts, as a part of the time in which a full queue drains. */
    length: fc.double({ min: 0.2, max: 2, noNaN: true }),
    /** Whether it stops for as long and comes once more. */
    again: fc.boolean(),
  });

  test("in bursts and floods of several tenants of which any part obeys, and when they stop", () => {
    fc.assert(
      fc.property(world, ({ tenants, length, again, ...engine }) => {
        const seconds = (length * engine.bound) / engine.perSecond;
        const loads = tenants.flatMap(({ manners, share, overload }, n) => {
          const rate = (overload * engine.perSecond) / tenants.length + engine.perSecond;
          const phases = (part: number) => [
            even(seconds, rate * part),
            ...(again ? [even(seconds, 0), even(seconds, rate * part)] : []),
          ];
          return [
            { tenant: `t${n}`, manners: "obey", phases: phases(share) },
            { tenant: `t${n}`, manners, phases: phases(1 - share) },
          ] as const;
        });
        const named = tenants.map(({ weight }, n) => ({ name: `t${n}`, weight }));
        expect(excess(measure({ ...engine, tenants: named, loads }))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 25, seed: 14 },
    );
  });
});
