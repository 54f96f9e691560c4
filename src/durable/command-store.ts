import type { CommandError, CommandState, EndCounts, EndState } from "../core/command.ts";
import { addEnd, END_STATES, NO_ENDS } from "../core/command.ts";
import { INTENTS, type Intent } from "../core/intents.ts";
import type { JsonObject } from "../core/json.ts";

/**
 * Commands on disk. One row a command: written when it is accepted, written again when it ends; the body is dropped
 * with the end, since nothing reads it any more. The tables are in command-schema.ts.
 *
 * There is no index besides the sequence number. What waits after a restart is found from a *mark* (kept in
 * `engine-state.ts`): every command below it has ended, except the few in `stragglers`.
 */

export interface NewCommand {
  readonly sequence: number;
  readonly tenant: string;
  readonly intent: Intent;
  readonly payload: string;
  readonly bytes: number;
  /** Its tenant's weight in the queue. */
  readonly weight: number;
  readonly acceptedAtMs: number;
}

/** A command's row. */
export interface CommandRow {
  readonly sequence: number;
  readonly tenant: string;
  readonly intent: Intent;
  readonly state: CommandState;
  readonly bytes: number;
  readonly weight: number;
  readonly attempts: number;
  readonly result: JsonObject | null;
  readonly error: CommandError | null;
  readonly acceptedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
}

type RawRow = {
  sequence: number;
  tenant: string;
  intent: string;
  state: string;
  bytes: number;
  weight: number;
  attempts: number;
  result: string | null;
  error: string | null;
  accepted_at: number;
  started_at: number | null;
  finished_at: number | null;
};

const COLUMNS =
  "sequence, tenant, intent, state, bytes, weight, attempts, result, error, accepted_at, started_at, finished_at";

export class CommandStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  insert(command: NewCommand): void {
    this.#sql.exec(
      `INSERT INTO commands (sequence, tenant, intent, bytes, weight, payload, state, accepted_at)
       VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)`,
      command.sequence,
      command.tenant,
      command.intent,
      command.bytes,
      command.weight,
      command.payload,
      command.acceptedAtMs,
    );
  }

  get(sequence: number): CommandRow | null {
    const [row] = this.#sql.exec<RawRow>(`SELECT ${COLUMNS} FROM commands WHERE sequence = ?`, sequence).toArray();
    return row === undefined ? null : checked(row);
  }

  /** The body of a command that has not ended. */
  payload(sequence: number): JsonObject {
    const row = this.#sql.exec<{ payload: string }>("SELECT payload FROM commands WHERE sequence = ?", sequence).one();
    return JSON.parse(row.payload);
  }

  /** @param keepPayload a dead command may be sent again, so it keeps its body */
  end(sequence: number, end: { state: EndState; result?: JsonObject; error?: CommandError }, times: EndTimes): void {
    this.#sql.exec(
      `UPDATE commands SET state = ?, result = ?, error = ?, attempts = ?, started_at = ?, finished_at = ?,
         payload = CASE WHEN ? = 'dead' THEN payload END
       WHERE sequence = ?`,
      end.state,
      end.result === undefined ? null : JSON.stringify(end.result),
      end.error === undefined ? null : JSON.stringify(end.error),
      times.attempts,
      times.startedAtMs,
      times.finishedAtMs,
      end.state,
      sequence,
    );
    if (end.state === "dead") this.#sql.exec("INSERT OR IGNORE INTO dead_letters (sequence) VALUES (?)", sequence);
  }

  setAttempts(sequence: number, attempts: number): void {
    this.#sql.exec("UPDATE commands SET attempts = ? WHERE sequence = ?", attempts, sequence);
  }

  /** What waits after a restart: not ended and not below the mark, and the stragglers below it. In order of arrival. */
  waiting(mark: number): CommandRow[] {
    return this.#sql
      .exec<RawRow>(
        `SELECT ${COLUMNS} FROM commands WHERE sequence >= ? AND state IN ('queued', 'running')
         UNION ALL SELECT ${COLUMNS} FROM commands WHERE sequence IN (SELECT sequence FROM stragglers) ORDER BY 1`,
        mark,
      )
      .toArray()
      .map(checked);
  }

  /** How many commands with from ≤ sequence < to ended in each way. */
  countEnds(from: number, to: number): EndCounts {
    const rows = this.#sql.exec<{ state: string; n: number }>(
      "SELECT state, count(*) AS n FROM commands WHERE sequence >= ? AND sequence < ? GROUP BY state",
      from,
      to,
    );
    let counts = NO_ENDS;
    for (const { state, n } of rows) {
      const end = END_STATES.find((known) => known === state);
      if (end !== undefined) counts = addEnd(counts, end, n);
    }
    return counts;
  }

  /** Dead letters, oldest first. */
  deadLetters(limit: number, after: number): CommandRow[] {
    return this.#sql
      .exec<RawRow>(
        `SELECT ${COLUMNS} FROM commands WHERE sequence IN
           (SELECT sequence FROM dead_letters WHERE sequence > ? ORDER BY sequence LIMIT ?) ORDER BY sequence`,
        after,
        limit,
      )
      .toArray()
      .map(checked);
  }

  deadLetterCount(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM dead_letters").one().n;
  }

  isDeadLetter(sequence: number): boolean {
    return this.#sql.exec("SELECT 1 FROM dead_letters WHERE sequence = ?", sequence).toArray().length > 0;
  }

  /** An operator has seen it: it leaves the list, and its body goes. */
  dropDeadLetter(sequence: number): void {
    this.#sql.exec("DELETE FROM dead_letters WHERE sequence = ?", sequence);
    this.#sql.exec("UPDATE commands SET payload = NULL WHERE sequence = ?", sequence);
  }

  /** A dead command waits again, under its own id and with its attempts counted from 0. */
  revive(sequence: number): void {
    this.#sql.exec("DELETE FROM dead_letters WHERE sequence = ?", sequence);
    this.#sql.exec(
      `UPDATE commands SET state = 'queued', attempts = 0, error = NULL, started_at = NULL, finished_at = NULL
       WHERE sequence = ?`,
      sequence,
    );
  }

  addStraggler(sequence: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO stragglers (sequence) VALUES (?)", sequence);
  }

  removeStraggler(sequence: number): void {
    this.#sql.exec("DELETE FROM stragglers WHERE sequence = ?", sequence);
  }

  /**
   * Clears ended commands in the order of their age, a bounded piece: of the `limit` oldest rows after `cursor` those
   * that ended before `cutoffMs`. Dead letters and stragglers stay.
   *
   * @returns how many were cleared, and the cursor for the next piece (null: the piece was not full, nothing is left)
   */
  clear(cursor: number, mark: number, cutoffMs: number, limit: number): { cleared: number; next: number | null } {
    const rows = this.#sql
      .exec<{ sequence: number; finished_at: number | null; kept: number }>(
        `SELECT sequence, finished_at, EXISTS (SELECT 1 FROM dead_letters d WHERE d.sequence = c.sequence) AS kept
         FROM commands c WHERE sequence > ? AND sequence < ? ORDER BY sequence LIMIT ?`,
        cursor,
        mark,
        limit,
      )
      .toArray();
    const old = rows.filter((row) => row.kept === 0 && row.finished_at !== null && row.finished_at <= cutoffMs);
    for (const row of old) this.#sql.exec("DELETE FROM commands WHERE sequence = ?", row.sequence);
    const last = rows.at(-1);
    return { cleared: old.length, next: rows.length < limit || last === undefined ? null : last.sequence };
  }
}

export interface EndTimes {
  readonly attempts: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number;
}

/** A row as the rest of the code may rely on it. A bad one is a bug or a foreign hand, and stops the object. */
function checked(row: RawRow): CommandRow {
  const intent = INTENTS.find((known) => known === row.intent);
  const state = (["queued", "running", ...END_STATES] as const).find((known) => known === row.state);
  if (intent === undefined || state === undefined) throw new Error(`commands row ${row.sequence} is not readable`);
  return {
    sequence: row.sequence,
    tenant: row.tenant,
    intent,
    state,
    bytes: row.bytes,
    weight: row.weight,
    attempts: row.attempts,
    result: row.result === null ? null : JSON.parse(row.result),
    error: row.error === null ? null : JSON.parse(row.error),
    acceptedAtMs: row.accepted_at,
    startedAtMs: row.started_at,
    finishedAtMs: row.finished_at,
  };
}
