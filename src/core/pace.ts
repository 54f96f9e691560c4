/**
 * How fast commands really finish, and what a caller may be told from it.
 *
 * Pace is what finished in the last minute, divided by the part of that minute in which there was work: a minute that
 * has not passed yet, or in which nothing waited, says nothing about speed.
 */

const BIN_MS = 1000;
const BINS = 60;
/** The clock stands still within an event, so work may seem to take no time at all. */
const OBSERVED_MIN_MS = 100;

/** DESIGN promise "Retry-After on a full queue": 1 to 300 s, 30 s while there is no pace. */
export const RETRY_AFTER_MAX_SECONDS = 300;
export const RETRY_AFTER_UNKNOWN_SECONDS = 30;
/** A longer wait carries jitter, so that callers who were refused together do not come back together. */
const JITTER_OVER_SECONDS = 60;
const JITTER_SHARE = 0.1;

export class Pace {
  readonly #finished = new Array<number>(BINS).fill(0);
  readonly #busyMs = new Array<number>(BINS).fill(0);
  #busy = false;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Says whether there is work that runs or could run, from now on. */
  setBusy(busy: boolean, nowMs: number): void {
    this.#advance(nowMs);
    this.#busy = busy;
  }

  /** Counts commands that have just finished. */
  finished(count: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#finished[binOf(this.#atMs)] = (this.#finished[binOf(this.#atMs)] ?? 0) + count;
  }

  completedLastMinute(nowMs: number): number {
    this.#advance(nowMs);
    return sum(this.#finished);
  }

  /** Commands per second; null while nothing has finished in the last minute. */
  perSecond(nowMs: number): number | null {
    this.#advance(nowMs);
    const finished = sum(this.#finished);
    return finished === 0 ? null : (finished * 1000) / Math.max(OBSERVED_MIN_MS, sum(this.#busyMs));
  }

  /** Moves time on, bin by bin; a clock that steps back moves nothing. */
  #advance(nowMs: number): void {
    if (nowMs - this.#atMs >= BINS * BIN_MS) {
      this.#finished.fill(0);
      this.#busyMs.fill(this.#busy ? BIN_MS : 0);
      this.#atMs = nowMs;
      this.#busyMs[binOf(nowMs)] = this.#busy ? nowMs % BIN_MS : 0;
    }
    while (this.#atMs < nowMs) {
      const binEnd = this.#atMs - (this.#atMs % BIN_MS) + BIN_MS;
      const until = Math.min(binEnd, nowMs);
      if (this.#busy) this.#busyMs[binOf(this.#atMs)] = (this.#busyMs[binOf(this.#atMs)] ?? 0) + (until - this.#atMs);
      this.#atMs = until;
      if (until === binEnd) {
        this.#finished[binOf(until)] = 0;
        this.#busyMs[binOf(until)] = 0;
      }
    }
  }
}

/**
 * `Retry-After` of a full queue: jobs waiting ÷ pace.
 *
 * @param waiting commands that wait
 * @param pacePerSecond null while there is none
 * @param random a number in [0, 1), for the jitter of a long wait
 * @returns whole seconds, 1 to {@link RETRY_AFTER_MAX_SECONDS}
 */
export function queueRetryAfterSeconds(waiting: number, pacePerSecond: number | null, random: number): number {
  const plain = pacePerSecond === null ? RETRY_AFTER_UNKNOWN_SECONDS : waiting / pacePerSecond;
  const jittered = plain > JITTER_OVER_SECONDS ? plain * (1 + JITTER_SHARE * (2 * random - 1)) : plain;
  return Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil(jittered)));
}

/**
 * How long until a command with so many ahead of it starts, in seconds, to a tenth. A number to plan with, not a
 * promise. Nothing ahead: 0. While there is no pace: 30 s.
 */
export function estimatedWaitSeconds(ahead: number, pacePerSecond: number | null): number {
  if (ahead === 0) return 0;
  const seconds = pacePerSecond === null ? RETRY_AFTER_UNKNOWN_SECONDS : ahead / pacePerSecond;
  return Math.round(seconds * 10) / 10;
}

function binOf(ms: number): number {
  return Math.floor(ms / BIN_MS) % BINS;
}

function sum(bins: readonly number[]): number {
  return bins.reduce((total, value) => total + value, 0);
}
