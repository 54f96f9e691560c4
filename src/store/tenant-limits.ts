import { auditStatement } from "./audit.ts";
import { type Act, type Condition, runBatch } from "./database.ts";
import { bumpClock, CLOCK } from "./limits-clock.ts";
import { readTenant, type Tenant, tenantExists, tenantStatement } from "./tenants.ts";

/** Table `tenant_limits`: a tenant's own limits, in place of its tier's. Each change is a change of the tenant. */

/**
 * Gives a tenant limits of its own.
 *
 * @param limits a rate that reads back exactly from its number, and a burst in whole tokens
 * @returns the tenant as it stands then; null when there is none
 * @throws StoreUnavailable, BadRow; nothing is written then
 */
export async function putTenantLimits(
  db: D1Database,
  id: string,
  limits: { requestsPerSecond: number; burstSize: number },
  act: Act,
): Promise<Tenant | null> {
  const exists = tenantExists(id);
  const batch = await runBatch(db, [
    bumpClock(db, exists),
    auditStatement(db, act, { action: "limits.put", target: `tenant:${id}`, detail: { ...limits } }, exists),
    db
      .prepare(
        `INSERT INTO tenant_limits (tenant_id, requests_per_second, burst_size, updated_at)
         SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM tenants WHERE id = ?1)
         ON CONFLICT (tenant_id) DO UPDATE SET requests_per_second = ?2, burst_size = ?3, updated_at = ?4`,
      )
      .bind(id, limits.requestsPerSecond, limits.burstSize, act.nowMs),
    touchTenant(db, id, act, exists),
    tenantStatement(db, id),
  ]);
  return firstTenant(batch.rows(4));
}

/**
 * Takes a tenant's own limits away; it goes by its tier's again. One that has none is left as it is.
 *
 * @returns the tenant as it stands then; null when there is none
 * @throws StoreUnavailable, BadRow; nothing is written then
 */
export async function deleteTenantLimits(db: D1Database, id: string, act: Act): Promise<Tenant | null> {
  const hasOwn: Condition = { sql: "EXISTS (SELECT 1 FROM tenant_limits WHERE tenant_id = ?)", args: [id] };
  const batch = await runBatch(db, [
    bumpClock(db, hasOwn),
    auditStatement(db, act, { action: "limits.delete", target: `tenant:${id}`, detail: {} }, hasOwn),
    touchTenant(db, id, act, hasOwn),
    db.prepare("DELETE FROM tenant_limits WHERE tenant_id = ?").bind(id),
    tenantStatement(db, id),
  ]);
  return firstTenant(batch.rows(4));
}

function touchTenant(db: D1Database, id: string, act: Act, when: Condition): D1PreparedStatement {
  return db
    .prepare(`UPDATE tenants SET version = ${CLOCK}, updated_at = ? WHERE id = ? AND ${when.sql}`)
    .bind(act.nowMs, id, ...when.args);
}

function firstTenant(rows: readonly unknown[]): Tenant | null {
  const [found] = rows;
  return found === undefined ? null : readTenant(found);
}

/**
 * Notes in the audit that what a tenant owes is about to be forgiven; that itself happens in its object.
 *
 * @returns false when there is no such tenant. @throws StoreUnavailable
 */
export async function noteReset(db: D1Database, id: string, act: Act): Promise<boolean> {
  const exists = tenantExists(id);
  const batch = await runBatch(db, [
    db.prepare("SELECT 1 FROM tenants WHERE id = ?").bind(id),
    auditStatement(db, act, { action: "tenant.reset", target: `tenant:${id}`, detail: {} }, exists),
  ]);
  return batch.found(0);
}
