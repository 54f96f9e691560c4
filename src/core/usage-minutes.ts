/**
 * Usage of one tenant that D1 has not been told of: checks by minute and tier, gathered until a parcel takes them. Pure:
 * when to send is decided here; sending, and keeping on disk what waits, is the object's business.
 *
 * A *parcel* is what was pending of minutes that have ended when it was made up, under a number. A parcel of which nobody
 * knows whether it arrived is sent again as it was, also by a later life of the object, so that who keeps the numbers can
 * tell the repeat; new counts go on gathering behind.
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
  /** Ascending, and never given twice to different counts. */
  readonly number: number;
  readonly minutes: readonly MinuteUsage[];
}

/** All that waits, as an object keeps it on disk. */
export interface WaitingUsage {
  /** Of the last parcel that was made up; 0: none was. */
  readonly number: number;
  /** What is in that parcel, as long as it is not known to have arrived. */
  readonly sending: readonly MinuteUsage[] | null;
  /** What is in no parcel yet. */
  readonly pending: readonly MinuteUsage[];
}

const NOTHING: WaitingUsage = { number: 0, sending: null, pending: [] };

export const MINUTE_MS = 60_000;

/**
 * Entries that wait, one a minute and tier: two hours during which nothing can be written. Past it the oldest two become
 * one, so that no count is lost and only its minute is told later than it was.
 */
export const PENDING_MINUTES_MAX = 120;

export function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** When a minute is so old: a share of it. */
function shareOf(minute: number, share: number): number {
  return Math.ceil((minute + share) * MINUTE_MS);
}

export class UsageMinutes {
  /** In the order in which their minutes were begun. */
  #pending: MinuteUsage[];
  #sending: Parcel | null;
  #lastNumber: number;

  /** @param waiting what an earlier life has kept */
  constructor({ number, sending, pending }: WaitingUsage = NOTHING) {
    this.#pending = [...pending];
    this.#sending = sending === null ? null : { number, minutes: sending };
    this.#lastNumber = number;
  }

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

  /** What is to be kept on disk. */
  get waiting(): WaitingUsage {
    return { number: this.#lastNumber, sending: this.#sending?.minutes ?? null, pending: this.#pending };
  }

  /** Whether something of an earlier minute waits, and the present one is at least so old: a share of it, in [0, 1). */
  isDue(nowMs: number, offset: number): boolean {
    const oldest = this.#oldest;
    if (oldest === null || minuteOf(nowMs) === oldest) return false;
    return nowMs >= shareOf(minuteOf(nowMs), offset);
  }

  /** When something is due, if nothing else comes: in this minute or the next. As for {@link isDue}; ≥ now. */
  dueAtMs(nowMs: number, offset: number): number {
    const present = minuteOf(nowMs);
    if (this.#oldest === present) return shareOf(present + 1, offset);
    return Math.max(nowMs, shareOf(present, offset));
  }

  /** The minute of what has waited longest. */
  get #oldest(): number | null {
    return (this.#sending?.minutes[0] ?? this.#pending[0])?.minute ?? null;
  }

  /** The parcel of which nobody knows whether it arrived; null when there is none. */
  get sending(): Parcel | null {
    return this.#sending;
  }

  /**
   * Makes up the next parcel; none may be under way. Of a minute that goes on it would take a part, and the rest would
   * cost its rows again.
   *
   * @param present the minute that goes on; null: it is taken along
   * @returns null when there is nothing to send
   */
  makeParcel(present: number | null): Parcel | null {
    const goesOn = this.#pending.filter(({ minute }) => minute === present);
    const minutes = this.#pending.filter(({ minute }) => minute !== present);
    if (minutes.length === 0) return null;
    this.#pending = goesOn;
    this.#lastNumber += 1;
    this.#sending = { number: this.#lastNumber, minutes };
    return this.#sending;
  }

  /** The parcel under way has arrived. */
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
