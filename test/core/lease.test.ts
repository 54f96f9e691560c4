import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Demand, LEASE_GRACE_MS, leaseSize } from "../../src/core/lease.ts";
import type { Decision } from "../../src/core/limiter.ts";
import type { Limits, Policy } from "../../src/core/policy.ts";
import { tokenBucketPolicy } from "../../src/core/policy.ts";
import { tightest } from "../../src/core/policy-report.ts";
import { TOKEN_BUCKET_CASES } from "../support/token-bucket-cases.ts";
import { anyEvent, World } from "./lease-events.ts";
import { Edge, LEASE_MS, ObjectSide, T0 } from "./lease-world.ts";

function bucket(perSecond: number, burst: number): Limits {
  return { version: 1, policies: [tokenBucketPolicy({ tokens: perSecond, perSeconds: 1 }, burst)] };
}

function said({ outcome, reports, ...rest }: Decision): object {
  const retry = "retryAfterSeconds" in rest ? rest.retryAfterSeconds : null;
  return { outcome, reports, retry };
}

/** One isolate and its object, on one clock. */
function alone(limits: Limits, leaseMs: number | null) {
  const object = new ObjectSide(limits);
  const edge = new Edge(limits, object, leaseMs);
  const at = (ms: number) => {
    for (let nowMs = edge.clockMs; nowMs < T0 + ms; ) {
      nowMs = Math.min(T0 + ms, nowMs + 100);
      object.clockMs = nowMs;
      edge.clockMs = nowMs;
      edge.endDue();
    }
  };
  return { object, edge, at };
}

describe("how much is lent", () => {
  test.each([
    ["what is wanted, while there is plenty", 100, 2_000, 1_000, 100],
    ["a quarter of the rest, near the limit", 100, 40, 1_000, 10],
    ["nothing, at the end", 100, 3, 1_000, 0],
    ["less for a shorter lease", 100, 2_000, 250, 25],
    ["nothing, where nothing is wanted", 0, 2_000, 1_000, 0],
  ])("%s", (_label, want, rest, lastsMs, expected) => {
    expect(leaseSize(want, rest, lastsMs, LEASE_MS)).toBe(expected);
  });

  test("an isolate that is asked rarely wants nothing, one that is busy what it was asked for in a second", () => {
    const demand = new Demand();
    for (let n = 0; n < 7; n++) demand.count(1, T0);
    expect(demand.wantFor(1_000, T0)).toBe(0);
    for (let n = 0; n < 43; n++) demand.count(1, T0 + 10);
    expect(demand.wantFor(1_000, T0 + 10)).toBe(50);
    expect(demand.wantFor(500, T0 + 1_010)).toBe(25);
    expect(demand.wantFor(1_000, T0 + 3_000)).toBe(0);
  });
});

describe("with one isolate, leased and exact give the same answers to the token", () => {
  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))("%s: %s", (_id, _rule, one) => {
    const limits: Limits = { version: 1, policies: [tokenBucketPolicy(one.bucket.ratePerSecond, one.bucket.burst)] };
    const modes = [alone(limits, LEASE_MS), alone(limits, null)];
    for (const step of one.steps) {
      if (step.op === "configure") break;
      const [leased, exact] = modes.map(({ edge, at }) => {
        at(step.at * 1000);
        return said(edge.check(step.op === "peek" ? 0 : (step.cost ?? 1), LEASE_MS));
      });
      expect(leased).toEqual(exact);
    }
  });

  const anyPolicy: fc.Arbitrary<Policy> = fc.oneof(
    fc
      .record({ tokens: fc.integer({ min: 0, max: 300 }), burst: fc.integer({ min: 1, max: 400 }) })
      .map(({ tokens, burst }): Policy => tokenBucketPolicy({ tokens, perSeconds: 1 }, burst)),
    fc
      .record({
        type: fc.constantFrom("fixed-window" as const, "sliding-window" as const),
        limit: fc.integer({ min: 1, max: 400 }),
        windowSeconds: fc.integer({ min: 1, max: 5 }),
      })
      .map((window): Policy => ({ ...window, name: window.type, scope: "tenant" })),
  );
  const anyLimits = fc
    .uniqueArray(anyPolicy, { minLength: 1, maxLength: 3, selector: ({ name }) => name })
    .map((policies): Limits => ({ version: 1, policies }));
  const step = fc.record({
    waitMs: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 40 }) }, fc.integer({ min: 0, max: 3_000 })),
    cost: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 60 })),
  });

  test("whatever the policies, the costs and the pauses", () => {
    let admittedHere = 0;
    fc.assert(
      fc.property(anyLimits, fc.array(step, { maxLength: 120 }), (limits, steps) => {
        const leased = alone(limits, LEASE_MS);
        const exact = alone(limits, null);
        let ms = 0;
        for (const { waitMs, cost } of steps) {
          ms += waitMs;
          leased.at(ms);
          exact.at(ms);
          expect(said(leased.edge.check(cost, LEASE_MS))).toEqual(said(exact.edge.check(cost, LEASE_MS)));
        }
        admittedHere += leased.edge.admittedHere;
      }),
      { numRuns: 300 },
    );
    // Else it would have compared the object with itself.
    expect(admittedHere).toBeGreaterThan(100);
  });
});

describe("refusals kept at the edge", () => {
  test("hold for this cost or more, and never longer than the honest wait", () => {
    const { object, edge, at } = alone(bucket(10, 20), null);
    edge.check(18, LEASE_MS);
    expect(edge.check(5, LEASE_MS)).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 1 });
    const calls = object.calls;
    expect(edge.check(6, LEASE_MS)).toMatchObject({ outcome: "rate_limited" });
    expect(object.calls).toBe(calls);
    expect(edge.check(2, LEASE_MS).outcome).toBe("allowed");
    expect(object.calls).toBe(calls + 1);
    expect(edge.check(5, LEASE_MS).outcome).toBe("rate_limited");
    at(499);
    expect(edge.check(5, LEASE_MS).outcome).toBe("rate_limited");
    expect(object.calls).toBe(calls + 1);
    at(500);
    expect(edge.check(5, LEASE_MS).outcome).toBe("allowed");
  });

  test("hold for a second at most: then the object is asked again", () => {
    const { object, edge, at } = alone(bucket(0, 1), null);
    edge.check(1, LEASE_MS);
    for (let ms = 0; ms < 5_000; ms += 10) {
      at(ms);
      expect(edge.check(1, LEASE_MS).outcome).toBe("cost_exceeds_capacity");
    }
    expect(object.calls).toBe(5);
  });
});

describe("what a lease saves", () => {
  test("steady traffic of one tenant costs at most 0.05 calls and 0.01 rows a check", () => {
    const { object, edge, at } = alone(bucket(1_000, 2_000), LEASE_MS);
    let checks = 0;
    for (let ms = 0; ms < 20_000; ms += 2) {
      at(ms);
      checks += 1;
      expect(edge.check(1, LEASE_MS).outcome).toBe("allowed");
    }
    expect(object.calls / checks).toBeLessThan(0.05);
    expect(object.disk.count / checks).toBeLessThan(0.01);
  });

  test("a flood over the limit is refused at the edge, and what the limit gives is still given", () => {
    const { object, edge, at } = alone(bucket(100, 200), LEASE_MS);
    let checks = 0;
    let admitted = 0;
    for (let ms = 0; ms < 10_000; ms += 1) {
      at(ms);
      for (let n = 0; n < 5; n++) {
        checks += 1;
        if (edge.check(1, LEASE_MS).outcome === "allowed") admitted += 1;
      }
    }
    expect(admitted).toBe(200 + 999);
    expect(object.calls / checks).toBeLessThan(0.05);
  });

  test("many isolates of a tenant far over its limit ask in turns, and what the limit gives is given", () => {
    const limits = bucket(100, 200);
    const object = new ObjectSide(limits);
    const edges = Array.from({ length: 20 }, (_, n) => new Edge(limits, object, LEASE_MS, n));
    let admitted = 0;
    for (let ms = 0; ms < 10_000; ms += 1) {
      for (const clock of [object, ...edges]) clock.clockMs = T0 + ms;
      for (const edge of edges) {
        edge.endDue();
        if (edge.check(1, LEASE_MS).outcome === "allowed") admitted += 1;
      }
    }
    expect(admitted).toBeGreaterThan(200 + 950);
    expect(object.calls).toBeLessThan(3 * admitted);
  });

  test("what is left goes back at the end, so that another isolate may have it", () => {
    const limits = bucket(0, 100);
    const object = new ObjectSide(limits);
    const [one, other] = [new Edge(limits, object, LEASE_MS, 1), new Edge(limits, object, LEASE_MS, 2)];
    for (let n = 0; n < 10; n++) one.check(1, LEASE_MS);
    const before = tightest(other.check(0, LEASE_MS).reports)?.remaining ?? 0;
    for (const clock of [object, one, other]) clock.clockMs += LEASE_MS + LEASE_GRACE_MS;
    one.endDue();
    const after = tightest(other.check(0, LEASE_MS).reports)?.remaining ?? 0;
    expect(before).toBeLessThan(90);
    expect(after).toBe(90);
  });
});

// The promise: in any interval admitted ≤ burst + rate × interval + what was leased and not yet expired at its beginning.
describe("over-admission", () => {
  test("is what was leased and has not expired, with any isolates, calls, crashes and steps of clocks", () => {
    let byLease = 0;
    const any = fc.record({
      perSecond: fc.integer({ min: 0, max: 200 }),
      burst: fc.integer({ min: 1, max: 300 }),
      events: fc.array(anyEvent, { maxLength: 160 }),
    });
    fc.assert(
      fc.property(any, ({ perSecond, burst, events }) => {
        const world = new World(bucket(perSecond, burst));
        for (const one of events) world.apply(one);
        byLease += world.byLease;
        world.expectBound(perSecond, burst);
      }),
      { numRuns: 400 },
    );
    expect(byLease).toBeGreaterThan(2_000);
  });
});
