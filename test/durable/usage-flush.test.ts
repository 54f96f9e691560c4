import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { UsageFlush } from "../../src/durable/usage-flush.ts";
import { readTenantUsage } from "../../src/store/usage.ts";
import { settled } from "../support/event-loop.ts";
import { newLimiter } from "./support.ts";

const T0 = Date.UTC(2026, 9, 1, 12);
const MINUTE_MS = 60_000;
const MINUTE = T0 / MINUTE_MS;
const KEEP = { USAGE_KEEP_DAYS: 14, AUDIT_KEEP_DAYS: 400 };

/** What becomes of a batch: done; not done; done, and nobody hears of it. */
type Fate = "done" | "failed" | "unheard";

let flushes = 0;
/** Batches that were begun, since the test began. */
let writes = 0;
let fate: Fate = "done";

const database = new Proxy(env.DB, {
  get(target, name) {
    if (name !== "batch") return target.prepare.bind(target);
    return async (statements: D1PreparedStatement[]) => {
      writes += 1;
      const became = fate;
      if (became === "failed") throw new Error("away");
      const results = await target.batch(statements);
      if (became === "unheard") throw new Error("the connection broke");
      return results;
    };
  },
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: T0 });
  // Nothing old is cleared, and the object writes at the beginning of a minute.
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  vi.spyOn(console, "warn").mockReturnValue();
  writes = 0;
  fate = "done";
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function newFlush(): { flush: UsageFlush; tenant: string } {
  const tenant = `flush-${++flushes}`;
  return { tenant, flush: new UsageFlush(database, KEEP, `tenant:${tenant}`) };
}

/** Time passes, and what is under way by then has a number of turns to end. */
async function pass(ms: number, turns = 20): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settled(turns);
}

/** One check a second is admitted, for so long. */
async function beAsked(flush: UsageFlush, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    flush.count(1, 0, Date.now());
    await pass(1_000, 1);
  }
}

const stored = async (tenant: string) =>
  (await readTenantUsage(env.DB, tenant, MINUTE - 5, MINUTE + 100)).map(({ minute, admitted, refused }) => [
    minute - MINUTE,
    admitted,
    refused,
  ]);

describe("what a flush costs", () => {
  test("an object that is asked all the time writes once a minute, and once when it falls idle", async () => {
    const { flush, tenant } = newFlush();
    await beAsked(flush, 300);
    expect(writes).toBe(4);
    await pass(2_000);
    expect(writes).toBe(5);
    expect(await stored(tenant)).toEqual([0, 1, 2, 3, 4].map((minute) => [minute, 60, 0]));
    await pass(600_000);
    expect(writes).toBe(5);
  });

  test("addresses write nothing", async () => {
    const flush = new UsageFlush(database, KEEP, "address:192.0.2.1");
    await beAsked(flush, 200);
    await pass(10_000);
    expect(writes).toBe(0);
    expect(flush.pending).toEqual([]);
  });
});

describe("while the database fails", () => {
  test("an object that is asked tries once a minute, and has lost nothing when it is back", async () => {
    const { flush, tenant } = newFlush();
    fate = "failed";
    await beAsked(flush, 600);
    expect(writes).toBeLessThanOrEqual(10);
    fate = "done";
    await beAsked(flush, 120);
    await pass(3_000);
    const minutes = await stored(tenant);
    expect(minutes.reduce((sum, [, admitted = 0]) => sum + admitted, 0)).toBe(720);
    expect(minutes).toContainEqual([3, 60, 0]);
  });

  test("an idle one tries again three times, and then lets go of its time", async () => {
    const { flush } = newFlush();
    fate = "failed";
    flush.count(1, 0, Date.now());
    await pass(3_600_000);
    expect(writes).toBe(4);
    expect(vi.getTimerCount()).toBe(0);
    fate = "done";
    flush.count(1, 0, Date.now());
    await pass(5_000);
    expect(flush.pending).toEqual([]);
  });

  test("a write that was done and not heard of counts once", async () => {
    const { flush, tenant } = newFlush();
    fate = "unheard";
    flush.count(3, 2, Date.now());
    await pass(2_000);
    fate = "done";
    flush.count(1, 0, Date.now());
    await pass(60_000);
    expect(await stored(tenant)).toEqual([[0, 4, 2]]);
  });

  test("one that never answers is given up after ten seconds, and its counts are sent again", async () => {
    const { flush, tenant } = newFlush();
    const batch = vi.spyOn(env.DB, "batch").mockReturnValueOnce(new Promise(() => undefined));
    flush.count(3, 0, Date.now());
    await pass(2_000);
    flush.count(1, 0, Date.now());
    await pass(60_000);
    expect(batch.mock.calls.length).toBeGreaterThan(1);
    expect(await stored(tenant)).toEqual([[0, 4, 0]]);
  });

  test("a check is decided as ever, and as fast", async () => {
    fate = "failed";
    const { flush } = newFlush();
    expect(flush.count(1, 0, Date.now())).toBeUndefined();
    const limiter = newLimiter();
    const decision = await limiter.check({ cost: 1, critical: false, limits: null, tier: "gold" });
    expect(decision.outcome).toBe("allowed");
    expect((await limiter.usage()).pending).toMatchObject([{ minute: MINUTE, tier: "gold", admitted: 1 }]);
  });
});

test("what was given back is told apart from what was refused", async () => {
  const { flush, tenant } = newFlush();
  flush.count(5, 0, Date.now());
  flush.count(-2, 0, Date.now());
  await pass(2_000);
  expect(await readTenantUsage(env.DB, tenant, MINUTE, MINUTE)).toEqual([
    { minute: MINUTE, admitted: 5, refused: 0, returned: 2 },
  ]);
});
