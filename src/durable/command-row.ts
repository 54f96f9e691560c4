import type { CommandError, CommandState, EndState } from "../core/command.ts";
import { END_STATES } from "../core/command.ts";
import type { JsonText } from "../core/json.ts";

/** A command's row: what is written of it, and what is read, checked. */

export interface NewCommand {
  readonly sequence: number;
  readonly tenant: string;
  readonly intent: string;
  readonly payload: string;
  readonly bytes: number;
  readonly weight: number;
  readonly acceptedAtMs: number;
  /** After this it need not begin; null: it may always. */
  readonly deadlineAtMs: number | null;
  /** Those of the caller's headers that go with it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A command's row. */
export interface CommandRow {
  readonly sequence: number;
  readonly tenant: string;
  readonly intent: string;
  readonly state: CommandState;
  /** Of the body. */
  readonly bytes: number;
  /** Its tenant's weight in the queue when it was accepted. */
  readonly weight: number;
  /** Of result and error, once it has ended. */
  readonly keptBytes: number;
  readonly attempts: number;
  readonly result: JsonText | null;
  readonly error: CommandError | null;
  readonly acceptedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
}

/** A row of a command that has not ended, as a restart needs it. */
export interface WaitingRow extends CommandRow {
  readonly deadlineAtMs: number | null;
  /** It has been tried before, and is not tried again before this. */
  readonly notBeforeMs: number | null;
}

export type RawRow = {
  sequence: number;
  tenant: string;
  intent: string;
  state: string;
  bytes: number;
  weight: number;
  kept_bytes: number;
  attempts: number;
  result: string | null;
  error: string | null;
  accepted_at: number;
  started_at: number | null;
  finished_at: number | null;
};

export type RawWaitingRow = RawRow & { deadline_at: number | null; not_before: number | null };

/** The columns of {@link RawRow}: all but the body, and what stands behind it. */
export const COLUMNS =
  "sequence, tenant, intent, state, bytes, weight, kept_bytes, attempts, result, error, accepted_at, started_at, finished_at";

/** How a command ended. */
export interface CommandEnd {
  readonly state: EndState;
  readonly result?: JsonText;
  readonly error?: CommandError;
}

export interface EndTimes {
  readonly attempts: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number;
}

/** A row as the rest of the code may rely on it. A bad one is a bug or a foreign hand, and stops the object. */
export function checkedRow(row: RawRow): CommandRow {
  const state = (["queued", "running", ...END_STATES] as const).find((known) => known === row.state);
  if (state === undefined) throw new Error(`commands row ${row.sequence} is not readable`);
  return {
    sequence: row.sequence,
    tenant: row.tenant,
    intent: row.intent,
    state,
    bytes: row.bytes,
    weight: row.weight,
    keptBytes: row.kept_bytes,
    attempts: row.attempts,
    result: row.result,
    error: row.error === null ? null : JSON.parse(row.error),
    acceptedAtMs: row.accepted_at,
    startedAtMs: row.started_at,
    finishedAtMs: row.finished_at,
  };
}

export function checkedWaitingRow(row: RawWaitingRow): WaitingRow {
  return { ...checkedRow(row), deadlineAtMs: row.deadline_at, notBeforeMs: row.not_before };
}
