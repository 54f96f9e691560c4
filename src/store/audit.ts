import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import { type Act, ALWAYS, type Condition, checkRow, parseJson, queryRows, runBatch } from "./database.ts";

/**
 * Table `audit`: who changed what, when. An entry is written in the transaction of the change that it tells of, so
 * there is never one without the other. No entry holds a secret or its hash.
 */

export interface AuditEntry {
  readonly id: number;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: JsonObject;
}

/** What was done, as `noun.verb`, to whom, as `noun:name`. */
export interface Deed {
  readonly action: string;
  readonly target: string;
  readonly detail: JsonObject;
}

const row = z.object({
  id: z.int(),
  at: z.int(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  detail: z.string(),
});
const detailSchema = z.record(z.string(), z.json());

/** The entry as a statement for the batch of its change, written only when the change is. */
export function auditStatement(db: D1Database, act: Act, deed: Deed, when: Condition): D1PreparedStatement {
  return db
    .prepare(`INSERT INTO audit (at, actor, action, target, detail) SELECT ?, ?, ?, ?, ? WHERE ${when.sql}`)
    .bind(act.nowMs, act.actor, deed.action, deed.target, JSON.stringify(deed.detail), ...when.args);
}

/**
 * Writes an entry for a change that is not made in D1.
 *
 * @throws StoreUnavailable; the change should then not be made
 */
export async function recordAudit(db: D1Database, act: Act, deed: Deed): Promise<void> {
  await runBatch(db, [auditStatement(db, act, deed, ALWAYS)]);
}

/**
 * A page of entries, newest first.
 *
 * @param before only entries with a smaller id; null from the newest
 * @returns the entries, and the id to go on before, where there is more
 * @throws StoreUnavailable, BadRow
 */
export async function listAudit(
  db: D1Database,
  limit: number,
  before: number | null,
): Promise<{ entries: AuditEntry[]; next: number | null }> {
  const rows = await queryRows(
    db
      .prepare(
        "SELECT id, at, actor, action, target, detail FROM audit WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2",
      )
      .bind(before, limit + 1),
  );
  const entries = rows.slice(0, limit).map(readEntry);
  const last = entries.at(-1);
  return { entries, next: rows.length > limit && last !== undefined ? last.id : null };
}

function readEntry(given: unknown): AuditEntry {
  const { id, at, actor, action, target, detail } = checkRow("audit", row, given);
  return { id, atMs: at, actor, action, target, detail: checkRow("audit", detailSchema, parseJson("audit", detail)) };
}
