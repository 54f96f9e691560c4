import type { JsonText } from "./json.ts";

/** A command's life, as everyone outside may see it. */

/** `queued` and `running` are in flight; the others are ends, and each command reaches exactly one. */
export type CommandState = "queued" | "running" | EndState;
export const END_STATES = ["succeeded", "failed", "dead", "cancelled", "expired"] as const;
export type EndState = (typeof END_STATES)[number];

export interface CommandError {
  readonly code: string;
  readonly message: string;
}

/** What `GET /v1/commands/{id}` shows. Times are ISO 8601. */
export interface CommandView {
  readonly commandId: string;
  readonly intent: string;
  readonly state: CommandState;
  readonly attempts: number;
  /** Of an object. */
  readonly result?: JsonText;
  readonly error?: CommandError;
  /** Saved with no work planned, and not yet taken up. */
  readonly deferred?: true;
  readonly acceptedAt: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** While it is queued: how many go before it, and how long that takes at the present pace. */
  readonly queuedAhead?: number;
  readonly estimatedWaitSeconds?: number;
}

/** How many commands ended in each way. With what was accepted and what is in flight they must add up (invariant 3). */
export type EndCounts = Readonly<Record<EndState, number>>;

export const NO_ENDS: EndCounts = { succeeded: 0, failed: 0, dead: 0, cancelled: 0, expired: 0 };

/** Counts with some more (or, for a dead command that runs again, fewer) of one end. */
export function addEnd(counts: EndCounts, state: EndState, by: number): EndCounts {
  return { ...counts, [state]: counts[state] + by };
}

export function totalEnds(counts: EndCounts): number {
  return END_STATES.reduce((total, state) => total + counts[state], 0);
}
