import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Decision } from "../../src/core/limiter.ts";
import { SUBJECTS_MAX } from "../../src/core/meters.ts";
import { type Limits, type Policy, type Scope, tokenBucketPolicy, type WindowPolicy } from "../../src/core/policy.ts";
import { NOBODY, type Subjects } from "../../src/core/subjects.ts";
import type { TenantLimiter } from "../../src/durable/tenant-limiter.ts";
import { advance, type Limiter, newLimiter } from "./support.ts";

/** An hour's start, far from the machine's own time, which sets off alarms. */
const T0 = 1_111_112 * 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

const windowOf = (
  type: WindowPolicy["type"],
  limit: number,
  windowSeconds: number,
  scope: Scope = "tenant",
  name = "w",
): Policy => ({ type, name, scope, limit, windowSeconds });

const limitsOf = (version: number, ...policies: Policy[]): Limits => ({ version, policies });

async function check(stub: Limiter, cost: number, limits: Limits | null, subjects: Partial<Subjects> = {}) {
  return (await stub.check({ cost, critical: false, limits, subjects: { ...NOBODY, ...subjects } })) as Decision;
}

const remainingOf = async (stub: Limiter, subjects: Partial<Subjects> = {}) =>
  (await check(stub, 0, null, subjects)).reports.map(({ remaining }) => remaining);

async function meterRows(stub: Limiter): Promise<Record<string, number>> {
  return await runInDurableObject(stub, (_object, state) => {
    const tables = state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meters'").toArray();
    if (tables.length === 0) return {};
    const rows = state.storage.sql.exec<{ id: string; owed: number }>("SELECT id, owed FROM meters ORDER BY id");
    return Object.fromEntries([...rows].map(({ id, owed }) => [id, owed]));
  });
}

describe("windows, through the object", () => {
  test("a fixed window of 30 a minute answers the 31st, 2 s into the minute, with Retry-After 58", async () => {
    vi.setSystemTime(T0 + 2_000);
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 30, 60));
    const decisions = await Promise.all(Array.from({ length: 40 }, () => check(stub, 1, limits)));
    expect(decisions.filter(({ outcome }) => outcome === "allowed")).toHaveLength(30);
    expect(decisions[30]).toMatchObject({ outcome: "rate_limited", retryAfterSeconds: 58, violated: ["w"] });
    vi.setSystemTime(T0 + 60_000);
    expect((await check(stub, 30, limits)).outcome).toBe("allowed");
  });

  test.for<[string, WindowPolicy["type"], number, number]>([
    ["a fixed window lets all in at the border", "fixed-window", 60_000, 100],
    ["a sliding window does not", "sliding-window", 60_000, 0],
    ["a sliding window lets in by and by", "sliding-window", 90_000, 50],
  ])("%s", async ([, type, atMs, remaining]) => {
    const stub = newLimiter();
    vi.setSystemTime(T0 + 59_999);
    await check(stub, 100, limitsOf(1, windowOf(type, 100, 60)));
    vi.setSystemTime(T0 + atMs);
    expect(await remainingOf(stub)).toEqual([remaining]);
  });

  test("what one policy refuses is charged to none, whatever their types and scopes", async () => {
    const stub = newLimiter();
    const limits = limitsOf(
      1,
      { ...tokenBucketPolicy({ tokens: 1, perSeconds: 1 }, 50), name: "bucket" },
      windowOf("fixed-window", 40, 60, "tenant", "fixed"),
      windowOf("sliding-window", 2, 60, "key", "user"),
    );
    await check(stub, 2, limits, { key: "a" });
    const before = await meterRows(stub);
    for (let call = 0; call < 10; call++) {
      expect(await check(stub, 1, limits, { key: "a" })).toMatchObject({ violated: ["user"], retryAfterSeconds: 90 });
    }
    expect(await meterRows(stub)).toEqual(before);
    expect(await remainingOf(stub, { key: "a" })).toEqual([48, 38, 0]);
    expect(await remainingOf(stub, { key: "b" })).toEqual([48, 38, 2]);
    expect(await remainingOf(stub)).toEqual([48, 38]);
  });

  test("a Worker that tells no subjects is counted as the unknown one", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 1, 60, "ip"));
    await stub.check({ cost: 1, critical: false, limits });
    expect((await check(stub, 1, limits)).outcome).toBe("rate_limited");
    expect((await check(stub, 1, limits, { ip: "192.0.2.7" })).outcome).toBe("allowed");
  });
});

describe("a change of limits", () => {
  test.for<[string, Policy, number]>([
    ["a raise frees exactly the difference", windowOf("fixed-window", 150, 60), 70],
    ["a lower carries what was used", windowOf("fixed-window", 90, 60), 10],
    ["another length carries what was used", windowOf("fixed-window", 100, 3_600), 20],
    ["another type begins anew", windowOf("sliding-window", 100, 60), 100],
    ["another scope begins anew", windowOf("fixed-window", 100, 60, "ip"), 100],
  ])("%s, there, and after a restart; and back again it has forgiven nothing", async ([, changed, remaining]) => {
    const stub = newLimiter();
    const first = windowOf("fixed-window", 100, 60);
    await check(stub, 80, limitsOf(1, first));
    await advance(stub, 4_000);
    await stub.apply(limitsOf(2, changed));
    expect(await remainingOf(stub)).toEqual([remaining]);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([remaining]);
    await stub.apply(limitsOf(3, first));
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([20]);
  });

  test("a longer window is on disk at once: a crash after the old one's end forgives nothing", async () => {
    const stub = newLimiter();
    await check(stub, 80, limitsOf(1, windowOf("fixed-window", 100, 60)));
    await stub.apply(limitsOf(2, windowOf("fixed-window", 100, 3_600)));
    vi.setSystemTime(T0 + 120_000);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([20]);
  });

  test("a bucket whose policy is gone for a while comes back with what it owes", async () => {
    const stub = newLimiter();
    const bucket = { ...tokenBucketPolicy({ tokens: 1, perSeconds: 60 }, 10), scope: "key" as const };
    await check(stub, 10, limitsOf(1, bucket), { key: "a" });
    await stub.apply(limitsOf(2, windowOf("fixed-window", 100, 60)));
    await advance(stub, 4_000);
    await evictDurableObject(stub);
    vi.setSystemTime(T0 + 120_000);
    await stub.apply(limitsOf(3, bucket));
    expect(await remainingOf(stub, { key: "a" })).toEqual([2]);
  });
});

describe("what is on disk", () => {
  test("windows survive a crash: at most a chunk too much is known, and never more than the limit", async () => {
    const stub = newLimiter();
    const limits = limitsOf(
      1,
      windowOf("fixed-window", 600, 60, "tenant", "fixed"),
      windowOf("sliding-window", 605, 60, "key", "sliding"),
    );
    await check(stub, 100, limits, { key: "a" });
    await evictDurableObject(stub);
    expect(await remainingOf(stub, { key: "a" })).toEqual([490, 494]);
    await check(stub, 490, limits, { key: "a" });
    await evictDurableObject(stub);
    expect(await remainingOf(stub, { key: "a" })).toEqual([0, 0]);
  });

  test("the window before survives a crash too", async () => {
    const stub = newLimiter();
    await check(stub, 80, limitsOf(1, windowOf("sliding-window", 80, 60)));
    await advance(stub, 90_000);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([40]);
  });

  test("a hundred requests within a second write one row a meter", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 6_000, 60), windowOf("sliding-window", 6_000, 60, "ip", "x"));
    await check(stub, 1, limits, { ip: "192.0.2.7" });
    const before = await meterRows(stub);
    for (let n = 0; n < 99; n++) await check(stub, 1, limits, { ip: "192.0.2.7" });
    expect(await meterRows(stub)).toEqual(before);
    expect(before).toEqual({ ftw: 101, "six\n192.0.2.7": 101 });
  });

  test("an idle object writes what is owed exactly, and takes away the rows of those that owe nothing", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 6_000, 60, "key"));
    await check(stub, 7, limits, { key: "a" });
    await check(stub, 5, limits, { key: "b" });
    await advance(stub, 4_000);
    expect(await meterRows(stub)).toEqual({ "fkw\na": 7, "fkw\nb": 5 });
    await advance(stub, 60_000);
    await check(stub, 1, limits, { key: "b" });
    await advance(stub, 4_000);
    expect(await meterRows(stub)).toEqual({ "fkw\nb": 1 });
  });

  test("a refusal, a look and a newcomer that is refused leave every row as it was", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("sliding-window", 5, 60, "key"), windowOf("fixed-window", 6, 60, "ip", "x"));
    await check(stub, 9, limits, { key: "a" });
    await check(stub, 0, limits, { key: "a" });
    expect(await meterRows(stub)).toEqual({});
    await check(stub, 5, limits, { key: "a" });
    const before = await meterRows(stub);
    vi.setSystemTime(T0 + 1_000);
    for (const key of ["a", "b", "c"]) expect((await check(stub, 2, limits, { key })).outcome).toBe("rate_limited");
    await advance(stub, 500);
    expect(await meterRows(stub)).toEqual(before);
  });

  test.for([
    ["a line break", "a\nb"],
    ["a NUL", "a\0b"],
    ["half a surrogate pair", "\ud800"],
    ["much", "ü".repeat(256)],
  ])("a key with %s is kept apart from others, and found again after a restart", async ([, key = ""]) => {
    const stub = newLimiter();
    await check(stub, 2, limitsOf(1, windowOf("fixed-window", 2, 60, "key")), { key });
    await evictDurableObject(stub);
    expect(await remainingOf(stub, { key })).toEqual([0]);
    expect(await remainingOf(stub, { key: "a" })).toEqual([2]);
  });

  test("a reset forgives every subject, also after a restart", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 2, 60, "key"));
    for (const key of ["a", "b"]) await check(stub, 2, limits, { key });
    await stub.reset();
    expect(await remainingOf(stub, { key: "a" })).toEqual([2]);
    await evictDurableObject(stub);
    expect(await remainingOf(stub, { key: "b" })).toEqual([2]);
    expect(await meterRows(stub)).toEqual({});
  });
});

describe("an object that was written in shape 1", () => {
  const bucket = tokenBucketPolicy({ tokens: 1, perSeconds: 10 }, 5);

  /** As the code of that shape left it: 4 tokens owed of 5, and a bucket whose policy is gone. */
  async function shapeOne(): Promise<Limiter> {
    const stub = newLimiter();
    await runInDurableObject(stub, (_object, state) => {
      state.storage.sql.exec(
        `CREATE TABLE buckets (name TEXT PRIMARY KEY, debt INTEGER NOT NULL, per_token INTEGER NOT NULL,
           at_ms INTEGER NOT NULL) WITHOUT ROWID;
         CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), shape INTEGER NOT NULL, limits TEXT,
           admitted INTEGER NOT NULL, refused INTEGER NOT NULL, since_ms INTEGER NOT NULL);`,
      );
      const rows = "INSERT INTO buckets VALUES ('requests', 40000, 10000, ?), ('gone', 20000, 10000, ?)";
      state.storage.sql.exec(rows, T0, T0);
      const limits = JSON.stringify(limitsOf(7, bucket));
      state.storage.sql.exec("INSERT INTO state VALUES (1, 1, ?, 11, 3, 5)", limits);
    });
    await evictDurableObject(stub);
    return stub;
  }

  const tables = (stub: Limiter) =>
    runInDurableObject(stub, (_object, state) =>
      state.storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name IN ('state', 'meters', 'buckets')")
        .toArray()
        .map(({ name }) => name)
        .sort(),
    );

  test("keeps its debt, its limits and its counters, and ages as it did", async () => {
    const stub = await shapeOne();
    expect(await remainingOf(stub)).toEqual([1]);
    vi.setSystemTime(T0 + 20_000);
    expect(await remainingOf(stub)).toEqual([3]);
    expect(await stub.usage()).toMatchObject({ admitted: 11, refused: 3, since: 5 });
    expect((await check(stub, 1, limitsOf(6, windowOf("fixed-window", 1, 1)))).reports).toMatchObject([{ limit: 5 }]);
  });

  test("is left as it is by looks and refusals, and made into the present shape by its first write", async () => {
    const stub = await shapeOne();
    expect((await check(stub, 2, null)).outcome).toBe("rate_limited");
    expect(await tables(stub)).toEqual(["buckets", "state"]);
    await check(stub, 1, null);
    expect(await tables(stub)).toEqual(["meters", "state"]);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([0]);
    const gone = { ...bucket, name: "gone" };
    await stub.apply(limitsOf(8, gone));
    expect(await remainingOf(stub)).toEqual([3]);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([3]);
  });

  test("takes newer limits and a reset", async () => {
    const stub = await shapeOne();
    await stub.apply(limitsOf(8, { ...bucket, burst: 9 }));
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([5]);
    const other = await shapeOne();
    await other.reset();
    await evictDurableObject(other);
    expect(await remainingOf(other)).toEqual([5]);
    expect(await tables(other)).toEqual(["meters", "state"]);
  });
});

describe("an object that was written in shape 2", () => {
  const limits = limitsOf(7, tokenBucketPolicy({ tokens: 1, perSeconds: 10 }, 5));

  test("keeps its debt, its limits and its counters, and counts on for D1 from its first write on", async () => {
    const stub = newLimiter();
    await runInDurableObject(stub, (_object, { storage: { sql } }) => {
      sql.exec(
        `CREATE TABLE meters (id TEXT PRIMARY KEY, owed INTEGER NOT NULL, beside INTEGER NOT NULL,
           unit INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
         CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), shape INTEGER NOT NULL, limits TEXT,
           admitted INTEGER NOT NULL, refused INTEGER NOT NULL, since_ms INTEGER NOT NULL);`,
      );
      sql.exec("INSERT INTO meters VALUES ('btrequests', 40000, 1, 10000, ?)", T0);
      sql.exec("INSERT INTO state VALUES (1, 2, ?, 11, 3, 5)", JSON.stringify(limits));
    });
    await evictDurableObject(stub);
    expect((await check(stub, 2, null)).outcome).toBe("rate_limited");
    expect(await remainingOf(stub)).toEqual([1]);
    await check(stub, 1, null);
    await advance(stub, 2_000);
    expect((await check(stub, 1, null)).outcome).toBe("rate_limited");
    await advance(stub, 2_000);
    await evictDurableObject(stub);
    expect(await remainingOf(stub)).toEqual([0]);
    // The first two went to D1 when the object fell idle; the third waits for the next minute.
    expect(await stub.usage()).toMatchObject({
      admitted: 12,
      refused: 5,
      since: 5,
      pending: [{ minute: T0 / 60_000, admitted: 0, refused: 1 }],
    });
  });
});

describe("the bound on subjects, through the object", () => {
  test("past it newcomers share one limit, restarts or not, until others owe nothing", async () => {
    const stub = newLimiter();
    const limits = limitsOf(1, windowOf("fixed-window", 2, 60, "key"));
    const ask = (keys: string[]) =>
      runInDurableObject(stub, (object: TenantLimiter) =>
        keys.map((key) => {
          const subjects = { ...NOBODY, key };
          return object.check({ cost: 1, critical: false, limits, subjects }).outcome === "allowed";
        }),
      );
    const all = await ask(Array.from({ length: SUBJECTS_MAX }, (_, n) => `k${n}`));
    expect(all.every(Boolean)).toBe(true);
    expect(await ask(["x", "y", "z", "k0", "k0"])).toEqual([true, true, false, true, false]);
    await evictDurableObject(stub);
    // What the evicted object had planned went with it. (That resets the clock, too.)
    vi.clearAllTimers();
    vi.setSystemTime(T0);
    expect(await ask(["x", "y", "z", "k0"])).toEqual([false, false, false, false]);
    vi.setSystemTime(T0 + 60_000);
    expect(await ask(["x", "x", "x", "y", "y"])).toEqual([true, true, false, true, true]);
    // Rows of those that were given up go with new ones, also while the object is never idle.
    expect(Object.keys(await meterRows(stub)).length).toBeLessThan(SUBJECTS_MAX - 100);
    await advance(stub, 4_000);
    expect(await meterRows(stub)).toEqual({ "fkw\nx": 2, "fkw\ny": 2 });
  });
});
