import { COLUMNS, type CommandRow, checkedRow, type RawRow } from "./command-row.ts";

/** The list of dead commands that no operator has dealt with yet. Its tables are made with those of the commands. */
export class DeadLetters {
  readonly #sql: SqlStorage;

  /** How many there are; null until somebody asks, for that is when they are counted. */
  #size: number | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get size(): number {
    this.#size ??= this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM dead_letters").one().n;
    return this.#size;
  }

  /** A command has died: it was put on the list with its end. */
  added(): void {
    if (this.#size !== null) this.#size += 1;
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
  drop(sequence: number): void {
    this.#remove(sequence);
    this.#sql.exec("UPDATE commands SET payload = NULL WHERE sequence = ?", sequence);
  }

  /** A dead command waits again, under its own id, with its attempts counted from 0, and however late it is. */
  revive(sequence: number): void {
    this.#remove(sequence);
    this.#sql.exec(
      `UPDATE commands SET state = 'queued', attempts = 0, error = NULL, started_at = NULL, finished_at = NULL,
         not_before = NULL, deadline_at = NULL, kept_bytes = 0
       WHERE sequence = ?`,
      sequence,
    );
  }

  #remove(sequence: number): void {
    this.#sql.exec("DELETE FROM dead_letters WHERE sequence = ?", sequence);
    if (this.#size !== null) this.#size -= 1;
  }
}
