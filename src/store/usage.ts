import { z } from "zod";
import {
  addCounts,
  type MinuteUsage,
  NO_USAGE,
  netAdmitted,
  type Parcel,
  type UsageCounts,
} from "../core/usage-minutes.ts";
import { type Condition, checkRow, runBatch } from "./database.ts";

/**
 * Tables `usage_minutes`, `usage_totals`, `usage_tiers`, `usage_tenants`: what tenants used. Written in parcels by their
 * objects, each once in effect; read without looking at all tenants.
 */

const counts = { admitted: z.int(), refused: z.int(), returned: z.int() };
const countsRow = z.object(counts);
const minuteRow = z.object({ minute: z.int(), ...counts });
const tierRow = z.object({ tier: z.string(), ...counts });
const lastRow = z.object({ life: z.string(), flush: z.int() });
const tenantRow = z.object({ tenant: z.string(), tier: z.string(), ...counts });

/** Whose parcel it is. */
export interface Sender {
  readonly tenant: string;
  /** The tenant's present tier. */
  readonly tier: string;
  /** Names the object's disk; parcels are numbered within it, ascending. */
  readonly life: string;
}

const ADD = `SET admitted = admitted + excluded.admitted, refused = refused + excluded.refused,
  returned = returned + excluded.returned`;

/**
 * Adds a parcel, as one transaction. One that is in already is passed over, so repeating it is safe.
 *
 * @throws StoreUnavailable; whether it was added is then not known
 */
export async function saveUsage(db: D1Database, { tenant, tier, life }: Sender, parcel: Parcel): Promise<void> {
  const fresh: Condition = {
    sql: "NOT EXISTS (SELECT 1 FROM usage_tenants WHERE tenant = ? AND life = ? AND flush >= ?)",
    args: [tenant, life, parcel.number],
  };
  const rows = JSON.stringify(parcel.minutes);
  const of = (member: string) => `value ->> '${member}'`;
  const numbers = ["admitted", "refused", "returned"].map(of).join(", ");
  const sums = ["admitted", "refused", "returned"].map((member) => `SUM(${of(member)})`).join(", ");
  const last = Math.max(...parcel.minutes.map(({ minute }) => minute));
  await runBatch(db, [
    db
      .prepare(
        `INSERT INTO usage_minutes (minute, tenant, admitted, refused, returned)
         SELECT ${of("minute")}, ?, ${numbers} FROM json_each(?) WHERE ${fresh.sql} ON CONFLICT DO UPDATE ${ADD}`,
      )
      .bind(tenant, rows, ...fresh.args),
    db
      .prepare(
        `INSERT INTO usage_totals (minute, admitted, refused, returned)
         SELECT ${of("minute")}, ${numbers} FROM json_each(?) WHERE ${fresh.sql} ON CONFLICT DO UPDATE ${ADD}`,
      )
      .bind(rows, ...fresh.args),
    db
      .prepare(
        `INSERT INTO usage_tiers (tier, admitted, refused, returned)
         SELECT ${of("tier")}, ${sums} FROM json_each(?) WHERE ${fresh.sql} GROUP BY 1 ON CONFLICT DO UPDATE ${ADD}`,
      )
      .bind(rows, ...fresh.args),
    // Last: it says that the parcel is in.
    db
      .prepare(
        `INSERT INTO usage_tenants (tenant, tier, admitted, refused, returned, life, flush, last_minute)
         SELECT ?, ?, ${sums}, ?, ?, ? FROM json_each(?) WHERE ${fresh.sql} GROUP BY 1
         ON CONFLICT DO UPDATE ${ADD}, tier = excluded.tier, life = excluded.life, flush = excluded.flush,
           last_minute = MAX(last_minute, excluded.last_minute)`,
      )
      .bind(tenant, tier, life, parcel.number, last, rows, ...fresh.args),
  ]);
}

export interface TenantUse {
  readonly tenant: string;
  /** The tier that its last flush named. */
  readonly tier: string;
  readonly admitted: number;
  readonly refused: number;
}

export interface UsageOverview {
  readonly admitted: number;
  readonly refused: number;
  readonly topByUse: readonly TenantUse[];
  readonly topByRefusals: readonly TenantUse[];
}

/** From each minute so many of its busiest tenants, per tenant that is asked for, are looked at. */
const CANDIDATES = 3;

/**
 * What all tenants used in a window, and who the most. A tenant is found when it was among the busiest of some minute of
 * the window; what is then told of it is exact. Reads some {@link CANDIDATES} × 4 rows per minute and tenant asked for, whatever the
 * number of tenants.
 *
 * @param since first minute
 * @param until last minute, included
 * @throws StoreUnavailable, BadRow
 */
export async function readUsage(db: D1Database, since: number, until: number, top: number): Promise<UsageOverview> {
  // CROSS JOIN keeps the order in which tables are gone through: from few rows to single rows of large tables.
  const busiest = `SELECT tenant FROM usage_minutes WHERE minute = m.minute ORDER BY admitted + refused DESC LIMIT ?3`;
  const batch = await runBatch(db, [
    db
      .prepare(
        `SELECT COALESCE(SUM(admitted), 0) AS admitted, COALESCE(SUM(refused), 0) AS refused,
           COALESCE(SUM(returned), 0) AS returned FROM usage_totals WHERE minute BETWEEN ?1 AND ?2`,
      )
      .bind(since, until),
    db
      .prepare(
        `WITH seen (tenant, admitted, refused) AS (
           SELECT u.tenant, SUM(u.admitted), SUM(u.refused) FROM usage_totals m
             CROSS JOIN json_each((SELECT json_group_array(tenant) FROM (${busiest}))) c
             CROSS JOIN usage_minutes u ON u.minute = m.minute AND u.tenant = c.value
           WHERE m.minute BETWEEN ?1 AND ?2 GROUP BY u.tenant
         ), chosen (tenant) AS (
           SELECT tenant FROM (SELECT tenant FROM seen ORDER BY admitted DESC LIMIT ?4)
           UNION SELECT tenant FROM (SELECT tenant FROM seen ORDER BY refused DESC LIMIT ?4)
         )
         SELECT c.tenant, COALESCE(t.tier, '') AS tier, SUM(u.admitted) AS admitted, SUM(u.refused) AS refused,
           SUM(u.returned) AS returned
         FROM chosen c CROSS JOIN usage_totals m
           CROSS JOIN usage_minutes u ON u.minute = m.minute AND u.tenant = c.tenant
           LEFT JOIN usage_tenants t ON t.tenant = c.tenant
         WHERE m.minute BETWEEN ?1 AND ?2 GROUP BY c.tenant`,
      )
      .bind(since, until, top * CANDIDATES, top * 2),
  ]);
  const total = checkRow("usage_totals", countsRow, batch.rows(0)[0]);
  const tenants = batch.rows(1).map((row) => useOf(checkRow("usage_minutes", tenantRow, row)));
  const order = (by: (use: TenantUse) => number) =>
    tenants
      .filter((use) => by(use) > 0)
      .sort((a, b) => by(b) - by(a) || (a.tenant < b.tenant ? -1 : 1))
      .slice(0, top);
  return {
    admitted: netAdmitted(total),
    refused: total.refused,
    topByUse: order(({ admitted }) => admitted),
    topByRefusals: order(({ refused }) => refused),
  };
}

function useOf({ tenant, tier, ...used }: z.infer<typeof tenantRow>): TenantUse {
  return { tenant, tier, admitted: netAdmitted(used), refused: used.refused };
}

/** What one tenant used. */
export interface TenantMinutes {
  /** Those with use, oldest first. */
  readonly minutes: (UsageCounts & Pick<MinuteUsage, "minute">)[];
  /** Whether a parcel is in them, as far as they reach: its sender may not have heard. */
  isIn(life: string, number: number): boolean;
}

/** One tenant's minutes. As for {@link readUsage}. @throws StoreUnavailable, BadRow */
export async function readTenantUsage(
  db: D1Database,
  tenant: string,
  since: number,
  until: number,
): Promise<TenantMinutes> {
  const batch = await runBatch(db, [
    // Minute by minute through the key: a range of it would hold all tenants.
    db
      .prepare(
        `SELECT u.minute, u.admitted, u.refused, u.returned FROM usage_totals m
           CROSS JOIN usage_minutes u ON u.minute = m.minute AND u.tenant = ?3
         WHERE m.minute BETWEEN ?1 AND ?2 ORDER BY m.minute`,
      )
      .bind(since, until, tenant),
    db.prepare("SELECT life, flush FROM usage_tenants WHERE tenant = ?").bind(tenant),
  ]);
  const minutes = batch.rows(0).map((row) => checkRow("usage_minutes", minuteRow, row));
  const last = batch.rows(1).map((row) => checkRow("usage_tenants", lastRow, row))[0];
  return { minutes, isIn: (life, number) => last?.life === life && last.flush >= number };
}

/** What was ever used, for counters. */
export interface UsageTotals {
  readonly tiers: readonly (UsageCounts & { readonly tier: string })[];
  /** The tenants with the most checks of all time; none that is called `other`, which is what the rest is called. */
  readonly top: readonly (UsageCounts & { readonly tenant: string })[];
  /** All tenants that are not among those, together. */
  readonly other: UsageCounts;
}

/** Reads as many rows as there are tiers, and `top`. @throws StoreUnavailable, BadRow */
export async function readTotals(db: D1Database, top: number): Promise<UsageTotals> {
  const batch = await runBatch(db, [
    db.prepare("SELECT tier, admitted, refused, returned FROM usage_tiers ORDER BY tier"),
    db
      .prepare(
        "SELECT tenant, tier, admitted, refused, returned FROM usage_tenants WHERE tenant <> 'other' ORDER BY admitted + refused DESC LIMIT ?",
      )
      .bind(top),
  ]);
  const tiers = batch.rows(0).map((row) => checkRow("usage_tiers", tierRow, row));
  const tenants = batch.rows(1).map((row) => checkRow("usage_tenants", tenantRow, row));
  const all = tiers.reduce<UsageCounts>(addCounts, NO_USAGE);
  const shown = tenants.reduce<UsageCounts>(addCounts, NO_USAGE);
  return {
    tiers,
    top: tenants,
    other: {
      admitted: all.admitted - shown.admitted,
      refused: all.refused - shown.refused,
      returned: all.returned - shown.returned,
    },
  };
}
