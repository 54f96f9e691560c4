import type { Bucket } from "../core/bucket.ts";
import type { Buckets } from "../core/limiter.ts";
import type { Limits } from "../core/policy.ts";

/**
 * What a tenant's limiter keeps on disk. Two tables, made with the first write and not before: the first touch of an
 * object must not wait for a schema.
 *
 *   buckets(name, debt, per_token, at_ms)   a bucket that owes at least what memory owes
 *   state(id = 1, shape, limits, admitted, refused, since_ms)   the newest limits seen, and usage as of the last write
 */

export interface StoredLimiter {
  readonly limits: Limits | null;
  readonly buckets: Buckets;
  readonly usage: Usage;
}

/** What was decided since `sinceMs`. Losing memory loses what came after the last write. */
export interface Usage {
  readonly admitted: number;
  readonly refused: number;
  readonly sinceMs: number;
}

const SHAPE = 1;

/** What an earlier life of the object left behind; null for an object that never wrote. */
export function loadLimiter(sql: SqlStorage): StoredLimiter | null {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'state'").toArray().length === 0) return null;
  const [row] = sql
    .exec<{ shape: number; limits: string | null; admitted: number; refused: number; since_ms: number }>(
      "SELECT shape, limits, admitted, refused, since_ms FROM state WHERE id = 1",
    )
    .toArray();
  if (row === undefined) return null;
  if (row.shape !== SHAPE) throw new Error(`limiter state has shape ${row.shape}, this code reads ${SHAPE}`);
  const buckets = new Map<string, Bucket>();
  for (const bucket of sql.exec<{ name: string; debt: number; per_token: number; at_ms: number }>(
    "SELECT name, debt, per_token, at_ms FROM buckets",
  )) {
    buckets.set(bucket.name, { debt: bucket.debt, perToken: bucket.per_token, atMs: bucket.at_ms });
  }
  return {
    // Written below by this file alone, from a value of this type.
    limits: row.limits === null ? null : (JSON.parse(row.limits) as Limits),
    buckets,
    usage: { admitted: row.admitted, refused: row.refused, sinceMs: row.since_ms },
  };
}

/** Makes the tables. Cheap when they are there; called before an object's first write of a life. */
export function prepareLimiter(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, debt INTEGER NOT NULL, per_token INTEGER NOT NULL,
       at_ms INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), shape INTEGER NOT NULL, limits TEXT,
       admitted INTEGER NOT NULL, refused INTEGER NOT NULL, since_ms INTEGER NOT NULL);`,
  );
}

export function saveBucket(sql: SqlStorage, name: string, bucket: Bucket): void {
  sql.exec(
    "INSERT OR REPLACE INTO buckets (name, debt, per_token, at_ms) VALUES (?, ?, ?, ?)",
    name,
    bucket.debt,
    bucket.perToken,
    bucket.atMs,
  );
}

export function saveState(sql: SqlStorage, limits: Limits | null, usage: Usage): void {
  sql.exec(
    "INSERT OR REPLACE INTO state (id, shape, limits, admitted, refused, since_ms) VALUES (1, ?, ?, ?, ?, ?)",
    SHAPE,
    limits === null ? null : JSON.stringify(limits),
    usage.admitted,
    usage.refused,
    usage.sinceMs,
  );
}
