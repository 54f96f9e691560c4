import { type Backoff, backoffMs } from "../core/backoff.ts";

/**
 * Whether to try again after a failure, and when. Pure: state and outcome in, decision out, time and chance are
 * arguments. The client sends by it, and a simulation of many clients can call it as it is.
 *
 * Two bounds keep a fleet of clients from making an outage worse. A call has a limit of tries and of time. All calls of
 * a client share a budget: a first try earns a part of a retry, a retry spends a whole one, so that however many calls
 * fail, retries are at most `earnPercent` of the first tries and a small reserve.
 * Left to others: what an answer means (`outcome.ts`), and sending (`call.ts`).
 */

/** What came of one try. */
export type Outcome =
  /** An answer, good or bad, that a repeat would not change. */
  | { readonly kind: "final" }
  /** Refused before anything was done. */
  | { readonly kind: "refused"; readonly retryAfterMs: number | null }
  /** Nobody knows whether it was done: no answer, or one that leaves it open. */
  | { readonly kind: "doubtful"; readonly retryAfterMs: number | null };

export interface BudgetPolicy {
  /** What a first try earns, in hundredths of a retry: 20 allows one retry per five calls. Whole, ≥ 0. */
  readonly earnPercent: number;
  /** Retries that may be made before anything was earned, and the most that is ever saved up. Whole, ≥ 0. */
  readonly reserve: number;
}

export interface RetryPolicy {
  /** Tries of one call, the first included, ≥ 1. */
  readonly attemptsMax: number;
  /** The longest that one call may take, all tries and waits together, in milliseconds. */
  readonly totalMs: number;
  /** Between tries where nobody says how long to wait. */
  readonly backoff: Backoff;
  readonly budget: BudgetPolicy;
}

/** What is left of the retries that all calls of a client share, in hundredths of a retry: sums stay exact. */
export interface RetryBudget {
  readonly hundredths: number;
}

/** How a call stands after a try that failed. */
export interface RetryState {
  /** Tries so far, this one included, ≥ 1. */
  readonly attempts: number;
  /** Since the call began, in milliseconds, ≥ 0. */
  readonly elapsedMs: number;
  /** True when doing it twice is doing it once: a read, a command with a key. Else only a refusal is tried again. */
  readonly repeatable: boolean;
  readonly budget: RetryBudget;
}

/** Why there is no further try. */
export type GiveUp =
  /** A repeat would change nothing. */
  | "final"
  /** It may have been done, and a repeat might do it twice. */
  | "not_repeatable"
  /** All tries of the call are used up. */
  | "attempts"
  /** The call's time is over before the next try would make sense. */
  | "time"
  /** The client's calls have used up the retries that they share. */
  | "budget";

export type RetryDecision =
  /** Wait so long, then try once more. `next` is the state in which that try begins. */
  | { readonly retry: true; readonly waitMs: number; readonly next: RetryState }
  | { readonly retry: false; readonly why: GiveUp };

const RETRY_COST = 100;

/** Clients that were told the same time must not come back in the same moment: up to a tenth later, in these bounds. */
const JITTER_SHARE = 0.1;
const JITTER_MS_MIN = 100;
const JITTER_MS_MAX = 5_000;

/**
 * Eight tries take half a minute on average, which outlasts a restart; a minute is as long as most callers wait. A fifth
 * more load is bearable for long, and a hundred retries in reserve carry a busy client over a restart.
 */
export const DEFAULT_RETRY: RetryPolicy = {
  attemptsMax: 8,
  totalMs: 60_000,
  backoff: { baseMs: 500, maxMs: 20_000 },
  budget: { earnPercent: 20, reserve: 100 },
};

/** The budget of a new client. */
export function freshBudget({ reserve }: BudgetPolicy): RetryBudget {
  return { hundredths: reserve * RETRY_COST };
}

/** The budget after a call has made its first try. */
export function earn({ hundredths }: RetryBudget, { earnPercent, reserve }: BudgetPolicy): RetryBudget {
  // A saving of less than one retry could never be spent, whatever was earned.
  const most = Math.max(reserve, earnPercent > 0 ? 1 : 0) * RETRY_COST;
  return { hundredths: Math.min(most, hundredths + earnPercent) };
}

/**
 * @param state after the try that failed
 * @param random in [0, 1)
 * @returns a retry starts within `totalMs` and, where a time was told, never before it. A told time that does not fit
 *   into what is left gives up at once, instead of sleeping in vain. Giving up spends nothing
 */
export function decideRetry(state: RetryState, outcome: Outcome, policy: RetryPolicy, random: number): RetryDecision {
  if (outcome.kind === "final") return { retry: false, why: "final" };
  if (outcome.kind === "doubtful" && !state.repeatable) return { retry: false, why: "not_repeatable" };
  if (state.attempts >= policy.attemptsMax) return { retry: false, why: "attempts" };
  const waitMs = nextWaitMs(state, outcome.retryAfterMs, policy, random);
  if (waitMs === null) return { retry: false, why: "time" };
  const left = state.budget.hundredths - RETRY_COST;
  if (left < 0) return { retry: false, why: "budget" };
  const next = {
    ...state,
    attempts: state.attempts + 1,
    elapsedMs: state.elapsedMs + waitMs,
    budget: { hundredths: left },
  };
  return { retry: true, waitMs, next };
}

/** Null: no try fits into what is left of the call's time. */
function nextWaitMs(
  { attempts, elapsedMs }: RetryState,
  toldMs: number | null,
  { totalMs, backoff }: RetryPolicy,
  random: number,
): number | null {
  const leftMs = totalMs - elapsedMs;
  // Told to come back at once is not being told how long: many that do so together are why there is a backoff.
  if (toldMs === null || toldMs <= 0) {
    const waitMs = backoffMs(attempts, backoff, random);
    return waitMs < leftMs ? waitMs : null;
  }
  if (toldMs >= leftMs) return null;
  const jitterMs = Math.min(JITTER_MS_MAX, Math.max(JITTER_MS_MIN, toldMs * JITTER_SHARE), leftMs - toldMs);
  return toldMs + Math.floor(random * jitterMs);
}
