/**
 * How fast commands really finish, and what a caller may be told from it.
 *
 * Pace is what finished in the last minute while others waited, divided by the time in which they did: a minute that
 * has not passed yet, or in which nothing waited, says nothing about speed. A command that found the engine idle and
 * ended in the event that brought it took no time that could be measured, so it says nothing either.
 */

const BIN_MS = 1000;
const BINS = 60;
/** The clock stands still within an event, so work may seem to take no time at all. */
const OBSERVED_MIN_MS = 100;

/** What `Retry-After` of a full queue promises: 1 to 300 s, and 30 s while there is no pace. */
export const RETRY_AFTER_MAX_SECONDS = 300;
export const RETRY_AFTER_UNKNOWN_SECONDS = 30;
/** A longer wait carries jitter, so that callers who were refused together do not come back together. */
const JITTER_OVER_SECONDS = 60;
const JITTER_SHARE = 0.1;

export class Pace {
  readonly #finished = new Array<number>(BINS).fill(0);
  /** Of those, the ones that finished while others waited. */
  readonly #paced = new Array<number>(BINS).fill(0);
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
    add(this.#finished, this.#atMs, count);
    if (this.#busy) add(this.#paced, this.#atMs, count);
  }

  completedLastMinute(nowMs: number): number {
    this.#advance(nowMs);
    return sum(this.#finished);
  }

  /** Commands per second; null while nothing has finished in the last minute with others waiting. */
  perSecond(nowMs: number): number | null {
    this.#advance(nowMs);
    const paced = sum(this.#paced);
    return paced === 0 ? null : (paced * 1000) / Math.max(OBSERVED_MIN_MS, sum(this.#busyMs));
  }

  /** Moves time on, bin by bin; a clock that steps back moves nothing. */
  #advance(nowMs: number): void {
    if (nowMs - this.#atMs >= BINS * BIN_MS) {
      this.#finished.fill(0);
      this.#paced.fill(0);
      this.#busyMs.fill(this.#busy ? BIN_MS : 0);
      this.#atMs = nowMs;
      this.#busyMs[binOf(nowMs)] = this.#busy ? nowMs % BIN_MS : 0;
    }
    while (this.#atMs < nowMs) {
      const binEnd = this.#atMs - (this.#atMs % BIN_MS) + BIN_MS;
      const until = Math.min(binEnd, nowMs);
      if (this.#busy) add(this.#busyMs, this.#atMs, until - this.#atMs);
      this.#atMs = until;
      if (until === binEnd) {
        for (const bins of [this.#finished, this.#paced, this.#busyMs]) bins[binOf(until)] = 0;
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

function add(bins: number[], atMs: number, amount: number): void {
  bins[binOf(atMs)] = (bins[binOf(atMs)] ?? 0) + amount;
}

function binOf(ms: number): number {
  return Math.floor(ms / BIN_MS) % BINS;
}

function sum(bins: readonly number[]): number {
  return bins.reduce((total, value) => total + value, 0);
}
