import type { FieldFault, ProblemCode } from "../core/problem.ts";
import type { GiveUp } from "./retry.ts";

/**
 * What a call comes to: a value, or an error as data. A call rejects only for a mistake in its arguments; everything
 * that can go wrong on the way is a variant of {@link CallError}, and `switch (error.code)` over it is exhaustive.
 */

export type Result<T> = Success<T> | Failure;

export interface Success<T> {
  readonly ok: true;
  readonly value: T;
  readonly meta: Meta;
}

export interface Failure {
  readonly ok: false;
  readonly error: CallError;
}

/** What an answer said beside its value. */
export interface Meta {
  /** Names the request in the server's logs. */
  readonly requestId: string | null;
  /** Requests that the call took. */
  readonly attempts: number;
  /** The answer of an earlier request with the same idempotency key: nothing was done again. */
  readonly replayed: boolean;
  /** The tightest limit after this request; null where the answer speaks of none. */
  readonly rateLimit: RateLimit | null;
}

export interface RateLimit {
  readonly policy: string;
  readonly remaining: number;
  /** Seconds until the whole limit is there again; null when it never comes back. */
  readonly resetSeconds: number | null;
}

/** What one try can fail with. */
export type Fault =
  | ProblemFault
  | UnknownProblemFault
  | UnexpectedAnswerFault
  | NetworkFault
  | TimeoutFault
  | StopFault;

/** Headgate said why not. */
export interface ProblemFault extends Refusal {
  readonly code: ProblemCode;
  /** The limits that were used up. */
  readonly violatedPolicies: readonly string[];
  /** The fields of the request that are wrong. */
  readonly errors: readonly FieldFault[];
}

/** A problem with a code that this version does not know, or of another server on the way. */
export interface UnknownProblemFault extends Refusal {
  readonly code: "unknown_problem";
  readonly problemCode: string | null;
}

/**
 * Not an answer of Headgate: a page for people, broken JSON, a redirect, or more than is read. Or one with a number that
 * this JavaScript engine would round (`inexact_number`): it is not given with another number.
 */
export interface UnexpectedAnswerFault extends Refusal {
  readonly code: "unexpected_answer";
  readonly why: "not_json" | "wrong_shape" | "too_large" | "redirect" | "inexact_number";
  /** How the body begins, for a log. */
  readonly bodyStart: string;
}

interface Refusal {
  readonly status: number;
  /** A sentence for people. */
  readonly detail: string;
  /** When a new try makes sense, in whole seconds; null where nobody says. */
  readonly retryAfterSeconds: number | null;
  readonly requestId: string | null;
}

/** No answer came, or it broke off. */
export interface NetworkFault extends Silence {
  readonly code: "network";
  /** What `fetch` threw. */
  readonly cause: unknown;
}

/** No answer came in time, or a command did not end in time. */
export interface TimeoutFault extends Silence {
  readonly code: "timeout";
}

/** The caller ended it: by its signal (`cause` is the signal's reason), or because its `headers` function threw. */
export interface StopFault extends Silence {
  readonly code: "aborted" | "headers_failed";
  readonly cause: unknown;
}

interface Silence {
  readonly detail: string;
  readonly requestId: null;
}

/** How the call went that ended with a fault. */
export interface Trail {
  /** Requests that were made. */
  readonly attempts: number;
  /** Why there was no further one. */
  readonly gaveUp: GiveUp;
  /** What the try before this one failed with; null when it was the first. */
  readonly previous: Fault | null;
  /** The command that the call was about, where its id is known. It was accepted: ask for it, or wait for it. */
  readonly commandId: string | null;
  /** Sent with the command. The same command with the same key again is never a second one. */
  readonly idempotencyKey: string | null;
}

/** Why a call failed. Each variant has `code`, `detail`, `requestId` and the {@link Trail}. */
export type CallError = Fault & Trail;

/** What {@link unwrap} throws. */
export class HeadgateError extends Error {
  override readonly name = "HeadgateError";
  readonly error: CallError;

  constructor(error: CallError) {
    super(`${error.code}: ${error.detail}`, "cause" in error ? { cause: error.cause } : undefined);
    this.error = error;
  }
}

/**
 * For callers who would rather catch: `unwrap(await client.queue())`.
 *
 * @returns the value
 * @throws {HeadgateError} carrying the error
 */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new HeadgateError(result.error);
}
