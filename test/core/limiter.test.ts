import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { criticalCeiling } from "../../src/core/critical-ceiling.ts";
import { compileLimits, count, type Decision, decide, judge } from "../../src/core/limiter.ts";
import type { Meter } from "../../src/core/meter.ts";
import { type Limits, type Policy, type Scope, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";
import { tightest } from "../../src/core/policy-report.ts";
import { NOBODY, type Subjects } from "../../src/core/subjects.ts";
import { type CaseBucket, TOKEN_BUCKET_CASES } from "../support/token-bucket-cases.ts";

const T0 = 1_700_000_000_000;

function limitsOf(...buckets: readonly (CaseBucket & { name?: string })[]): Limits {
  const policies = buckets.map(({ burst, ratePerSecond, name = "requests" }): Policy => {
    return { ...tokenBucketPolicy(ratePerSecond, burst), name };
  });
  return { version: 1, policies };
}

const windowOf = (
  type: WindowPolicy["type"],
  name: string,
  limit: number,
  windowSeconds: number,
  scope: Scope = "tenant",
): Policy => ({ type, name, scope, limit, windowSeconds });

/** Meters and limits that stay the same, and requests to them one after another. */
function gate(...policies: readonly Policy[]) {
  const limits = compileLimits({ version: 1, policies });
  const meters = new Map<string, Meter>();
  const take = (step: { decision: Decision; next: ReadonlyMap<string, Meter> }) => {
    for (const [id, meter] of step.next) meters.set(id, meter);
    return step.decision;
  };
  return {
    meters,
    ask: (cost: number, nowMs: number, subjects: Partial<Subjects> = {}) =>
      take(decide(meters, limits, cost, nowMs, { ...NOBODY, ...subjects })),
    count: (cost: number, nowMs: number, subjects: Partial<Subjects> = {}) =>
      take(count(meters, limits, cost, nowMs, { ...NOBODY, ...subjects })),
  };
}

function retryOf(decision: Decision): number | null {
  return decision.outcome === "rate_limited" ? decision.retryAfterSeconds : null;
}

describe("reported faults of other limiters, on the core", () => {
  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))("%s: %s", (_id, _rule, one) => {
    let limits = compileLimits(limitsOf(one.bucket));
    const meters = new Map<string, Meter>();
    for (const step of one.steps) {
      const now = T0 + step.at * 1000;
      if (step.op === "configure") {
        if (step.bucket !== undefined) limits = compileLimits(limitsOf(step.bucket));
        continue;
      }
      const { decision, next } = decide(meters, limits, step.op === "peek" ? 0 : (step.cost ?? 1), now);
      for (const [id, meter] of next) meters.set(id, meter);
      const { allowed, remaining, retryAfterSeconds, code } = step.expect ?? {};
      if (allowed !== undefined) expect(decision.outcome === "allowed").toBe(allowed);
      if (remaining !== undefined) expect(tightest(decision.reports)?.remaining).toBe(remaining);
      if (retryAfterSeconds !== undefined) expect(retryOf(decision)).toBe(retryAfterSeconds);
      if (code !== undefined) expect(decision.outcome).toBe(code);
    }
  });
});

describe("all policies together, or none", () => {
  const a = { name: "a", burst: 30, ratePerSecond: { tokens: 1, perSeconds: 60 } };
  const b = { name: "b", burst: 5, ratePerSecond: { tokens: 1, perSeconds: 10 } };

  test("when one policy has nothing left, ten refused calls take nothing from the other", () => {
    const limits = compileLimits(limitsOf(a, b));
    let { next } = decide(new Map(), limits, 5, T0);
    for (let call = 0; call < 10; call++) {
      const step = decide(next, limits, 1, T0);
      next = step.next;
      expect(step.decision).toMatchObject({ outcome: "rate_limited", violated: ["b"], retryAfterSeconds: 10 });
    }
    expect(decide(next, limits, 0, T0).decision.reports).toMatchObject([{ remaining: 25 }, { remaining: 0 }]);
  });

  test("Retry-After is the longest wait of all that refuse", () => {
    const limits = compileLimits(limitsOf({ ...a, burst: 5 }, b));
    const { next } = decide(new Map(), limits, 5, T0);
    expect(decide(next, limits, 2, T0).decision).toMatchObject({ violated: ["a", "b"], retryAfterSeconds: 120 });
  });

  test("a cost that one policy can never hold is refused for good, naming that policy alone", () => {
    const limits = compileLimits(limitsOf(a, b));
    expect(decide(new Map(), limits, 6, T0).decision).toMatchObject({
      outcome: "cost_exceeds_capacity",
      violated: ["b"],
    });
  });

  test("a policy that is taken away and brought back has forgiven nothing", () => {
    const both = compileLimits(limitsOf(a, b));
    const one = compileLimits(limitsOf(a));
    const spent = decide(new Map(), both, 5, T0).next;
    const without = decide(spent, one, 1, T0).next;
    expect(decide(new Map([...spent, ...without]), both, 1, T0).decision.outcome).toBe("rate_limited");
  });

  test("a refusal leaves the state as time alone would have left it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 40 }))), (steps) => {
        const limits = compileLimits(limitsOf(a, b));
        let meters: ReadonlyMap<string, Meter> = new Map();
        let at = T0;
        for (const [gap, cost] of steps) {
          at += gap;
          const looked = decide(meters, limits, 0, at).next;
          const { decision, next } = decide(meters, limits, cost, at);
          if (decision.outcome !== "allowed") expect(next).toEqual(looked);
          meters = next;
        }
      }),
    );
  });

  test("a judgement says what a decision would, and charges nothing", () => {
    const limits = compileLimits(limitsOf({ burst: 3, ratePerSecond: { tokens: 1, perSeconds: 1 } }));
    expect(judge(new Map(), limits, 3, T0)).toMatchObject({ outcome: "allowed", reports: [{ remaining: 3 }] });
    const { next } = decide(new Map(), limits, 3, T0);
    expect(judge(next, limits, 1, T0)).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 1 });
  });
});

describe("policies of all three types together", () => {
  /** A minute's start. */
  const M0 = 28_333_334 * 60_000;
  const bucket: Policy = { ...tokenBucketPolicy({ tokens: 1, perSeconds: 1 }, 10), name: "bucket" };
  const fixed = windowOf("fixed-window", "fixed", 8, 60);
  const sliding = windowOf("sliding-window", "sliding", 9, 30);

  test("each is reported, in the order that they are configured, and one charge is in all", () => {
    const decision = gate(bucket, fixed, sliding).ask(3, M0 + 2_000);
    expect(decision).toEqual({
      outcome: "allowed",
      reports: [
        { name: "bucket", type: "token-bucket", limit: 10, windowSeconds: 10, remaining: 7, resetSeconds: 3 },
        { name: "fixed", type: "fixed-window", limit: 8, windowSeconds: 60, remaining: 5, resetSeconds: 58 },
        { name: "sliding", type: "sliding-window", limit: 9, windowSeconds: 30, remaining: 6, resetSeconds: 58 },
      ],
    });
  });

  test("whichever refuses, the others are not charged, and the longest wait is told", () => {
    const { ask } = gate(bucket, fixed, sliding);
    ask(8, M0);
    for (let call = 0; call < 10; call++) {
      expect(ask(2, M0)).toMatchObject({
        outcome: "rate_limited",
        violated: ["fixed", "sliding"],
        retryAfterSeconds: 60,
        reports: [{ remaining: 2 }, { remaining: 0 }, { remaining: 1 }],
      });
    }
  });

  test("the wait told is enough for all of them, and a second less is not", () => {
    const steps = fc.array(fc.tuple(fc.nat(15_000), fc.integer({ min: 1, max: 8 })), { maxLength: 40 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 8 }), (plan, cost) => {
        const { ask, meters } = gate(bucket, fixed, sliding);
        const limits = compileLimits({ version: 1, policies: [bucket, fixed, sliding] });
        let at = M0;
        for (const [gap, spent] of plan) {
          at += gap;
          ask(spent, at);
        }
        const refused = ask(cost, at);
        if (refused.outcome !== "rate_limited") return;
        const outcomeIn = (seconds: number) => decide(meters, limits, cost, at + seconds * 1000).decision.outcome;
        expect(outcomeIn(refused.retryAfterSeconds)).toBe("allowed");
        expect(outcomeIn(refused.retryAfterSeconds - 1)).toBe("rate_limited");
      }),
    );
  });

  test("after a small step back of the clock the wait told is still enough", () => {
    for (const policy of [bucket, fixed, sliding]) {
      const { ask } = gate(policy);
      ask(8, M0 + 2_000);
      const refused = ask(8, M0 - 20_000);
      const seconds = retryOf(refused) ?? 0;
      expect(ask(8, M0 - 20_000 + (seconds - 1) * 1000).outcome).toBe("rate_limited");
      expect(ask(8, M0 - 20_000 + seconds * 1000).outcome).toBe("allowed");
    }
  });

  test("a policy that changes its type begins anew, and finds what it owed when it changes back", () => {
    const meters = new Map<string, Meter>();
    const decideBy = (policy: Policy) => {
      const { decision, next } = decide(meters, compileLimits({ version: 1, policies: [policy] }), 5, M0);
      for (const [id, meter] of next) meters.set(id, meter);
      return decision.outcome;
    };
    const types = ["fixed-window", "sliding-window"] as const;
    const [one, other] = [windowOf(types[0], "w", 5, 60), windowOf(types[1], "w", 5, 60)];
    expect([one, other, one, other, one].map(decideBy)).toEqual([
      "allowed",
      "allowed",
      "rate_limited",
      "rate_limited",
      "rate_limited",
    ]);
  });
});

describe("scopes", () => {
  const perKey = windowOf("fixed-window", "user", 2, 60, "key");
  const perAddress = windowOf("sliding-window", "address", 2, 60, "ip");
  const perCredential: Policy = { ...tokenBucketPolicy({ tokens: 1, perSeconds: 9 }, 2), scope: "credential" };
  const ofTenant = windowOf("fixed-window", "tenant", 5, 60);

  test.for<[string, Policy, keyof Subjects]>([
    ["key", perKey, "key"],
    ["address", perAddress, "ip"],
    ["credential", perCredential, "credential"],
  ])("one %s's use is not another's", ([, policy, scope]) => {
    const { ask } = gate(policy);
    const outcomes = ["a", "a", "a", "b", "b", "b"].map((name) => ask(1, T0, { [scope]: name }).outcome);
    expect(outcomes.map((outcome) => outcome === "allowed")).toEqual([true, true, false, true, true, false]);
  });

  test("a request that names no key is not counted by key, nor told of it", () => {
    const { ask } = gate(perKey, ofTenant);
    for (let call = 0; call < 3; call++) {
      expect(ask(1, T0).reports.map(({ name }) => name)).toEqual(["tenant"]);
    }
    expect(ask(1, T0, { key: "a" }).reports).toMatchObject([{ remaining: 1 }, { remaining: 1 }]);
    expect(gate(perKey).ask(1, T0)).toEqual({ outcome: "allowed", reports: [] });
  });

  test.for<[string, Policy]>([
    ["an address", perAddress],
    ["a credential", perCredential],
  ])("requests without %s share one limit", ([, policy]) => {
    const { ask } = gate(policy);
    expect([1, 2, 3].map(() => ask(1, T0).outcome)).toEqual(["allowed", "allowed", "rate_limited"]);
  });

  test("one subject's refusal takes nothing from the tenant or from others", () => {
    const { ask } = gate(perKey, perAddress, ofTenant);
    ask(2, T0, { key: "a", ip: "1" });
    for (let call = 0; call < 5; call++) {
      expect(ask(1, T0, { key: "a", ip: "2" })).toMatchObject({ violated: ["user"] });
      expect(ask(1, T0, { key: "b", ip: "1" })).toMatchObject({ violated: ["address"] });
    }
    expect(ask(2, T0, { key: "b", ip: "2" })).toMatchObject({ outcome: "allowed" });
    expect(ask(2, T0, { key: "c", ip: "3" })).toMatchObject({ violated: ["tenant"] });
  });

  test("a policy that changes its scope begins anew, and finds what it owed when it changes back", () => {
    const { ask, meters } = gate(perKey);
    ask(2, T0, { key: "a" });
    const wide = compileLimits({ version: 2, policies: [{ ...perKey, scope: "ip" }] });
    expect(decide(meters, wide, 2, T0, { ...NOBODY, ip: "a" }).decision.outcome).toBe("allowed");
    expect(ask(1, T0, { key: "a" }).outcome).toBe("rate_limited");
  });
});

describe("critical commands", () => {
  const free = limitsOf({ burst: 100, ratePerSecond: { tokens: 50, perSeconds: 1 } });

  test("are counted and never refused: they empty the bucket and go no further", () => {
    const limits = compileLimits(free);
    let meters: ReadonlyMap<string, Meter> = new Map();
    for (let call = 0; call < 150; call++) meters = count(meters, limits, 1, T0).next;
    expect(decide(meters, limits, 1, T0).decision).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 1 });
    expect(decide(meters, limits, 1, T0 + 20).decision.outcome).toBe("allowed");
  });

  test("have a ceiling of ten times the tier", () => {
    expect(criticalCeiling(free).policies).toMatchObject([{ burst: 1_000, rate: { tokens: 500, perSeconds: 1 } }]);
  });

  test("use windows up, for their own subjects too, and are refused by none", () => {
    const policies = [
      windowOf("fixed-window", "fixed", 3, 60),
      windowOf("sliding-window", "sliding", 4, 60, "credential"),
    ] as const;
    const { count: countOne, ask } = gate(...policies);
    for (let call = 0; call < 9; call++) expect(countOne(1, T0, { credential: "k" }).outcome).toBe("allowed");
    expect(ask(1, T0, { credential: "k" })).toMatchObject({ violated: ["fixed", "sliding"] });
    expect(ask(0, T0, { credential: "other" }).reports).toMatchObject([{ remaining: 0 }, { remaining: 4 }]);
  });

  test.for<[string, Policy[], number, number]>([
    ["a window's rate", [windowOf("fixed-window", "w", 6_000, 60)], 1_000, 60_000],
    [
      "the tightest of all types",
      [...free.policies, windowOf("sliding-window", "w", 60, 2), windowOf("fixed-window", "x", 70, 1)],
      300,
      600,
    ],
    ["a rate below one, not under the least", [windowOf("fixed-window", "day", 1_000, 86_400)], 10, 10_000],
    [
      "the tenant's own limits, not a subject's",
      [...free.policies, windowOf("fixed-window", "w", 1, 60, "key")],
      500,
      1_000,
    ],
    ["the default tier's, with limits of subjects alone", [windowOf("fixed-window", "w", 1, 60, "ip")], 1_000, 2_000],
  ])("have a ceiling by %s", ([, policies, tokens, burst]) => {
    expect(criticalCeiling({ version: 1, policies }).policies).toMatchObject([
      { scope: "tenant", rate: { tokens, perSeconds: 1 }, burst },
    ]);
  });

  test("of a tenant that is set to zero can still end its work", () => {
    const zero = limitsOf({ burst: 0, ratePerSecond: { tokens: 0, perSeconds: 1 } });
    expect(criticalCeiling(zero).policies).toMatchObject([{ burst: 20, rate: { tokens: 10, perSeconds: 1 } }]);
  });
});
