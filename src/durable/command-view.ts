import type { CommandView } from "../core/command.ts";
import type { CommandRow } from "./command-row.ts";

/** Where a command waits in line. */
export interface Position {
  /** Commands that go before it. */
  readonly ahead: number;
  readonly waitSeconds: number;
  readonly isDeferred: boolean;
}

/** A command's row as callers see it: ISO times, absent members where there is nothing to say. */
export function viewOf(row: CommandRow, commandId: string, position: Position | null): CommandView {
  return {
    commandId,
    intent: row.intent,
    state: row.state,
    attempts: row.attempts,
    ...(row.result === null ? {} : { result: row.result }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(position?.isDeferred ? { deferred: true } : {}),
    acceptedAt: iso(row.acceptedAtMs),
    ...(row.startedAtMs === null ? {} : { startedAt: iso(row.startedAtMs) }),
    ...(row.finishedAtMs === null ? {} : { finishedAt: iso(row.finishedAtMs) }),
    ...(position === null ? {} : { queuedAhead: position.ahead, estimatedWaitSeconds: position.waitSeconds }),
  };
}

function iso(ms: number): string {
  if (written.ms !== ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

/** The last time that was written: the times of a command that found the engine idle are one, and those of its commit. */
let written = { ms: 0, text: new Date(0).toISOString() };
