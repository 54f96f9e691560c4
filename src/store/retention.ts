import { runBatch } from "./database.ts";

/**
 * What tables keep for a while only: usage and the audit. Rows go in batches, oldest first, each found by its key
 * without looking at what stays.
 */

const DAY_MS = 86_400_000;
const MINUTES_A_DAY = 1_440;
/** Rows of a table in one go: some milliseconds of D1. */
const CLEAR_ROWS = 500;

/** The variables of the deployment: whole days; 0 keeps the audit for good. */
export interface KeepDays {
  readonly USAGE_KEEP_DAYS: number;
  readonly AUDIT_KEEP_DAYS: number;
}

/**
 * Clears a batch of what is older than may be kept. With a tenant's last minute its totals go.
 *
 * @throws StoreUnavailable
 */
export async function clearOld(db: D1Database, nowMs: number, keep: KeepDays): Promise<void> {
  const beforeMinute = Math.floor(nowMs / 60_000) - keep.USAGE_KEEP_DAYS * MINUTES_A_DAY;
  const oldest = "SELECT minute, tenant FROM usage_minutes WHERE minute < ?1 ORDER BY minute LIMIT ?2";
  const statements = [
    db
      .prepare(`DELETE FROM usage_tenants WHERE last_minute < ?1 AND tenant IN (SELECT tenant FROM (${oldest}))`)
      .bind(beforeMinute, CLEAR_ROWS),
    db.prepare(`DELETE FROM usage_minutes WHERE (minute, tenant) IN (${oldest})`).bind(beforeMinute, CLEAR_ROWS),
    db
      .prepare(
        "DELETE FROM usage_totals WHERE minute IN (SELECT minute FROM usage_totals WHERE minute < ?1 ORDER BY minute LIMIT ?2)",
      )
      .bind(beforeMinute, CLEAR_ROWS),
  ];
  if (keep.AUDIT_KEEP_DAYS > 0) {
    // Entries are written in the order of their time, so only the first of them need to be looked at.
    const first = "SELECT id, at FROM audit ORDER BY id LIMIT ?2";
    statements.push(
      db
        .prepare(`DELETE FROM audit WHERE id IN (SELECT id FROM (${first}) WHERE at < ?1)`)
        .bind(nowMs - keep.AUDIT_KEEP_DAYS * DAY_MS, CLEAR_ROWS),
    );
  }
  await runBatch(db, statements);
}
