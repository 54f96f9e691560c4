import { addEnd, type CommandError, END_STATES, NO_ENDS } from "../core/command.ts";
import type { JsonText } from "../core/json.ts";
import {
  COLUMNS,
  type CommandEnd,
  type CommandRow,
  checkedRow,
  checkedWaitingRow,
  type EndTimes,
  type NewCommand,
  type RawRow,
  type RawWaitingRow,
  type WaitingRow,
} from "./command-row.ts";
import type { Tally } from "./engine-state.ts";
import { FreshCommands } from "./fresh-commands.ts";

/**
 * Commands on disk. One row a command: written when it is accepted, written again when it ends; the body is dropped
 * with the end, since nothing reads it any more.
 *
 * There is no index besides the sequence number. What waits after a restart is found from a *mark* (kept in
 * `engine-state.ts`): every command below it has ended, except the few in `stragglers`.
 */

export class CommandStore {
  readonly #sql: SqlStorage;
  readonly #fresh = new FreshCommands();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Takes a command in: {@link flush} must follow in the same event. */
  insert(command: NewCommand): void {
    this.#fresh.add(command);
  }

  /** Writes what was taken in and has not ended since. */
  flush(): void {
    for (const command of this.#fresh.takeAll()) this.#write(command);
  }

  /** The transaction was undone in which a command ended. */
  undone(sequence: number): void {
    this.#fresh.undone(sequence);
  }

  #write(command: NewCommand): void {
    const { sequence, tenant, intent, bytes, weight, payload, acceptedAtMs, deadlineAtMs } = command;
    this.#sql.exec(
      `INSERT INTO commands (sequence, tenant, intent, bytes, weight, payload, state, accepted_at, deadline_at, headers)
       VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?)`,
      ...[sequence, tenant, intent, bytes, weight, payload, acceptedAtMs, deadlineAtMs, headersText(command)],
    );
  }

  /** What is written of a command before its row changes. */
  #onDisk(sequence: number): void {
    const command = this.#fresh.take(sequence);
    if (command !== undefined) this.#write(command);
  }

  get(sequence: number): CommandRow | null {
    const fresh = this.#fresh.row(sequence);
    if (fresh !== null) return fresh;
    const [row] = this.#sql.exec<RawRow>(`SELECT ${COLUMNS} FROM commands WHERE sequence = ?`, sequence).toArray();
    return row === undefined ? null : checkedRow(row);
  }

  /** The body of a command that has not ended. */
  payload(sequence: number): JsonText {
    const fresh = this.#fresh.waiting(sequence);
    if (fresh !== undefined) return fresh.payload;
    const row = this.#sql.exec<{ payload: string }>("SELECT payload FROM commands WHERE sequence = ?", sequence).one();
    return row.payload;
  }

  /** The headers that go with a command that has not ended. */
  headers(sequence: number): Record<string, string> {
    this.#onDisk(sequence);
    const row = this.#sql
      .exec<{ headers: string | null }>("SELECT headers FROM commands WHERE sequence = ?", sequence)
      .one();
    return JSON.parse(row.headers ?? "{}");
  }

  /** An attempt is about to be made. */
  begin(sequence: number, nowMs: number): void {
    this.#onDisk(sequence);
    this.#sql.exec(
      "UPDATE commands SET state = 'running', started_at = coalesce(started_at, ?) WHERE sequence = ?",
      nowMs,
      sequence,
    );
  }

  /** An attempt has not ended the command: it waits for another, not before `notBeforeMs`. */
  again(sequence: number, attempts: number, notBeforeMs: number, error: CommandError | null): void {
    this.#sql.exec(
      "UPDATE commands SET state = 'queued', attempts = ?, not_before = ?, error = coalesce(?, error) WHERE sequence = ?",
      attempts,
      notBeforeMs,
      error && JSON.stringify(error),
      sequence,
    );
  }

  /**
   * Records an end. The body goes, except that of a dead command, which may be sent again.
   *
   * @returns whose it was, how large its body, and the bytes of result and error that are kept
   */
  end(sequence: number, end: CommandEnd, times: EndTimes): Ended {
    const result = end.result ?? null;
    const error = end.error === undefined ? null : JSON.stringify(end.error);
    const keptBytes = (result?.length ?? 0) + (error?.length ?? 0);
    const ended = [end.state, result, error, keptBytes, times.attempts, times.startedAtMs, times.finishedAtMs];
    const fresh = this.#fresh.waiting(sequence);
    let of: { readonly tenant: string; readonly bytes: number };
    if (fresh === undefined) {
      of = this.#sql
        .exec<{ tenant: string; bytes: number }>(
          `UPDATE commands SET state = ?1, result = ?2, error = ?3, kept_bytes = ?4, attempts = ?5, started_at = ?6,
           finished_at = ?7, payload = CASE WHEN ?1 = 'dead' THEN payload END
         WHERE sequence = ?8 RETURNING tenant, bytes`,
          ...[...ended, sequence],
        )
        .one();
    } else {
      of = fresh;
      const { tenant, intent, bytes, weight, acceptedAtMs, deadlineAtMs } = fresh;
      const payload = end.state === "dead" ? fresh.payload : null;
      this.#sql.exec(
        `INSERT INTO commands (state, result, error, kept_bytes, attempts, started_at, finished_at,
           sequence, tenant, intent, bytes, weight, payload, accepted_at, deadline_at, headers)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[...ended, sequence, tenant, intent, bytes, weight, payload, acceptedAtMs, deadlineAtMs, headersText(fresh)],
      );
      this.#fresh.ended(fresh, end, times, keptBytes);
    }
    if (end.state === "dead") this.#sql.exec("INSERT OR IGNORE INTO dead_letters (sequence) VALUES (?)", sequence);
    return { tenant: of.tenant, bytes: of.bytes, keptBytes };
  }

  setAttempts(sequence: number, attempts: number): void {
    this.#onDisk(sequence);
    this.#sql.exec("UPDATE commands SET attempts = ? WHERE sequence = ?", attempts, sequence);
  }

  /**
   * What waits after a restart: not ended and not below the mark, and the stragglers below it; what is deferred does
   * not wait yet. In order of arrival.
   */
  waiting(mark: number): WaitingRow[] {
    const columns = `${COLUMNS}, deadline_at, not_before`;
    return this.#sql
      .exec<RawWaitingRow>(
        `SELECT ${columns} FROM commands WHERE sequence >= ? AND state IN ('queued', 'running')
           AND sequence NOT IN (SELECT sequence FROM deferred)
         UNION ALL SELECT ${columns} FROM commands WHERE sequence IN (SELECT sequence FROM stragglers) ORDER BY 1`,
        mark,
      )
      .toArray()
      .map(checkedWaitingRow);
  }

  /**
   * A tenant's commands among the `limit` rows after a sequence.
   *
   * @returns them, and the last sequence that was looked at; null: there is no row after it up to `upTo`
   */
  ownedBy(tenant: string, after: number, upTo: number, limit: number): { own: CommandRow[]; last: number | null } {
    const { last } = this.#sql
      .exec<{ last: number | null }>(
        `SELECT max(sequence) AS last FROM
           (SELECT sequence FROM commands WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?)`,
        after,
        upTo,
        limit,
      )
      .one();
    if (last === null) return { own: [], last };
    const own = this.#sql.exec<RawRow>(
      `SELECT ${COLUMNS} FROM commands WHERE sequence > ? AND sequence <= ? AND tenant = ?`,
      after,
      last,
      tenant,
    );
    return { own: own.toArray().map(checkedRow), last };
  }

  /** How the commands with from ≤ sequence < to ended. */
  tally(from: number, to: number): Tally {
    const rows = this.#sql.exec<{ state: string; n: number; bytes: number }>(
      `SELECT state, count(*) AS n, sum(kept_bytes) AS bytes FROM commands WHERE sequence >= ? AND sequence < ?
       GROUP BY state`,
      from,
      to,
    );
    let tally: Tally = { ends: NO_ENDS, bytes: 0 };
    for (const { state, n, bytes } of rows) {
      const end = END_STATES.find((known) => known === state);
      if (end !== undefined) tally = { ends: addEnd(tally.ends, end, n), bytes: tally.bytes + bytes };
    }
    return tally;
  }

  /** 0 when there is no command. */
  highestSequence(): number {
    return (
      this.#sql.exec<{ highest: number | null }>("SELECT max(sequence) AS highest FROM commands").one().highest ?? 0
    );
  }

  addStraggler(sequence: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO stragglers (sequence) VALUES (?)", sequence);
  }

  removeStraggler(sequence: number): void {
    this.#sql.exec("DELETE FROM stragglers WHERE sequence = ?", sequence);
  }
}

function headersText({ headers }: NewCommand): string | null {
  return Object.keys(headers).length === 0 ? null : JSON.stringify(headers);
}

/** A command that has ended. */
export interface Ended {
  readonly tenant: string;
  readonly bytes: number;
  readonly keptBytes: number;
}
