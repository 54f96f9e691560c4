/**
 * Usage of one tenant that is not yet written down: checks by minute and tier, gathered in memory until a flush takes
 * them. Pure: when to flush is decided here, doing it is the object's business.
 *
 * A flush is a *parcel*: what was pending when it was made up, under a number. A parcel of which nobody knows whether it
 * arrived is sent again as it was, so that who keeps the numbers can tell the repeat; new counts go on gathering behind.
 */

/** Counts of checks, each ≥ 0. */
export interface UsageCounts {
  readonly admitted: number;
  readonly refused: number;
  /** Of the admitted: given back, because a later layer refused the request. */
  readonly returned: number;
}

export const NO_USAGE: UsageCounts = { admitted: 0, refused: 0, returned: 0 };

export interface MinuteUsage extends UsageCounts {
  /** Whole minutes since the epoch. */
  readonly minute: number;
  readonly tier: string;
}

export interface Parcel {
  /** Ascending within a life of the object. */
  readonly number: number;
  readonly minutes: readonly MinuteUsage[];
}

export const MINUTE_MS = 60_000;

/**
 * Entries that wait, one a minute and tier: two hours during which nothing can be written. Past it the oldest two become
 * one, so that no count is lost and only its minute is told later than it was.
 */
export const PENDING_MINUTES_MAX = 120;

export function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

export class UsageMinutes {
  /** In the order in which their minutes were begun. */
  readonly #pending: MinuteUsage[] = [];
  #sending: Parcel | null = null;
  #lastNumber = 0;

  /** Adds counts to a minute. */
  add(minute: number, tier: string, { admitted, refused, returned }: UsageCounts): void {
    const last = this.#pending.at(-1);
    if (last?.minute === minute && last.tier === tier) {
      const at = this.#pending.length - 1;
      this.#pending[at] = addUsage(last, { minute, tier, admitted, refused, returned });
      return;
    }
    this.#pending.push({ minute, tier, admitted, refused, returned });
    const [oldest, next] = this.#pending;
    if (this.#pending.length <= PENDING_MINUTES_MAX || oldest === undefined || next === undefined) return;
    this.#pending.splice(0, 2, addUsage(oldest, next));
  }

  get isEmpty(): boolean {
    return this.#sending === null && this.#pending.length === 0;
  }

  /** Counts that are in no parcel yet. Those of a parcel under way may be written down already. */
  get pending(): readonly MinuteUsage[] {
    return this.#pending;
  }

  /** Whether something of an earlier minute waits, and the present one is at least so old: a share of it, in [0, 1). */
  isDue(nowMs: number, offset: number): boolean {
    const oldest = this.#sending?.minutes[0] ?? this.#pending[0];
    if (oldest === undefined || minuteOf(nowMs) === oldest.minute) return false;
    return nowMs - minuteOf(nowMs) * MINUTE_MS >= offset * MINUTE_MS;
  }

  /** What is to be sent now: the parcel of which nobody knows, else all that is pending; null when there is nothing. */
  parcel(): Parcel | null {
    if (this.#sending === null && this.#pending.length > 0) {
      this.#lastNumber += 1;
      this.#sending = { number: this.#lastNumber, minutes: this.#pending.splice(0) };
    }
    return this.#sending;
  }

  /** The parcel under way is written down. */
  arrived(): void {
    this.#sending = null;
  }
}

/** Both together, under the later one's minute and tier. */
function addUsage(earlier: MinuteUsage, later: MinuteUsage): MinuteUsage {
  return { ...later, ...addCounts(earlier, later) };
}

export function addCounts(a: UsageCounts, b: UsageCounts): UsageCounts {
  return {
    admitted: a.admitted + b.admitted,
    refused: a.refused + b.refused,
    returned: a.returned + b.returned,
  };
}

/** Checks that were admitted and stayed so. A check may be returned in a later minute than it was admitted in. */
export function netAdmitted({ admitted, returned }: Pick<UsageCounts, "admitted" | "returned">): number {
  return Math.max(0, admitted - returned);
}
