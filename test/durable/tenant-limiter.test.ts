import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseConfig } from "../../src/config.ts";
import type { Decision } from "../../src/core/limiter.ts";
import type { Charged } from "../../src/core/limiter-call.ts";
import { type Limits, tokenBucketPolicy } from "../../src/core/policy.ts";
import { tightest } from "../../src/core/policy-report.ts";
import { NOBODY } from "../../src/core/subjects.ts";
import { checkLimits } from "../../src/durable/limiters.ts";
import { type CaseBucket, TOKEN_BUCKET_CASES } from "../support/token-bucket-cases.ts";
import { advance, type Limiter, newLimiter } from "./support.ts";

// Far from the machine's own time, which sets off alarms: none of these goes off by itself.
const T0 = 4_000_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

function limitsOf(bucket: CaseBucket, version = 1): Limits {
  return { version, policies: [tokenBucketPolicy(bucket.ratePerSecond, bucket.burst)] };
}

const SMALL: CaseBucket = { burst: 5, ratePerSecond: { tokens: 1, perSeconds: 10 } };

async function check(stub: Limiter, cost: number, limits: Limits | null): Promise<Decision> {
  return await charge(stub, cost, limits);
}

async function charge(stub: Limiter, cost: number, limits: Limits | null): Promise<Charged> {
  const answer = await stub.check({ cost, limits });
  if (answer.outcome === "unknown_limits") throw new Error("it was told the limits");
  return answer as unknown as Charged;
}

async function rows(stub: Limiter): Promise<string> {
  return await runInDurableObject(stub, (_object, state) => {
    const tables = state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('state', 'meters')").toArray();
    if (tables.length === 0) return "none";
    const read = (table: string) => state.storage.sql.exec(`SELECT * FROM ${table}`).toArray();
    return JSON.stringify([read("meters"), read("state")]);
  });
}

describe("reported faults of other limiters, through the object", () => {
  test.each(TOKEN_BUCKET_CASES.map((one) => [one.id, one.rule, one] as const))("%s: %s", async (_id, _rule, one) => {
    const stub = newLimiter();
    let version = 1;
    let limits = limitsOf(one.bucket, version);
    for (const step of one.steps) {
      vi.setSystemTime(T0 + step.at * 1000);
      if (step.op === "configure") {
        if (step.bucket === undefined) continue;
        limits = limitsOf(step.bucket, ++version);
        await stub.apply(limits);
        continue;
      }
      const decision = await check(stub, step.op === "peek" ? 0 : (step.cost ?? 1), limits);
      const { allowed, remaining, retryAfterSeconds, code } = step.expect ?? {};
      const retry = decision.outcome === "rate_limited" ? decision.retryAfterSeconds : null;
      if (allowed !== undefined) expect(decision.outcome === "allowed").toBe(allowed);
      if (remaining !== undefined) expect(tightest(decision.reports)?.remaining).toBe(remaining);
      if (retryAfterSeconds !== undefined) expect(retry).toBe(retryAfterSeconds);
      if (code !== undefined) expect(decision.outcome).toBe(code);
    }
  });
});

describe("one object decides for all", () => {
  test("of 100 parallel calls to a tenant never seen before exactly the burst is admitted", async () => {
    const stub = newLimiter();
    const limits = limitsOf({ burst: 5, ratePerSecond: { tokens: 0, perSeconds: 1 } });
    const decisions = await Promise.all(Array.from({ length: 100 }, () => check(stub, 1, limits)));
    expect(decisions.filter(({ outcome }) => outcome === "allowed")).toHaveLength(5);
    for (const { reports } of decisions) expect(tightest(reports)?.remaining).toBeGreaterThanOrEqual(0);
  });

  test("a tenant of which nothing is known has the default tier", async () => {
    const decision = await check(newLimiter(), 1, null);
    expect(decision.reports).toMatchObject([{ limit: 200, remaining: 199 }]);
  });
});

describe("limits have versions", () => {
  test("the newest holds, whether it came with a request or from an admin, and none goes back", async () => {
    const stub = newLimiter();
    const older = limitsOf(SMALL, 3);
    const newer = limitsOf({ ...SMALL, burst: 50 }, 4);
    await check(stub, 1, older);
    await stub.apply(newer);
    expect((await check(stub, 0, older)).reports).toMatchObject([{ limit: 50 }]);
    await stub.apply(older);
    expect((await check(stub, 0, null)).reports).toMatchObject([{ limit: 50 }]);
    expect((await check(stub, 0, limitsOf({ ...SMALL, burst: 60 }, 5))).reports).toMatchObject([{ limit: 60 }]);
  });

  test("what an admin wrote is known after a restart, when D1 tells nothing", async () => {
    const stub = newLimiter();
    await stub.apply(limitsOf({ ...SMALL, burst: 7 }, 9));
    await evictDurableObject(stub);
    expect((await check(stub, 0, null)).reports).toMatchObject([{ limit: 7 }]);
  });

  test("a slower rate does not let a crash forgive what was owed under the faster one", async () => {
    const stub = newLimiter();
    await check(stub, 50, limitsOf({ burst: 50, ratePerSecond: { tokens: 100, perSeconds: 1 } }, 1));
    await stub.apply(limitsOf({ burst: 50, ratePerSecond: { tokens: 1, perSeconds: 60 } }, 2));
    vi.setSystemTime(T0 + 30_000);
    await evictDurableObject(stub);
    expect((await check(stub, 1, null)).outcome).toBe("rate_limited");
  });
});

describe("a charge for what was refused further on is given back", () => {
  const limits = limitsOf(SMALL);
  const charged = async (stub: Limiter, cost: number) =>
    (await charge(stub, cost, limits)).receipt ?? { life: 0, total: 0, number: 0, ids: [] };

  test("whole, and the counters do not say that it was admitted", async () => {
    const stub = newLimiter();
    const receipt = await charged(stub, 3);
    expect(await stub.refund(3, receipt, NOBODY)).toMatchObject([{ remaining: 5 }]);
    expect(await stub.usage()).toMatchObject({ admitted: 0, refused: 0 });
  });

  test("but not out of what was charged after a reset", async () => {
    const stub = newLimiter();
    const receipt = await charged(stub, 3);
    await stub.reset();
    await charged(stub, 4);
    expect(await stub.refund(3, receipt, NOBODY)).toMatchObject([{ remaining: 1 }]);
  });

  test("but not by an object that has lost its memory since, and knows only what is owed at most", async () => {
    const stub = newLimiter();
    const receipt = await charged(stub, 3);
    await evictDurableObject(stub);
    const [before] = (await check(stub, 0, limits)).reports;
    expect(await stub.refund(3, receipt, NOBODY)).toEqual([before]);
  });

  test("a look, a refusal and a critical command have no receipt", async () => {
    const stub = newLimiter();
    expect(await stub.check({ cost: 0, critical: false, limits })).not.toHaveProperty("receipt");
    expect(await stub.check({ cost: 6, critical: false, limits })).not.toHaveProperty("receipt");
    expect(await stub.check({ cost: 1, critical: true, limits })).not.toHaveProperty("receipt");
  });
});

describe("what is on disk", () => {
  test("debt survives a crash: at most a second's chunk too much, and never too little", async () => {
    const stub = newLimiter();
    const limits = limitsOf({ burst: 50, ratePerSecond: { tokens: 10, perSeconds: 1 } });
    await check(stub, 3, limits);
    await evictDurableObject(stub);
    expect((await check(stub, 0, limits)).reports).toMatchObject([{ remaining: 37 }]);
  });

  test("the debt of a slow bucket survives a crash as it is", async () => {
    const stub = newLimiter();
    const limits = limitsOf(SMALL);
    await check(stub, 3, limits);
    await evictDurableObject(stub);
    expect((await check(stub, 0, limits)).reports).toMatchObject([{ remaining: 2 }]);
    expect(await check(stub, 5, limits)).toMatchObject({ retryAfterSeconds: 30 });
  });

  test("an idle object writes the exact debt, and a restart then loses nothing", async () => {
    const stub = newLimiter();
    const limits = limitsOf({ burst: 100, ratePerSecond: { tokens: 1, perSeconds: 60 } });
    await check(stub, 40, limits);
    await check(stub, 2, limits);
    await advance(stub, 4_000);
    await evictDurableObject(stub);
    expect((await check(stub, 0, limits)).reports).toMatchObject([{ remaining: 58 }]);
    expect(await stub.usage()).toMatchObject({ admitted: 2, refused: 0, since: T0 });
  });

  test("a hundred requests within a second write one bucket row", async () => {
    const stub = newLimiter();
    const limits = limitsOf({ burst: 1000, ratePerSecond: { tokens: 100, perSeconds: 1 } });
    await check(stub, 1, limits);
    const before = await rows(stub);
    for (let n = 0; n < 99; n++) await check(stub, 1, limits);
    expect(await rows(stub)).toBe(before);
  });

  test("a refusal leaves every row as it was", async () => {
    const stub = newLimiter();
    const limits = limitsOf(SMALL);
    await check(stub, 5, limits);
    const before = await rows(stub);
    vi.setSystemTime(T0 + 1_000);
    for (let n = 0; n < 10; n++) expect((await check(stub, 5, limits)).outcome).toBe("rate_limited");
    expect((await check(stub, 6, limits)).outcome).toBe("cost_exceeds_capacity");
    await advance(stub, 1_000);
    expect(await rows(stub)).toBe(before);
  });

  test("a look and a first refusal write nothing at all", async () => {
    const stub = newLimiter();
    await check(stub, 0, limitsOf(SMALL));
    await check(stub, 6, limitsOf(SMALL));
    expect(await rows(stub)).toBe("none");
  });

  test("a reset forgives everything, also after a restart", async () => {
    const stub = newLimiter();
    const limits = limitsOf(SMALL);
    await check(stub, 5, limits);
    await stub.reset();
    await evictDurableObject(stub);
    expect((await check(stub, 5, limits)).outcome).toBe("allowed");
  });
});

describe("an object with a bug", () => {
  test("throws, and is never taken for one that does not answer: that would admit everything for ever", async () => {
    const stub = newLimiter();
    await stub.apply(limitsOf(SMALL));
    await runInDurableObject(stub, (_object, { storage }) => {
      storage.sql.exec("UPDATE state SET shape = 99");
    });
    await evictDurableObject(stub);
    const known = {
      tenant: stub.name?.slice("tenant:".length) ?? "",
      kind: "tenant",
      tier: null,
      limits: null,
      weight: 1,
      limiterMode: "leased",
    } as const;
    const caller = { ...known, credential: null, address: "192.0.2.1" };
    const asker = { env, config: parseConfig({}), caller, nowMs: Date.now(), afterwards: () => undefined };
    const asked = async () => await checkLimits(asker, { cost: 1, critical: false });
    expect(await asked().catch(String)).toContain("shape 99");
  });
});

describe("a rate that adapts", () => {
  const limits = limitsOf({ burst: 100, ratePerSecond: { tokens: 50, perSeconds: 1 } });
  const slow = new Array(100).fill(5_000);

  test("follows how long commands take, mints nothing, and ends with new limits and with the object's life", async () => {
    const stub = newLimiter();
    await check(stub, 100, limits);
    for (let n = 0; n < 30; n++) await stub.observe(slow);
    expect((await check(stub, 0, limits)).reports).toMatchObject([
      { remaining: 0, windowSeconds: 10, resetSeconds: 10 },
    ]);
    vi.setSystemTime(T0 + 1_000);
    expect((await check(stub, 0, limits)).reports).toMatchObject([{ remaining: 10 }]);
    await stub.apply({ ...limits, version: 2 });
    expect((await check(stub, 0, null)).reports).toMatchObject([{ remaining: 10, windowSeconds: 2 }]);
    for (let n = 0; n < 30; n++) await stub.observe(slow);
    await evictDurableObject(stub);
    expect((await check(stub, 0, null)).reports).toMatchObject([{ windowSeconds: 2 }]);
  });
});

describe("critical commands", () => {
  test("are admitted with an empty bucket, up to ten times the tier, and then told to wait", async () => {
    const stub = newLimiter();
    const limits = limitsOf({ burst: 10, ratePerSecond: { tokens: 10, perSeconds: 1 } });
    await check(stub, 10, limits);
    const critical = () => stub.check({ cost: 1, critical: true, limits });
    const decisions = await Promise.all(Array.from({ length: 110 }, critical));
    expect(decisions.filter(({ outcome }) => outcome === "allowed")).toHaveLength(100);
    expect(await critical()).toMatchObject({ outcome: "rate_limited", violated: ["critical-ceiling"] });
  });
});
