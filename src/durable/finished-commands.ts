import type { TenantHoldings } from "../core/tenant-holdings.ts";
import { ROW_BYTES } from "../core/tenant-quotas.ts";

/** Ended commands on disk, as they go: those that are old, and the oldest of a tenant that keeps too much. */

/** Rows looked at for one tenant's oldest, a piece: those of others lie in between. */
const LOOK_ROWS = 500;

export interface Cleared {
  readonly cleared: number;
  readonly bytes: number;
  /** Where the next piece begins; null: there is no more, or it is too young. */
  readonly next: number | null;
}

export class FinishedCommands {
  readonly #sql: SqlStorage;
  readonly #holdings: TenantHoldings;
  /** Tenants that keep too much, with the sequence up to which their oldest have been looked for. */
  readonly #over = new Map<string, number>();

  constructor(sql: SqlStorage, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#holdings = holdings;
  }

  /** A command has ended, and is kept. */
  added(tenant: string, keptBytes: number): void {
    this.#holdings.add(tenant, "results", ROW_BYTES + keptBytes);
    if (!this.#holdings.hasRoom(tenant, "results", 0) && !this.#over.has(tenant)) this.#over.set(tenant, 0);
  }

  /** It is not kept as ended any more: it waits again. */
  revived(tenant: string, keptBytes: number): void {
    this.#holdings.add(tenant, "results", -(ROW_BYTES + keptBytes));
  }

  /**
   * Clears ended commands in the order of their age, a bounded piece: of the `limit` oldest rows after `cursor` those
   * that ended before `cutoffMs`. Dead letters and stragglers stay.
   *
   * @param mark only what lies below it goes
   */
  clear(cursor: number, mark: number, cutoffMs: number, limit: number): Cleared {
    const rows = this.#rows(cursor, mark, limit);
    const ended = rows.filter((row) => row.listed === 0 && row.finished_at !== null);
    const old = ended.filter((row) => (row.finished_at ?? cutoffMs) <= cutoffMs);
    const last = rows.at(-1);
    const more = rows.length === limit && old.length === ended.length;
    return { ...this.#delete(old), next: more && last !== undefined ? last.sequence : null };
  }

  /** Clears the oldest of tenants that keep more than they may, a bounded piece for each. @param mark as for {@link clear} */
  clearOver(mark: number): Omit<Cleared, "next"> {
    let [cleared, bytes] = [0, 0];
    for (const [tenant, cursor] of this.#over) {
      const rows = this.#rows(cursor, mark, LOOK_ROWS);
      const gone: Row[] = [];
      let excess = -this.#holdings.roomLeft(tenant, "results");
      let at = rows.length < LOOK_ROWS ? 0 : (rows.at(-1)?.sequence ?? 0);
      for (const row of rows) {
        if (excess <= 0) {
          at = row.sequence - 1;
          break;
        }
        if (row.tenant !== tenant || row.listed === 1 || row.finished_at === null) continue;
        gone.push(row);
        excess -= ROW_BYTES + row.bytes;
      }
      const piece = this.#delete(gone);
      cleared += piece.cleared;
      bytes += piece.bytes;
      if (this.#holdings.hasRoom(tenant, "results", 0)) this.#over.delete(tenant);
      else this.#over.set(tenant, at);
    }
    return { cleared, bytes };
  }

  /** Clears these, as far as they have ended and lie below the mark. */
  clearThese(sequences: readonly number[], mark: number): Omit<Cleared, "next"> {
    const [from = 0] = sequences;
    const wanted = new Set(sequences);
    const rows = this.#rows(from - 1, mark, LOOK_ROWS).filter(({ sequence }) => wanted.has(sequence));
    return this.#delete(rows.filter((row) => row.listed === 0 && row.finished_at !== null));
  }

  #rows(cursor: number, mark: number, limit: number): Row[] {
    return this.#sql
      .exec<Row>(
        `SELECT sequence, tenant, finished_at, kept_bytes AS bytes,
           EXISTS (SELECT 1 FROM dead_letters d WHERE d.sequence = c.sequence) AS listed
         FROM commands c WHERE sequence > ? AND sequence < ? ORDER BY sequence LIMIT ?`,
        cursor,
        mark,
        limit,
      )
      .toArray();
  }

  #delete(rows: readonly Row[]): Omit<Cleared, "next"> {
    let bytes = 0;
    for (const row of rows) {
      this.#sql.exec("DELETE FROM commands WHERE sequence = ?", row.sequence);
      this.#holdings.add(row.tenant, "results", -(ROW_BYTES + row.bytes));
      bytes += row.bytes;
    }
    return { cleared: rows.length, bytes };
  }
}

type Row = {
  sequence: number;
  tenant: string;
  finished_at: number | null;
  bytes: number;
  listed: number;
};
