import { describe, expect, test } from "vitest";
import { BURST, burstWorld } from "../../src/sim/burst.ts";
import { edge } from "../../src/sim/edge.ts";
import { parseWorld } from "../../src/sim/parse.ts";
import {
  type Claim,
  FAIR_SHARE,
  fairShareClaims,
  fairShareWorld,
  OUTAGE,
  OVERLOAD,
  outageClaims,
  outageWorld,
  overloadClaims,
  overloadWorld,
  RATE_LIMIT,
  rateLimitClaims,
  rateLimitWorld,
} from "../../src/sim/scenarios.ts";
import { threeModes } from "../../src/sim/three-modes.ts";
import { runWorld } from "../../src/sim/world.ts";

const broken = (claims: readonly Claim[]) => claims.filter(({ holds }) => !holds).map(({ says }) => says);

describe("the load that real deployments see", () => {
  test("150/s against a tenant of 100/s: what is due is admitted, and nobody else is touched", () => {
    expect(broken(rateLimitClaims(runWorld(rateLimitWorld(RATE_LIMIT)), RATE_LIMIT))).toEqual([]);
  });

  test("twice what the engine does for five minutes, and back", () => {
    expect(broken(overloadClaims(runWorld(overloadWorld(OVERLOAD)), OVERLOAD))).toEqual([]);
  });

  test("a backend that is down for half an hour", () => {
    expect(broken(outageClaims(runWorld(outageWorld(OUTAGE)), OUTAGE))).toEqual([]);
  });

  test("a backend that says 503 for ten minutes: no attempt is spent, and it drains as its quota allows", () => {
    const plain = burstWorld({ ...BURST, rate: 10, seconds: 30, bound: 100, quota: "on" });
    const trouble = { fromSeconds: 0, toSeconds: 600, kind: "busy" } as const;
    const report = runWorld({ ...plain, backend: { ...plain.backend, troubles: [trouble] } });
    const { accepted, ends, seconds, peakDepth } = report;
    expect(accepted).toBe(100);
    expect(peakDepth).toBeLessThanOrEqual(100);
    expect(ends).toMatchObject({ succeeded: 100, dead: 0, failed: 0 });
    // The world ends with the deadline of the last attempt. Fifty at once, then fifty a minute: the last of a hundred begins
    // a minute after the backend is back, and one probe's wait at the most.
    const lastBegan = seconds - plain.engine.timeoutMs / 1000;
    expect(lastBegan).toBeGreaterThanOrEqual(600 + 60);
    expect(lastBegan).toBeLessThan(600 + 60 + 5);
  });

  test("forty tenants and an engine for a third of them", () => {
    expect(broken(fairShareClaims(runWorld(fairShareWorld(FAIR_SHARE)), FAIR_SHARE))).toEqual([]);
  });
});

// Table 4: of those who wait exactly what they were told (and its jitter), how many are taken when they ask again.
describe("Retry-After keeps its word", () => {
  const share = (change: Partial<typeof BURST>) => {
    const { asked, taken } = runWorld(burstWorld({ ...BURST, callers: "obey", spread: 0.1, ...change })).firstRetries;
    return taken / asked;
  };

  test.each([1, 2, 3])(
    "in the burst 95 in 100 of them and more are taken, where places are handed out (seed %i)",
    (seed) => {
      expect(share({ seed, formula: "places" })).toBeGreaterThanOrEqual(0.95);
      expect(share({ seed, formula: "plain" })).toBeLessThan(0.75);
    },
  );

  test("in five bursts, too", () => {
    expect(share({ formula: "places", bursts: 5 })).toBeGreaterThanOrEqual(0.95);
  });

  test("in an overload that lasts nobody can promise much, and places are no worse", () => {
    const overload = { quota: "off", rate: 7.2, seconds: 300 } as const;
    expect(share({ ...overload, formula: "places" })).toBeGreaterThan(share({ ...overload, formula: "plain" }));
  });
});

test("the same in ten runs", () => {
  const runs = Array.from({ length: 10 }, () => JSON.stringify([threeModes(), runWorld(burstWorld(BURST))]));
  expect(new Set(runs).size).toBe(1);
});

describe("a million checks a second", () => {
  const spec = { seed: 1, rate: 10_000, tenants: 10_000, zipf: 1, places: 10, isolates: 2, homes: 1, sample: 0.02 };

  test("exactly decided, nothing is admitted beyond the limits, and what is refused at the edge is no call", () => {
    const report = edge({ ...spec, mode: "exact" });
    expect(report.callsPerMillion).toBeLessThan(1_000_000);
    expect(report.callsPerMillion).toBeGreaterThan(500_000);
    expect(report.overAdmitted).toBe(0);
    expect(report.rowsPerMillion).toBeGreaterThan(10_000);
    expect(report.rowsPerMillion).toBeLessThan(1_000_000);
    expect(report.perIsolate).toBe(500);
    expect(report.lookupsPerMillion).toBeGreaterThan(100_000);
    expect(report.lookupsPerMillion).toBeLessThan(1_000_000);
  });

  test("leased, tenants below their limits cost a small part of the calls, and few tokens go beyond a limit", () => {
    // Each sends 200/s by two isolates; one of four may.
    const few = { ...spec, tenants: 40, zipf: 0, rate: 8_000 };
    const [exact, leased] = [edge({ ...few, mode: "exact" }), edge({ ...few, mode: "leased" })];
    expect(leased.callsPerMillion).toBeLessThan(0.6 * exact.callsPerMillion);
    expect(leased.admittedShare).toBeCloseTo(exact.admittedShare, 2);
    expect(leased.overAdmitted).toBeLessThan(200);
  });

  test("an object whose tenant sends far more than it may is called about as often as it gives a token", () => {
    const flood = { ...spec, tenants: 1, rate: 20_000, isolates: 30, mode: "leased" } as const;
    const report = edge(flood);
    expect(report.hottestPerSecond).toBeLessThan(1.5 * 100);
    expect(report.admittedShare * 20_000).toBeGreaterThan(95);
  });
});

describe("a world from a file", () => {
  const WORLD = {
    tenants: [{ name: "a" }],
    loads: [{ tenants: ["a"], phases: [{ seconds: 30, from: 10, to: 10 }] }],
    engine: { concurrency: 8 },
    backend: { jobMs: 2_200 },
  };

  test("is as plain as what it leaves out, and is run", () => {
    const report = runWorld(parseWorld(JSON.stringify(WORLD)));
    expect(report.offered).toBe(300);
    expect(report.peakDepth).toBe(100);
  });

  test.each([
    ["no JSON", "{", "the world is not JSON"],
    ["no tenants", { ...WORLD, tenants: [] }, "world.tenants takes a list that is not empty, not []"],
    [
      "a negative rate",
      { ...WORLD, loads: [{ tenants: ["a"], phases: [{ seconds: 1, from: -1, to: 0 }] }] },
      "from takes 0 to",
    ],
    ["a bound of 0", { ...WORLD, engine: { bound: 0 } }, "world.engine.bound takes 1 to 1000000, not 0"],
    ["a misspelt name", { ...WORLD, engin: {} }, "world has no engin; it has seed, seconds, tenants"],
    ["a fault that there is not", { ...WORLD, faults: [{ atSeconds: 1, kind: "flood" }] }, 'takes "engine-restart"'],
    ["somebody who is no tenant", { ...WORLD, loads: [{ ...WORLD.loads[0], tenants: ["b"] }] }, 'takes a, not "b"'],
  ])("names %s in one line", (_label, world, message) => {
    const text = typeof world === "string" ? world : JSON.stringify(world);
    expect(() => parseWorld(text)).toThrow(message);
  });
});
