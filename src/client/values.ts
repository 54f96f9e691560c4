import type { CommandError, CommandView } from "../core/command.ts";
import type { PolicyReport } from "../core/policy-report.ts";
import type { ResultOf } from "./intents.ts";

/** What the calls give when they succeed. A state decides what else there is to read, so each state is a variant. */

/** A command by its id, and by what it wants: enough to ask for it with a typed result. */
export interface CommandRef<I extends string = string> {
  readonly commandId: string;
  readonly intent: I;
}

/** A command as it stands. Times are ISO 8601. */
export type Command<I extends string = string> = PendingCommand<I> | EndedCommand<I>;

/** A command that will not change any more. */
export type EndedCommand<I extends string = string> = SucceededCommand<I> | FailedCommand<I> | DroppedCommand<I>;

interface CommandBase<I extends string>
  extends CommandRef<I>,
    Pick<CommandView, "commandId" | "attempts" | "acceptedAt" | "startedAt"> {}

export interface PendingCommand<I extends string = string>
  extends CommandBase<I>,
    Pick<CommandView, "queuedAhead" | "estimatedWaitSeconds"> {
  readonly state: "queued" | "running";
}

export interface SucceededCommand<I extends string = string> extends CommandBase<I> {
  readonly state: "succeeded";
  readonly result: ResultOf<I>;
  readonly finishedAt: string;
}

/** `failed`: the engine's rules said no. `dead`: it could not be run; an operator can send it again. */
export interface FailedCommand<I extends string = string> extends CommandBase<I> {
  readonly state: "failed" | "dead";
  readonly error: CommandError;
  readonly finishedAt: string;
}

/** It was never run: cancelled while it was queued, or its deadline was over before it began. */
export interface DroppedCommand<I extends string = string> extends CommandBase<I> {
  readonly state: "cancelled" | "expired";
  readonly error?: CommandError;
  readonly finishedAt: string;
}

/** What became of a command that was sent. */
export type Sent<I extends string = string> =
  /** On disk. `deferred`: the queue is full, and it is taken up when that is over. */
  | AcceptedCommand<I>
  /** It ended within the wait that was asked for. */
  | { readonly outcome: "ended"; readonly commandId: string; readonly intent: I; readonly command: EndedCommand<I> };

export interface AcceptedCommand<I extends string = string> extends CommandRef<I> {
  readonly outcome: "accepted" | "deferred";
  /** As it was when the answer was made: an idle engine may have ended it already. */
  readonly state: CommandView["state"];
  /** Where to ask for it, from the server's root. */
  readonly statusUrl: string;
  readonly queuedAhead: number;
  readonly estimatedWaitSeconds: number;
}

/** May this cost be spent now? Where `allowed` is true it has been charged. */
export type CheckDecision = CheckReport &
  (
    | { readonly allowed: true }
    | (Refused & { readonly code: "rate_limited"; readonly retryAfterSeconds: number })
    /** This cost never fits under these limits; waiting does not help. */
    | (Refused & { readonly code: "cost_exceeds_capacity" })
  );

interface Refused {
  readonly allowed: false;
  /** The names of the limits that refused. */
  readonly violated: readonly string[];
}

interface CheckReport {
  /** Of the tightest policy, in whole tokens. */
  readonly remaining: number;
  /** Seconds until nothing of it is owed; null when that never comes. */
  readonly resetSeconds: number | null;
  readonly policies: readonly PolicyReport[];
}

/** The caller's own limits and what is left of them. */
export interface OwnLimits {
  readonly tenant: string;
  readonly tier: string | null;
  readonly policies: readonly PolicyReport[];
}

export type { QueueStatus } from "../core/queue-status.ts";
