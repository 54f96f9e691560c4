/**
 * Ended instances go: when they are past their time to be read, or early, the oldest first, when their tenant has used up
 * what it may hold.
 */

import type { TenantHoldings } from "../../core/tenant-holdings.ts";
import { INSTANCE_BYTES, JOB_BYTES } from "./holdings.ts";
import { decodeDone } from "./instance-rows.ts";
import { takeWithin } from "./variables.ts";

/** Small enough that a sweep holds up no command for long. */
export const SWEEP_ROWS_MAX = 500;
/** Deleting a row visits all of its pages: 500 rows of 1 MiB would take half a second. At least one row always goes. */
export const SWEEP_BYTES_MAX = 16 * 1024 * 1024;

type Row = { seq: number; tenant: string; bytes: number; done: string | null; ended_at: number };

export class EndedInstances {
  readonly #sql: SqlStorage;
  readonly #holdings: TenantHoldings;
  /** Up to when the oldest of a tenant were looked for, Unix milliseconds. */
  readonly #cursors = new Map<string, number>();

  constructor(sql: SqlStorage, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#holdings = holdings;
  }

  /**
   * Deletes ended instances of all tenants that are past their time to be read, the oldest first, a bounded piece a call.
   *
   * @param endedBeforeMs what ended before this Unix time in milliseconds goes
   * @returns true when there is more to delete
   */
  sweep(endedBeforeMs: number): boolean {
    const rows = this.#rows("ended_at < ?", endedBeforeMs, SWEEP_ROWS_MAX + 1);
    const cleared = takeWithin(rows.slice(0, SWEEP_ROWS_MAX), SWEEP_BYTES_MAX);
    this.#delete(cleared);
    return cleared.length < rows.length;
  }

  /** Deletes the oldest of a tenant that has too many, a bounded piece a call: those of others lie in between. */
  clearOldestOf(tenant: string): void {
    const rows = this.#rows("ended_at >= ?", this.#cursors.get(tenant) ?? 0, SWEEP_ROWS_MAX);
    const own = rows.filter((row) => row.tenant === tenant);
    let excess = -this.#holdings.roomLeft(tenant, "process");
    const gone = own.filter(({ bytes }) => {
      const goes = excess >= 0;
      excess -= bytes;
      return goes;
    });
    this.#delete(takeWithin(gone, SWEEP_BYTES_MAX));
    const last = rows.length < SWEEP_ROWS_MAX ? undefined : rows.at(-1)?.ended_at;
    // Many that ended in the same millisecond: the next look must not begin with them again.
    this.#cursors.set(tenant, last === undefined ? 0 : last === rows[0]?.ended_at ? last + 1 : last);
  }

  #rows(which: "ended_at < ?" | "ended_at >= ?", atMs: number, limit: number): Row[] {
    return this.#sql
      .exec<Row>(
        `SELECT seq, tenant, ${INSTANCE_BYTES} AS bytes, done, ended_at FROM process_instances
         WHERE ${which} ORDER BY ended_at LIMIT ?`,
        atMs,
        limit,
      )
      .toArray();
  }

  #delete(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const jobs = rows.flatMap(({ done }) => decodeDone(done).map(([job]) => job));
    if (jobs.length > 0) this.#deleteFrom("process_jobs", JOB_BYTES, jobs);
    this.#deleteFrom(
      "process_instances",
      INSTANCE_BYTES,
      rows.map(({ seq }) => seq),
    );
  }

  #deleteFrom(table: "process_jobs" | "process_instances", bytesOf: string, seqs: readonly number[]): void {
    const gone = this.#sql.exec<{ tenant: string; bytes: number }>(
      `DELETE FROM ${table} WHERE seq IN (SELECT value FROM json_each(?)) RETURNING tenant, ${bytesOf} AS bytes`,
      JSON.stringify(seqs),
    );
    for (const { tenant, bytes } of gone) this.#holdings.add(tenant, "process", -bytes);
  }
}
