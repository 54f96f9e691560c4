import type { TenantHoldings } from "../core/tenant-holdings.ts";
import { ROW_BYTES } from "../core/tenant-quotas.ts";
import { COLUMNS, checkedWaitingRow, type RawWaitingRow, type WaitingRow } from "./command-row.ts";

/**
 * Commands that came when there was no room and were saved all the same (`OVERFLOW=defer`): their ids on disk, in order
 * of arrival. No work is planned for one until it is taken from here. Its table is made with those of the commands.
 */
export class Deferred {
  readonly #sql: SqlStorage;
  readonly #holdings: TenantHoldings;
  #size: number;
  #newest: number | null = null;

  constructor(sql: SqlStorage, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#holdings = holdings;
    this.#size = sql.exec<{ n: number }>("SELECT count(*) AS n FROM deferred").one().n;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether one more of so many bytes stays within what the tenant may have here. */
  hasRoom({ tenant, bytes }: Owned): boolean {
    return this.#holdings.hasRoom(tenant, "deferred", ROW_BYTES + bytes);
  }

  add(sequence: number, { tenant, bytes }: Owned): void {
    this.#sql.exec("INSERT INTO deferred (sequence) VALUES (?)", sequence);
    this.#holdings.add(tenant, "deferred", ROW_BYTES + bytes);
    this.#size += 1;
    this.#newest = sequence;
  }

  has(sequence: number): boolean {
    if (this.#size === 0) return false;
    return this.#sql.exec("SELECT 1 FROM deferred WHERE sequence = ?", sequence).toArray().length > 0;
  }

  /** How many came before this one and are still here; not counted further than {@link COUNT_MAX}. */
  aheadOf(sequence: number): number {
    if (sequence === this.#newest) return this.#size - 1;
    return this.#sql
      .exec<{ n: number }>(
        "SELECT count(*) AS n FROM (SELECT 1 FROM deferred WHERE sequence < ? LIMIT ?)",
        sequence,
        COUNT_MAX,
      )
      .one().n;
  }

  /** The oldest, at most so many; they stay. */
  oldest(count: number): WaitingRow[] {
    if (this.#size === 0) return [];
    return this.#rows("ORDER BY sequence LIMIT ?", count);
  }

  /** Those that name a time after which they need not begin. */
  withDeadline(): WaitingRow[] {
    if (this.#size === 0) return [];
    return this.#rows("").filter(({ deadlineAtMs }) => deadlineAtMs !== null);
  }

  remove(sequence: number, { tenant, bytes }: Owned): void {
    this.#holdings.add(tenant, "deferred", -(ROW_BYTES + bytes));
    this.#sql.exec("DELETE FROM deferred WHERE sequence = ?", sequence);
    this.#size -= 1;
  }

  #rows(which: string, ...values: number[]): WaitingRow[] {
    return this.#sql
      .exec<RawWaitingRow>(
        `SELECT ${COLUMNS}, deadline_at, not_before FROM commands
         WHERE sequence IN (SELECT sequence FROM deferred ${which}) ORDER BY sequence`,
        ...values,
      )
      .toArray()
      .map(checkedWaitingRow);
  }
}

/** Whose command it is, and how large its body. */
type Owned = Pick<WaitingRow, "tenant" | "bytes">;

/** Whoever has so many ahead does not need to know how many exactly, and counting is what everybody else waits for. */
const COUNT_MAX = 10_000;
