import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PENDING_MINUTES_MAX } from "../../src/core/usage-minutes.ts";
import { readTenantUsage, readTotals } from "../../src/store/usage.ts";
import { FatefulDatabase, T0, Tenant } from "./usage-world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let database: FatefulDatabase;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: T0 });
  // Nothing old is cleared, and the object writes 9 s after the beginning of a minute.
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  vi.spyOn(console, "warn").mockReturnValue();
  database = new FatefulDatabase();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** One check every so many seconds, for so long. */
async function beAsked(tenant: Tenant, everySeconds: number, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += everySeconds) {
    await tenant.check();
    await tenant.pass(everySeconds * SECOND);
  }
}

const minutesOf = (writes: readonly number[]) => writes.map((ms) => Math.floor(ms / MINUTE));

describe("what counting costs", () => {
  test("an object that is asked all the time writes once a minute, and once more when it has fallen idle", async () => {
    const tenant = await Tenant.begin(database);
    await beAsked(tenant, 1, 180);
    expect(minutesOf(database.writes)).toEqual([1, 2]);
    expect(tenant.alarms).toBe(0);
    await tenant.pass(10 * MINUTE);
    expect(minutesOf(database.writes)).toEqual([1, 2, 3]);
    expect(tenant.alarms).toBe(0);
    expect(await tenant.stored()).toEqual([0, 1, 2].map((minute) => [minute, 60, 0]));
  });

  test("one that falls idle tells D1 at once, the first time in a minute: who looks after a burst sees it", async () => {
    const tenant = await Tenant.begin(database);
    await tenant.check(7);
    await tenant.pass(2 * SECOND);
    expect(await tenant.stored()).toEqual([[0, 7, 0]]);
    await tenant.check(2);
    await tenant.pass(10 * SECOND);
    expect(await tenant.stored()).toEqual([[0, 7, 0]]);
    await tenant.pass(2 * MINUTE);
    expect(await tenant.stored()).toEqual([[0, 9, 0]]);
    expect([database.writes, tenant.alarms]).toEqual([[2 * SECOND, 69 * SECOND], 1]);
  });

  test("one that falls idle again and again writes to D1 once a minute, and two rows of its own each time", async () => {
    const tenant = await Tenant.begin(database);
    await beAsked(tenant, 3, 60);
    const rowsBefore = await tenant.rows();
    const othersBefore = tenant.alarms + database.rows;
    await beAsked(tenant, 3, 240);
    const spells = 80;
    // Of a spell: the charge, and the state. Of a minute: the parcel before it leaves, and that it has arrived.
    const rows = (await tenant.rows()) - rowsBefore;
    expect(rows).toBeLessThanOrEqual(2 * spells + 2 * 4);
    expect(minutesOf(database.writes)).toEqual([0, 1, 2, 3, 4]);
    expect((rows + tenant.alarms + database.rows - othersBefore) / spells).toBeLessThanOrEqual(2.5);
    await tenant.pass(2 * MINUTE);
    expect(tenant.alarms).toBe(5);
    expect(await tenant.stored()).toEqual([0, 1, 2, 3, 4].map((minute) => [minute, 20, 0]));
  });

  test("so does one that loses its memory each time", async () => {
    const tenant = await Tenant.begin(database);
    for (let spell = 0; spell < 20; spell++) {
      await tenant.check();
      await tenant.pass(12 * SECOND);
      await tenant.restart();
    }
    await tenant.pass(2 * MINUTE);
    expect(minutesOf(database.writes)).toEqual([0, 1, 2, 3, 4]);
    expect(tenant.alarms).toBe(4);
    expect(await tenant.stored()).toEqual([0, 1, 2, 3].map((minute) => [minute, 5, 0]));
  });

  test("a look writes nothing, a refusal what the object writes when it falls idle", async () => {
    const tenant = await Tenant.begin(database);
    const policies = [{ type: "fixed-window", name: "w", scope: "tenant", limit: 5, windowSeconds: 60 } as const];
    const check = (cost: number) =>
      tenant.do((object) => object.check({ cost, limits: { version: 1, policies }, tier: "gold" }));
    await check(0);
    await tenant.pass(2 * MINUTE);
    expect([await tenant.rows(), database.writes, tenant.alarms]).toEqual([0, [], 0]);
    await check(6);
    await tenant.pass(2 * MINUTE);
    expect(await tenant.stored()).toEqual([[2, 0, 1]]);
  });

  test("addresses are not counted, have no alarm, and write one row of their own less", async () => {
    const stub = env.TENANT_LIMITER.get(env.TENANT_LIMITER.idFromName("address:192.0.2.1"));
    const tenant = await Tenant.begin(database, stub);
    await tenant.check();
    const rows = await tenant.rows();
    await beAsked(tenant, 3, 120);
    expect([database.writes, tenant.alarms]).toEqual([[], 0]);
    expect((await tenant.rows()) - rows).toBeLessThanOrEqual(40);
    expect(await tenant.do((object) => object.usage())).toMatchObject({ pending: [], parcel: null });
  });
});

describe("an object that loses its memory", () => {
  test("before its alarm rings has lost nothing that it had fallen idle with, and shows it", async () => {
    const tenant = await Tenant.begin(database);
    await tenant.check(3);
    await tenant.pass(2 * SECOND);
    await tenant.restart();
    expect(await tenant.shown()).toBe(3);
    await tenant.check(2);
    await tenant.restart();
    expect(await tenant.shown()).toBe(3);
    await tenant.pass(2 * MINUTE);
    expect(await tenant.stored()).toEqual([[0, 3, 0]]);
    expect(await tenant.shown()).toBe(3);
  });

  test("knows the tenant's tier: it asks nobody again, and counts under it", async () => {
    const tenant = await Tenant.begin(database);
    await tenant.check();
    await tenant.pass(2 * SECOND);
    await tenant.restart();
    const again = await tenant.do((object) => object.check({ cost: 1, version: 0 }));
    expect(again.outcome).toBe("allowed");
    await tenant.pass(2 * MINUTE);
    expect((await readTotals(env.DB, 1)).tiers.map(({ tier }) => tier)).toEqual(["gold"]);
  });

  test.each(["unheard", "never"] as const)(
    "with a parcel under way (%s) sends it again, once in effect",
    async (fate) => {
      const tenant = await Tenant.begin(database);
      await tenant.check(3);
      database.fate = fate;
      await tenant.pass(3 * SECOND);
      expect(database.writes).toEqual([2 * SECOND]);
      await tenant.restart();
      expect(await tenant.shown()).toBe(3);
      await tenant.check(4);
      await tenant.pass(2 * SECOND);
      await tenant.restart();
      expect(await tenant.shown()).toBe(7);
      database.fate = "done";
      await tenant.pass(5 * MINUTE);
      expect(await tenant.stored()).toEqual([[0, 7, 0]]);
      expect(await tenant.shown()).toBe(7);
    },
  );

  test("after a parcel has arrived does not send it again", async () => {
    const tenant = await Tenant.begin(database);
    await tenant.check();
    await tenant.pass(2 * MINUTE);
    expect(database.writes).toHaveLength(1);
    await tenant.restart();
    await tenant.check();
    await tenant.pass(2 * MINUTE);
    expect(database.writes).toHaveLength(2);
    expect(await tenant.stored()).toEqual([
      [0, 1, 0],
      [2, 1, 0],
    ]);
  });
});

describe("while the database fails", () => {
  test("an object that is asked tries once a minute, and has lost nothing when it is back", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "failed";
    await beAsked(tenant, 1, 240);
    expect(minutesOf(database.writes)).toEqual([1, 2, 3]);
    expect(await tenant.shown()).toBe(240);
    database.fate = "done";
    await beAsked(tenant, 1, 60);
    await tenant.pass(5 * MINUTE);
    const minutes = await tenant.stored();
    expect(minutes.reduce((sum, [, admitted = 0]) => sum + admitted, 0)).toBe(300);
    expect(minutes).toContainEqual([2, 60, 0]);
  });

  test("an idle one is woken less and less often, and lets go of its time in between", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "failed";
    await tenant.check();
    for (const seconds of [5, 10, 20, 205]) {
      await tenant.pass(seconds * SECOND);
      await tenant.restart();
    }
    expect(database.writes.map((ms) => ms / SECOND)).toEqual([2, 12, 32, 72, 152]);
    expect(vi.getTimerCount()).toBe(0);
    await tenant.pass(6 * 60 * MINUTE);
    expect(database.writes.length).toBeLessThan(80);
    database.fate = "done";
    await tenant.pass(5 * MINUTE);
    expect(await tenant.stored()).toEqual([[0, 1, 0]]);
    const tries = database.writes.length;
    await tenant.pass(60 * MINUTE);
    expect([database.writes.length, tenant.alarms]).toEqual([tries, tries - 1]);
  });

  test("a write that hangs over a minute's end is waited for, and what comes meanwhile is on disk", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.05);
    const tenant = await Tenant.begin(database);
    await tenant.pass(55 * SECOND);
    database.fate = "never";
    await tenant.check();
    // It is idle at 57 s, and its write is given up at 67 s.
    await tenant.pass(3 * SECOND);
    await tenant.check(5);
    await tenant.pass(4 * SECOND);
    expect(tenant.alarms).toBe(0);
    await tenant.restart();
    expect(await tenant.shown()).toBe(6);
    database.fate = "done";
    await tenant.check();
    await tenant.pass(5 * MINUTE);
    expect(await tenant.stored()).toEqual([
      [0, 6, 0],
      [1, 1, 0],
    ]);
  });

  test("what waits is bounded, on disk too, and nothing of it is lost", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "failed";
    const minutes = PENDING_MINUTES_MAX + 10;
    for (let minute = 0; minute < minutes; minute++) {
      await tenant.check();
      await tenant.pass(MINUTE);
    }
    await tenant.restart();
    const { pending } = await tenant.do((object) => object.usage());
    expect(pending.length).toBeLessThanOrEqual(PENDING_MINUTES_MAX);
    expect(await tenant.shown()).toBe(minutes);
    database.fate = "done";
    await tenant.pass(10 * MINUTE);
    expect(await tenant.shown()).toBe(minutes);
    expect(await tenant.do((object) => object.usage())).toMatchObject({ pending: [], parcel: null });
  });

  test("a write that was done and not heard of counts once, and is shown once", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "unheard";
    await tenant.check(3);
    await tenant.pass(5 * SECOND);
    database.fate = "done";
    await tenant.check();
    expect(await tenant.shown()).toBe(4);
    await tenant.pass(3 * MINUTE);
    expect(await tenant.stored()).toEqual([[0, 4, 0]]);
  });

  test("one that never answers is given up after ten seconds, and its counts are sent again", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "never";
    await tenant.check(3);
    await tenant.pass(15 * SECOND);
    database.fate = "done";
    await tenant.check();
    expect(await tenant.shown()).toBe(4);
    await tenant.pass(3 * MINUTE);
    expect(await tenant.stored()).toEqual([[0, 4, 0]]);
  });

  test("a check is decided as ever, and waits for nothing", async () => {
    const tenant = await Tenant.begin(database);
    database.fate = "never";
    await tenant.check();
    await tenant.pass(5 * SECOND);
    expect(database.writes).toHaveLength(1);
    expect(await tenant.do((object) => object.check({ cost: 1, limits: null }))).toMatchObject({ outcome: "allowed" });
  });
});

test("a clock that was ahead does not silence an object until that time comes again", async () => {
  const tenant = await Tenant.begin(database);
  vi.setSystemTime(T0 + 60 * MINUTE);
  await beAsked(tenant, 2, 6);
  const writes = database.writes.length;
  vi.setSystemTime(T0);
  await beAsked(tenant, 1, 180);
  expect(database.writes.length - writes).toBeGreaterThanOrEqual(2);
});

test("what was given back is told apart from what was refused", async () => {
  const tenant = await Tenant.begin(database);
  await tenant.do((object) => {
    const charged = object.check({ cost: 1, limits: null, tier: "gold" });
    const receipt = "receipt" in charged ? charged.receipt : undefined;
    if (receipt !== undefined) object.refund(1, receipt, { credential: null, ip: "", key: null });
  });
  await tenant.check(4);
  await tenant.pass(2 * MINUTE);
  expect((await readTenantUsage(env.DB, tenant.name, T0 / MINUTE, T0 / MINUTE)).minutes).toEqual([
    { minute: T0 / MINUTE, admitted: 5, refused: 0, returned: 1 },
  ]);
});
