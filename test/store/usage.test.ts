import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Parcel, UsageCounts } from "../../src/core/usage-minutes.ts";
import { clearOld } from "../../src/store/retention.ts";
import { readTenantUsage, readTotals, readUsage, saveUsage } from "../../src/store/usage.ts";

/** A minute of the tests, whole minutes since the epoch. */
const M0 = 29_000_000;
let tenants = 0;

function parcel(number: number, minutes: readonly (readonly [minute: number, ...counts: number[]])[], tier = "gold") {
  return {
    number,
    minutes: minutes.map(([minute, admitted = 0, refused = 0, returned = 0]) => ({
      minute: M0 + minute,
      tier,
      admitted,
      refused,
      returned,
    })),
  } satisfies Parcel;
}

const sender = (tenant: string, life = "a", tier = "gold") => ({ tenant, tier, life });
const minutesOf = async (tenant: string, since: number, until: number) =>
  (await readTenantUsage(env.DB, tenant, since, until)).minutes;
const newName = () => `u-${++tenants}`;

async function tierOf(tier: string): Promise<UsageCounts> {
  const { tiers } = await readTotals(env.DB, 1);
  return tiers.find((one) => one.tier === tier) ?? { admitted: 0, refused: 0, returned: 0 };
}

describe("a parcel", () => {
  test("is counted once however often it is sent, and so is one that arrives after its successor", async () => {
    const tenant = newName();
    const first = parcel(1, [[0, 5, 2, 1]]);
    for (let time = 0; time < 3; time++) await saveUsage(env.DB, sender(tenant), first);
    await saveUsage(env.DB, sender(tenant), parcel(2, [[1, 3]]));
    await saveUsage(env.DB, sender(tenant), first);
    expect(await minutesOf(tenant, M0, M0 + 1)).toEqual([
      { minute: M0, admitted: 5, refused: 2, returned: 1 },
      { minute: M0 + 1, admitted: 3, refused: 0, returned: 0 },
    ]);
    expect(await tierOf("gold")).toMatchObject({ admitted: 8, refused: 2, returned: 1 });
  });

  test("is known by those that read the minutes that it is in, and by its number those before it", async () => {
    const tenant = newName();
    const isIn = async (life: string, number: number) =>
      (await readTenantUsage(env.DB, tenant, M0, M0)).isIn(life, number);
    expect(await isIn("a", 1)).toBe(false);
    await saveUsage(env.DB, sender(tenant, "a"), parcel(2, [[0, 5]]));
    expect([await isIn("a", 1), await isIn("a", 2), await isIn("a", 3)]).toEqual([true, true, false]);
    expect(await isIn("b", 1)).toBe(false);
  });

  test("of another life of the object is added, whatever its number", async () => {
    const tenant = newName();
    await saveUsage(env.DB, sender(tenant, "a"), parcel(7, [[0, 5]]));
    await saveUsage(env.DB, sender(tenant, "b"), parcel(1, [[0, 4, 1]]));
    expect(await minutesOf(tenant, M0, M0)).toMatchObject([{ admitted: 9, refused: 1 }]);
  });

  test("of several minutes and tiers is in all tables alike", async () => {
    const tenant = newName();
    const minutes = [
      ...parcel(
        1,
        [
          [10, 1, 1],
          [11, 2],
        ],
        "old",
      ).minutes,
      ...parcel(1, [[11, 4, 0, 1]], "new").minutes,
    ];
    await saveUsage(env.DB, sender(tenant, "a", "new"), { number: 1, minutes });
    expect(await minutesOf(tenant, M0 + 10, M0 + 11)).toMatchObject([
      { admitted: 1, refused: 1 },
      { admitted: 6, returned: 1 },
    ]);
    expect(await tierOf("old")).toMatchObject({ admitted: 3, refused: 1, returned: 0 });
    expect(await tierOf("new")).toMatchObject({ admitted: 4, refused: 0, returned: 1 });
    const { admitted, refused, topByUse } = await readUsage(env.DB, M0 + 10, M0 + 11, 5);
    expect({ admitted, refused, topByUse }).toEqual({
      admitted: 6,
      refused: 1,
      topByUse: [{ tenant, tier: "new", admitted: 6, refused: 1 }],
    });
  });

  test("writes six rows and one for each more minute", async () => {
    const tenant = newName();
    const written = vi.spyOn(env.DB, "batch");
    const rowsOf = async (sent: Parcel) => {
      await saveUsage(env.DB, sender(tenant), sent);
      const results = await written.mock.results.at(-1)?.value;
      return results.reduce((sum: number, { meta }: D1Result) => sum + meta.rows_written, 0);
    };
    expect(await rowsOf(parcel(1, [[20, 1]]))).toBeLessThanOrEqual(6);
    expect(await rowsOf(parcel(1, [[20, 1]]))).toBe(0);
    expect(await rowsOf(parcel(2, [[21, 1]]))).toBeLessThanOrEqual(7);
  });
});

test("the busiest of a window are found whatever the minutes they were busy in, and told exactly", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(4), fc.nat(7), fc.nat(50), fc.nat(50)), { minLength: 1, maxLength: 40 }),
      async (uses) => {
        const at = 1_000 * ++tenants;
        for (const [minute, tenant, admitted, refused] of uses) {
          const sent = parcel(1, [[at + minute, admitted, refused]]);
          await saveUsage(env.DB, sender(`w${tenants}-${tenant}`, crypto.randomUUID()), sent);
        }
        const { admitted, refused, topByUse, topByRefusals } = await readUsage(env.DB, M0 + at, M0 + at + 4, 3);
        const sums = new Map<string, { admitted: number; refused: number }>();
        for (const [, tenant, a, r] of uses) {
          const { admitted: beforeA = 0, refused: beforeR = 0 } = sums.get(`w${tenants}-${tenant}`) ?? {};
          sums.set(`w${tenants}-${tenant}`, { admitted: beforeA + a, refused: beforeR + r });
        }
        const best = (by: "admitted" | "refused") =>
          [...sums.values()]
            .map((sum) => sum[by])
            .filter((n) => n > 0)
            .sort((a, b) => b - a)
            .slice(0, 3);
        expect(admitted).toBe([...sums.values()].reduce((sum, one) => sum + one.admitted, 0));
        expect(refused).toBe([...sums.values()].reduce((sum, one) => sum + one.refused, 0));
        expect(topByUse.map((one) => one.admitted)).toEqual(best("admitted"));
        expect(topByRefusals.map((one) => one.refused)).toEqual(best("refused"));
        for (const one of [...topByUse, ...topByRefusals])
          expect(sums.get(one.tenant)).toMatchObject({
            admitted: one.admitted,
            refused: one.refused,
          });
      },
    ),
    { numRuns: 25 },
  );
});

test("what is looked at does not grow with the number of tenants", async () => {
  const many = 3_000;
  const at = M0 + 500_000;
  await env.DB.batch(
    ["usage_minutes", "usage_tenants"].map((table) =>
      env.DB.prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
         INSERT INTO ${table} ${
           table === "usage_minutes"
             ? `SELECT ${at}, 'many-' || i, i, 0, 0 FROM n`
             : `SELECT 'many-' || i, 'gold', i, 0, 0, 'x', 1, ${at} FROM n`
         }`,
      ),
    ),
  );
  await env.DB.prepare(`INSERT INTO usage_totals VALUES (${at}, 1, 0, 0)`).run();
  const batches = vi.spyOn(env.DB, "batch");
  const readOf = async (ask: () => Promise<unknown>) => {
    await ask();
    const results = await batches.mock.results.at(-1)?.value;
    return results.reduce((sum: number, { meta }: D1Result) => sum + meta.rows_read, 0);
  };
  expect((await readUsage(env.DB, at, at, 2)).topByUse).toMatchObject([
    { tenant: "many-3000" },
    { tenant: "many-2999" },
  ]);
  expect(await readOf(() => readUsage(env.DB, at, at, 2))).toBeLessThan(100);
  expect((await readTotals(env.DB, 2)).top).toMatchObject([{ tenant: "many-3000" }, { tenant: "many-2999" }]);
  expect(await readOf(() => readTotals(env.DB, 2))).toBeLessThan(20);
});

test("what is older than it may be kept goes, with the totals of tenants that are gone, and the rest stays", async () => {
  const [old, alive] = [newName(), newName()];
  const nowMs = (M0 + 900_000) * 60_000;
  const before = 900_000 - 14 * 1_440;
  await saveUsage(env.DB, sender(old), parcel(1, [[before - 1, 1]]));
  await saveUsage(env.DB, sender(alive), parcel(1, [[before - 1, 1]]));
  await saveUsage(env.DB, sender(alive), parcel(2, [[before, 2]]));
  const day = 86_400_000;
  await env.DB.batch(
    [401, 399].map((days) =>
      env.DB.prepare("INSERT INTO audit (at, actor, action, target, detail) VALUES (?, 'a', 'x.y', 'z', '{}')").bind(
        nowMs - days * day,
      ),
    ),
  );
  for (let round = 0; round < 12; round++) await clearOld(env.DB, nowMs, { USAGE_KEEP_DAYS: 14, AUDIT_KEEP_DAYS: 400 });
  const left = async (sql: string) => (await env.DB.prepare(sql).all()).results;
  expect(await left(`SELECT tenant FROM usage_minutes WHERE minute < ${M0 + before}`)).toEqual([]);
  expect(await left(`SELECT minute FROM usage_totals WHERE minute < ${M0 + before}`)).toEqual([]);
  expect(await left("SELECT tenant FROM usage_tenants")).toEqual([{ tenant: alive }]);
  expect(await minutesOf(alive, M0 + before - 1, M0 + before)).toMatchObject([{ admitted: 2 }]);
  expect(await left("SELECT at FROM audit")).toEqual([{ at: nowMs - 399 * day }]);
  expect((await tierOf("gold")).admitted).toBeGreaterThan(0);
});
