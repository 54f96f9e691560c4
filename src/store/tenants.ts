import { z } from "zod";
import type { Limits } from "../core/policy.ts";
import { auditStatement } from "./audit.ts";
import { type Act, BadRow, type Condition, checkRow, queryRows, runBatch } from "./database.ts";
import { LIMITS_COLUMNS, limitsRow, readLimits } from "./limits.ts";
import { bumpClock, CLOCK } from "./limits-clock.ts";
import { DEFAULT_TIER } from "./tiers.ts";

/**
 * Tables `tenants`, who is in which tier, each read together with the limits that it goes by; and `deleted_tenants`, the
 * ids that an operator has taken away and not made anew since.
 */

export type TenantStatus = "active" | "suspended";

/** How an id stands that a token names: `unlisted` was never made here. */
export type TenantStanding = TenantStatus | "deleted" | "unlisted";

export interface Tenant {
  readonly id: string;
  readonly tier: string;
  readonly status: TenantStatus;
  /** Its own limits, in place of its tier's. */
  readonly ownLimits: OwnLimits | null;
  /** What it goes by. */
  readonly limits: Limits;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface OwnLimits {
  readonly requestsPerSecond: number;
  readonly burstSize: number;
  readonly updatedAtMs: number;
}

const row = limitsRow.extend({
  id: z.string(),
  tier: z.string(),
  status: z.enum(["active", "suspended"]),
  limits_updated_at: z.int().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
});

const SELECT_TENANTS = `SELECT t.id, t.tier, t.status, t.created_at, t.updated_at, l.updated_at AS limits_updated_at,
  ${LIMITS_COLUMNS} FROM tenants t JOIN tiers r ON r.name = t.tier LEFT JOIN tenant_limits l ON l.tenant_id = t.id`;

/** One tenant, as a statement: the last of a batch that changes it. Its row is read by {@link readTenant}. */
export function tenantStatement(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare(`${SELECT_TENANTS} WHERE t.id = ?`).bind(id);
}

/** @throws BadRow */
export function readTenant(given: unknown): Tenant {
  const found = checkRow("tenants", row, given);
  const { requests_per_second: requestsPerSecond, burst_size: burstSize, limits_updated_at: limitsAt } = found;
  const hasOwn = requestsPerSecond !== null && burstSize !== null && limitsAt !== null;
  return {
    id: found.id,
    tier: found.tier,
    status: found.status,
    ownLimits: hasOwn ? { requestsPerSecond, burstSize, updatedAtMs: limitsAt } : null,
    limits: readLimits(found),
    createdAtMs: found.created_at,
    updatedAtMs: found.updated_at,
  };
}

export function tenantExists(id: string): Condition {
  return { sql: "EXISTS (SELECT 1 FROM tenants WHERE id = ?)", args: [id] };
}

/** @throws StoreUnavailable, BadRow */
export async function findTenant(db: D1Database, id: string): Promise<Tenant | null> {
  const [found] = await queryRows(tenantStatement(db, id));
  return found === undefined ? null : readTenant(found);
}

/**
 * A page of tenants, by id.
 *
 * @param after only ids past this one; "" from the first
 * @returns the tenants, and the id to go on after, where there is more
 * @throws StoreUnavailable, BadRow
 */
export async function listTenants(
  db: D1Database,
  limit: number,
  after: string,
): Promise<{ tenants: Tenant[]; next: string | null }> {
  const statement = db.prepare(`${SELECT_TENANTS} WHERE t.id > ? ORDER BY t.id LIMIT ?`).bind(after, limit + 1);
  const rows = await queryRows(statement);
  const tenants = rows.slice(0, limit).map(readTenant);
  const last = tenants.at(-1);
  return { tenants, next: rows.length > limit && last !== undefined ? last.id : null };
}

export type SavedTenant =
  | { readonly kind: "saved"; readonly created: boolean; readonly tenant: Tenant }
  | { readonly kind: "unknown_tier" };

/**
 * Makes a tenant, or moves it to a tier. One that was deleted is made anew.
 *
 * @param status null keeps what it has; a new tenant is active
 * @throws StoreUnavailable, BadRow; nothing is written then
 */
export async function putTenant(
  db: D1Database,
  id: string,
  given: { tier: string; status: TenantStatus | null },
  act: Act,
): Promise<SavedTenant> {
  const tierExists: Condition = { sql: "EXISTS (SELECT 1 FROM tiers WHERE name = ?)", args: [given.tier] };
  const detail = given.status === null ? { tier: given.tier } : { tier: given.tier, status: given.status };
  const batch = await runBatch(db, [
    db.prepare("SELECT 1 FROM tenants WHERE id = ?").bind(id),
    bumpClock(db, tierExists),
    auditStatement(db, act, { action: "tenant.put", target: `tenant:${id}`, detail }, tierExists),
    db
      .prepare(
        `INSERT INTO tenants (id, tier, status, version, created_at, updated_at)
         SELECT ?1, ?2, COALESCE(?3, 'active'), ${CLOCK}, ?4, ?4 WHERE EXISTS (SELECT 1 FROM tiers WHERE name = ?2)
         ON CONFLICT (id) DO UPDATE
         SET tier = ?2, status = COALESCE(?3, status), version = ${CLOCK}, updated_at = ?4 RETURNING id`,
      )
      .bind(id, given.tier, given.status, act.nowMs),
    tenantStatement(db, id),
    db.prepare("DELETE FROM deleted_tenants WHERE id = ?1 AND EXISTS (SELECT 1 FROM tenants WHERE id = ?1)").bind(id),
  ]);
  if (!batch.found(3)) return { kind: "unknown_tier" };
  const [saved] = batch.rows(4);
  if (saved === undefined) throw new BadRow("tenants", "a row that was just written is not there");
  return { kind: "saved", created: !batch.found(0), tenant: readTenant(saved) };
}

/**
 * Takes a tenant away, with its keys and limits, and keeps its id as a deleted one's: tokens that name it open nothing.
 *
 * @returns the default tier's limits, for what its object holds of its own; null when there was no such tenant
 * @throws StoreUnavailable, BadRow; nothing is written then
 */
export async function deleteTenant(db: D1Database, id: string, act: Act): Promise<Limits | null> {
  const exists = tenantExists(id);
  const batch = await runBatch(db, [
    bumpClock(db, exists),
    auditStatement(db, act, { action: "tenant.delete", target: `tenant:${id}`, detail: {} }, exists),
    db
      .prepare(`INSERT OR REPLACE INTO deleted_tenants (id, deleted_at) SELECT ?, ? WHERE ${exists.sql}`)
      .bind(id, act.nowMs, ...exists.args),
    db.prepare("DELETE FROM tenants WHERE id = ? RETURNING id").bind(id),
    standingStatement(db, id),
  ]);
  return batch.found(3) ? readLimits(checkRow("tiers", limitsRow, batch.rows(4)[0])) : null;
}

/**
 * A tenant that may have no row: how it stands, and the limits that it goes by. Without a row the clock itself is the version: what
 * the default tier says now is newer than whatever that tenant's object heard when there was a row.
 */
export function standingStatement(db: D1Database, id: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT r.name AS tier, r.weight AS weight,
         COALESCE(t.status, CASE WHEN d.id IS NULL THEN 'unlisted' ELSE 'deleted' END) AS standing,
         r.limiter_mode AS limiter_mode,
         r.policies AS policies, r.version AS tier_version,
         COALESCE(t.version, ${CLOCK}) AS tenant_version, l.requests_per_second, l.burst_size
       FROM (SELECT ?1 AS id) AS asked LEFT JOIN tenants t ON t.id = asked.id
         LEFT JOIN deleted_tenants d ON d.id = asked.id
         JOIN tiers r ON r.name = COALESCE(t.tier, ?2) LEFT JOIN tenant_limits l ON l.tenant_id = t.id`,
    )
    .bind(id, DEFAULT_TIER);
}
