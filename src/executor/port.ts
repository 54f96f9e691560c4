import type { AttemptResult } from "../core/delivery/answer.ts";
import type { JsonObject, JsonText } from "../core/json.ts";

/**
 * What stands behind the queue: one of two. The engine object hands over commands and records what became of them; an
 * executor knows nothing of queues, limits or callers.
 */

/** A command as every executor sees it. */
interface Command {
  /** The command's public key. */
  readonly id: string;
  /** Whose command it is. An executor touches only what belongs to this tenant. */
  readonly tenant: string;
  readonly intent: string;
}

export interface ExecutableCommand extends Command {
  readonly payload: JsonObject;
}

/** How a command ended: with a result, or refused by the rules of the engine (which is an answer, not a fault). */
export type Outcome =
  | { readonly state: "succeeded"; readonly result: JsonObject }
  | { readonly state: "failed"; readonly error: { readonly code: string; readonly message: string } };

/**
 * An executor whose effects live in the same SQLite as the queue. The caller wraps each call in one storage
 * transaction together with the command's record, so effect and result commit or vanish together: that is what makes
 * the effect happen exactly once.
 */
export interface TransactionalExecutor {
  /**
   * Runs one command to its end, synchronously.
   *
   * @param nowMs the time of this event, Unix milliseconds
   * @returns how it ended; a rule of the engine that says no is `failed`
   * @throws only for a bug; the caller's transaction then rolls back
   */
  execute(command: ExecutableCommand, nowMs: number): Outcome;

  /**
   * Clears what is finished and older than its time to be read, a bounded piece per call.
   *
   * @returns true when there is more to clear right away
   */
  sweep(nowMs: number): boolean;

  /**
   * How much has been worked out so far beyond what every command takes, in steps of about 10 ns. The clock stands still
   * within an event, so this is how whoever calls knows that it is time to let others have their turn.
   */
  stepsSpent(): number;

  /** What has a timer due, the longest overdue first, at most so many, of all tenants but those that are to wait. */
  dueTimers(nowMs: number, limit: number, waiting: readonly string[]): readonly DueTimers[];

  /**
   * Lets timers go off, synchronously and in a transaction of the caller's.
   *
   * @throws only for a bug; the caller's transaction then rolls back
   */
  fireTimers(due: DueTimers, nowMs: number): void;

  /** Looks at these timers again at that time only: firing them has thrown. */
  postponeTimers(due: DueTimers, untilMs: number): void;

  /** When the next timer is due of any tenant but those that wait, in Unix milliseconds; null: there is none. */
  nextTimerMs(waiting: readonly string[]): number | null;
}

/** Timers that go off together. */
export interface DueTimers {
  readonly tenant: string;
  /** Names them to the executor. */
  readonly seq: number;
}

export interface DeliverableCommand extends Command {
  /** As its caller wrote it. */
  readonly payload: JsonText;
  /** 1 for the first attempt that counts. */
  readonly attempt: number;
  /** Those of the caller's headers that the deployment lists. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * An executor somewhere else. An attempt may have had its effect whatever comes back, so the id of a command is the same
 * in all of them: that is what lets the other side do it once.
 */
export interface DeliveringExecutor {
  /** Makes one attempt. Resolves with whatever came back, at the latest at the attempt's deadline; never rejects. */
  deliver(command: DeliverableCommand): Promise<AttemptResult>;
}
