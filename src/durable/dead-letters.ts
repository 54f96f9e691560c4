import type { TenantHoldings } from "../core/tenant-holdings.ts";
import { quotaText } from "../core/tenant-quotas.ts";
import { COLUMNS, type CommandRow, checkedRow, type RawRow } from "./command-row.ts";

/** Dead letters looked at for one tenant's oldest, a piece: those of others lie in between. */
const LOOK_ROWS = 500;

/** The list of dead commands that no operator has dealt with yet. Its tables are made with those of the commands. */
export class DeadLetters {
  readonly #sql: SqlStorage;
  readonly #holdings: TenantHoldings;
  /** Up to where the oldest of a tenant that has too many were looked for. */
  readonly #cursors = new Map<string, number>();

  /** How many there are; null until somebody asks, for that is when they are counted. */
  #size: number | null = null;

  constructor(sql: SqlStorage, holdings: TenantHoldings) {
    this.#sql = sql;
    this.#holdings = holdings;
  }

  get size(): number {
    this.#size ??= this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM dead_letters").one().n;
    return this.#size;
  }

  /**
   * A command has died: it was put on the list with its end. The oldest of a tenant that has too many go.
   *
   * @param bytes of its body, which is kept
   */
  added(tenant: string, bytes: number): void {
    if (this.#size !== null) this.#size += 1;
    this.#holdings.add(tenant, "deadLetters", bytes);
    if (!this.#holdings.hasRoom(tenant, "deadLetters", 0)) this.#dropOldest(tenant);
  }

  #dropOldest(tenant: string): void {
    const cursor = this.#cursors.get(tenant) ?? 0;
    const rows = this.#sql
      .exec<{ sequence: number; tenant: string; bytes: number }>(
        `SELECT sequence, tenant, bytes FROM commands WHERE sequence IN
           (SELECT sequence FROM dead_letters WHERE sequence > ? ORDER BY sequence LIMIT ?) ORDER BY sequence`,
        cursor,
        LOOK_ROWS,
      )
      .toArray();
    let at = rows.length < LOOK_ROWS ? 0 : cursor;
    for (const row of rows) {
      if (this.#holdings.hasRoom(tenant, "deadLetters", 0)) break;
      if (rows.length === LOOK_ROWS) at = row.sequence;
      if (row.tenant !== tenant) continue;
      const { sequence } = row;
      console.warn(JSON.stringify({ event: "dead_letter_dropped", sequence, tenant, limit: quotaText("deadLetters") }));
      this.drop(row);
    }
    this.#cursors.set(tenant, at);
  }

  /** Dead letters, oldest first. */
  list(limit: number, after: number): CommandRow[] {
    return this.#sql
      .exec<RawRow>(
        `SELECT ${COLUMNS} FROM commands WHERE sequence IN
           (SELECT sequence FROM dead_letters WHERE sequence > ? ORDER BY sequence LIMIT ?) ORDER BY sequence`,
        after,
        limit,
      )
      .toArray()
      .map(checkedRow);
  }

  has(sequence: number): boolean {
    return this.#sql.exec("SELECT 1 FROM dead_letters WHERE sequence = ?", sequence).toArray().length > 0;
  }

  /** An operator has seen it: it leaves the list, and its body goes. */
  drop(row: DeadRow): void {
    this.#remove(row);
    this.#sql.exec("UPDATE commands SET payload = NULL WHERE sequence = ?", row.sequence);
  }

  /** A dead command waits again, under its own id, with its attempts counted from 0, and however late it is. */
  revive(row: DeadRow): void {
    this.#remove(row);
    this.#sql.exec(
      `UPDATE commands SET state = 'queued', attempts = 0, error = NULL, started_at = NULL, finished_at = NULL,
         not_before = NULL, deadline_at = NULL, kept_bytes = 0
       WHERE sequence = ?`,
      row.sequence,
    );
  }

  #remove({ sequence, tenant, bytes }: DeadRow): void {
    this.#holdings.add(tenant, "deadLetters", -bytes);
    this.#sql.exec("DELETE FROM dead_letters WHERE sequence = ?", sequence);
    if (this.#size !== null) this.#size -= 1;
  }
}

type DeadRow = Pick<CommandRow, "sequence" | "tenant" | "bytes">;
