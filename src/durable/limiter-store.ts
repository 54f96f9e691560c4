import { settle } from "../core/bucket.ts";
import { criticalCeiling } from "../core/critical-ceiling.ts";
import type { Meter } from "../core/meter.ts";
import { DEFAULT_LIMITS, grainsOf, type Limits } from "../core/policy.ts";
import { policyKey, typeOfId } from "../core/subjects.ts";
import type { KeptUsage } from "./usage-flush.ts";

/**
 * What a tenant's limiter keeps on disk. Two tables, made with the first write and not before: the first touch of an
 * object must not wait for a schema.
 *
 *   meters(id, owed, beside, unit, at_ms)   a meter that owes at least what memory owes; what the numbers are is told
 *                                           by its type, which the id tells
 *   state(id = 1, shape, limits, admitted, refused, since_ms, unsent)   the newest limits seen, and usage as of the last
 *                                           write: `unsent` is JSON of what D1 has not been told of it
 *
 * Shape 2 had no `unsent`, and shape 1 `buckets(name, debt, per_token, at_ms)` in the place of `meters`, too. They are
 * read as they are, and made into shape 3 by the first write of a life.
 */

export interface StoredLimiter {
  readonly shape: number;
  readonly limits: Limits | null;
  readonly meters: ReadonlyMap<string, Meter>;
  readonly usage: StoredUsage;
}

/** What was decided since `sinceMs`. Losing memory loses what came after the last write. */
export interface Usage {
  readonly admitted: number;
  readonly refused: number;
  readonly sinceMs: number;
}

/** What is written of usage. */
export interface StoredUsage extends Usage {
  /** Null: nothing is told to D1 of it. */
  readonly unsent: KeptUsage | null;
}

export const SHAPE = 3;

/** What an earlier life of the object left behind; null for an object that never wrote. */
export function loadLimiter(sql: SqlStorage): StoredLimiter | null {
  if (sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'state'").toArray().length === 0) return null;
  const [row] = sql.exec<StateRow>("SELECT * FROM state WHERE id = 1").toArray();
  if (row === undefined) return null;
  if (row.shape < 1 || row.shape > SHAPE) {
    throw new Error(`limiter state has shape ${row.shape}, this code reads 1 to ${SHAPE}`);
  }
  // Both are written below by this file alone, from values of these types.
  const limits = row.limits === null ? null : (JSON.parse(row.limits) as Limits);
  const unsent = row.unsent == null ? null : (JSON.parse(row.unsent) as KeptUsage);
  return {
    shape: row.shape,
    limits,
    meters: row.shape === 1 ? loadBuckets(sql, limits ?? DEFAULT_LIMITS) : loadMeters(sql),
    usage: { admitted: row.admitted, refused: row.refused, sinceMs: row.since_ms, unsent },
  };
}

type StateRow = {
  shape: number;
  limits: string | null;
  admitted: number;
  refused: number;
  since_ms: number;
  /** Not there before shape 3. */
  unsent?: string | null;
};

function loadMeters(sql: SqlStorage): Map<string, Meter> {
  const meters = new Map<string, Meter>();
  for (const row of sql.exec<MeterRow>("SELECT id, owed, beside, unit, at_ms FROM meters")) {
    const meter = meterOf(row);
    if (meter !== null) meters.set(row.id, meter);
  }
  return meters;
}

/** Shape 1: a row said nothing of its rate, and aged by that of its policy. One whose policy is gone waits for it. */
function loadBuckets(sql: SqlStorage, limits: Limits): Map<string, Meter> {
  const policies = [...limits.policies, ...criticalCeiling(limits).policies];
  const meters = new Map<string, Meter>();
  for (const { name, debt, per_token, at_ms } of sql.exec<{
    name: string;
    debt: number;
    per_token: number;
    at_ms: number;
  }>("SELECT name, debt, per_token, at_ms FROM buckets")) {
    const policy = policies.find((one) => one.name === name);
    const grains = policy?.type === "token-bucket" ? grainsOf(policy) : null;
    const bucket = { type: "token-bucket" as const, debt, perToken: per_token, perMs: 0, atMs: at_ms };
    const id = policyKey({ type: "token-bucket", scope: "tenant", name });
    meters.set(id, grains === null ? bucket : settle(bucket, grains, at_ms));
  }
  return meters;
}

type MeterRow = { id: string; owed: number; beside: number; unit: number; at_ms: number };

/** A row as a meter; null for one of a type that this code does not know. */
function meterOf({ id, owed, beside, unit, at_ms: atMs }: MeterRow): Meter | null {
  const type = typeOfId(id);
  switch (type) {
    case "token-bucket":
      return { type, debt: owed, perMs: beside, perToken: unit, atMs };
    case "fixed-window":
      return { type, used: owed, windowMs: unit, atMs };
    case "sliding-window":
      return { type, present: owed, previous: beside, windowMs: unit, atMs };
    case null:
      return null;
  }
}

/** The columns `owed`, `beside`, `unit` of a meter. */
function columnsOf(meter: Meter): [owed: number, beside: number, unit: number] {
  switch (meter.type) {
    case "token-bucket":
      return [meter.debt, meter.perMs, meter.perToken];
    case "fixed-window":
      return [meter.used, 0, meter.windowMs];
    case "sliding-window":
      return [meter.present, meter.previous, meter.windowMs];
  }
}

/**
 * Makes the tables of this shape. Cheap when they are there; called before an object's first write of a life.
 *
 * @param old what {@link loadLimiter} gave in an older shape: its rows are written anew, in the transaction of that write
 */
export function prepareLimiter(sql: SqlStorage, old: StoredLimiter | null): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS meters (id TEXT PRIMARY KEY, owed INTEGER NOT NULL, beside INTEGER NOT NULL,
       unit INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), shape INTEGER NOT NULL, limits TEXT,
       admitted INTEGER NOT NULL, refused INTEGER NOT NULL, since_ms INTEGER NOT NULL, unsent TEXT);`,
  );
  if (old === null) return;
  if (old.shape === 1) {
    for (const [id, meter] of old.meters) saveMeter(sql, id, meter);
    sql.exec("DROP TABLE buckets");
  }
  sql.exec("ALTER TABLE state ADD COLUMN unsent TEXT");
  sql.exec("UPDATE state SET shape = ?", SHAPE);
}

export function saveMeter(sql: SqlStorage, id: string, meter: Meter): void {
  sql.exec(
    "INSERT OR REPLACE INTO meters (id, owed, beside, unit, at_ms) VALUES (?, ?, ?, ?, ?)",
    id,
    ...columnsOf(meter),
    meter.atMs,
  );
}

export function deleteMeter(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM meters WHERE id = ?", id);
}

export function deleteMeters(sql: SqlStorage): void {
  sql.exec("DELETE FROM meters");
}

export function saveState(sql: SqlStorage, limits: Limits | null, usage: StoredUsage): void {
  sql.exec(
    "INSERT OR REPLACE INTO state (id, shape, limits, admitted, refused, since_ms, unsent) VALUES (1, ?, ?, ?, ?, ?, ?)",
    SHAPE,
    limits === null ? null : JSON.stringify(limits),
    usage.admitted,
    usage.refused,
    usage.sinceMs,
    usage.unsent === null ? null : JSON.stringify(usage.unsent),
  );
}
