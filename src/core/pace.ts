import { SteadyTime } from "./clock.ts";

/**
 * How fast commands really finish, and what a caller may be told from it.
 *
 * Only time in which others waited counts: what finished while nobody did says nothing about speed, and a command that
 * found the engine idle and ended in the event that brought it took no time that could be measured. A minute that has
 * not passed yet does not count either; what is older than a minute is forgotten.
 *
 * - Where it is told when work begins (an upstream): how much runs at once of late ÷ what one command took. Little's law,
 *   which is right from the first end on, also just before a batch ends, when plain counting is a whole batch short. As
 *   soon as what runs has taken longer than usual, the excess counts as time taken: a backend that goes silent is slower.
 * - Where it is told of ends only (the embedded engine): finished ÷ observed time up to the last end. The silence since
 *   then counts once it is longer than any between two ends of the last minute: before that it is only the usual gap.
 */

const BIN_MS = 1000;
const BINS = 60;
/**
 * What runs at once is looked at for so long: a quota of the backend that nobody told us of lets less run, and is seen
 * that soon. How long a command takes needs all of the minute, since ends may be rare.
 */
const LATELY_BINS = 10;
/** The clock stands still within an event, so work may seem to take no time at all. */
const OBSERVED_MIN_MS = 100;
/** A known speed counts like so much time in which it was observed: one late timer or slow job says little of a pace. */
const KNOWN_MS = 2_000;

/** What `Retry-After` of a full queue promises: 1 to 300 s, and 30 s while there is no pace. */
export const RETRY_AFTER_MAX_SECONDS = 300;
export const RETRY_AFTER_UNKNOWN_SECONDS = 30;
/** A quota of the backend that we were told of (`UPSTREAM_QUOTA_*`), as it stands now. */
export interface QuotaLevel {
  /** Commands that may start at once. */
  readonly tokens: number;
  /** Commands per second that may start when those are used up. */
  readonly perSecond: number;
}

/** How fast work starts from now on. */
export interface Speed {
  /** Measured, or known before anything is measured; null while there is no pace. */
  readonly perSecond: number | null;
  /** Null: we were told of none. */
  readonly quota: QuotaLevel | null;
}

/** Sums over the last minute, one bin a second. */
type Bins = number[];

export class Pace {
  readonly #finished: Bins = emptyBins();
  /** Of those, the ones that finished while others waited. */
  readonly #paced: Bins = emptyBins();
  /** Time in which others waited. */
  readonly #busyMs: Bins = emptyBins();
  /** The longest silence between two ends, by when it was over. */
  readonly #gapMs: Bins = emptyBins();
  /** What ran at once × how long, while others waited. */
  readonly #ranMs: Bins = emptyBins();
  /** How long the work took that is over. */
  readonly #tookMs: Bins = emptyBins();
  readonly #time: SteadyTime;
  #busy = false;
  /** Time with others waiting since the last end. */
  #silentMs = 0;
  /** Commands a second that the engine finishes at most, known before anything is measured; null: as many as it can. */
  readonly mostPerSecond: number | null;
  #running = 0;
  /** How long everything that runs has been running, together. */
  #underWayMs = 0;
  #atMs: number;

  /** @param mostPerSecond commands a second that the engine finishes at most; null: as many as it can */
  constructor(nowMs: number, mostPerSecond: number | null = null) {
    this.#time = new SteadyTime(nowMs);
    this.#atMs = nowMs;
    this.mostPerSecond = mostPerSecond;
  }

  /** Says whether there is work that waits and could run, from now on. */
  setBusy(busy: boolean, nowMs: number): void {
    this.#advance(nowMs);
    if (busy && !this.#busy) this.#silentMs = 0;
    this.#busy = busy;
  }

  /** Work on a command has begun and takes time: an attempt at an upstream. Each one is {@link stopped} once. */
  began(nowMs: number): void {
    this.#advance(nowMs);
    this.#running += 1;
  }

  /**
   * Such work is over, however it went. A command that it ended is told to {@link finished}, after this.
   *
   * @param tookMs since it began, ≥ 0
   */
  stopped(tookMs: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#running = Math.max(0, this.#running - 1);
    this.#underWayMs = this.#running === 0 ? 0 : Math.max(0, this.#underWayMs - tookMs);
    add(this.#tookMs, this.#atMs, Math.max(0, tookMs));
  }

  /** Counts commands that have just finished. */
  finished(count: number, nowMs: number): void {
    this.#advance(nowMs);
    add(this.#finished, this.#atMs, count);
    if (!this.#busy || count === 0) return;
    add(this.#paced, this.#atMs, count);
    const bin = binOf(this.#atMs);
    this.#gapMs[bin] = Math.max(this.#gapMs[bin] ?? 0, this.#silentMs);
    this.#silentMs = 0;
  }

  completedLastMinute(nowMs: number): number {
    this.#advance(nowMs);
    return sum(this.#finished);
  }

  /**
   * Commands per second; null while nothing has finished in the last minute with others waiting. The first ones may
   * finish sooner or later than an even pace has them: the measure is held to the most that is known, and below a known
   * speed that counts like {@link KNOWN_MS} of observation.
   *
   * @param knownPerSecond a speed that is known otherwise, such as a quota's; null: none is
   */
  perSecond(nowMs: number, knownPerSecond = this.mostPerSecond): number | null {
    this.#advance(nowMs);
    const measured = this.#measured();
    if (measured === null || knownPerSecond === null) return measured;
    if (measured >= knownPerSecond) return Math.min(measured, this.mostPerSecond ?? measured);
    const observedMs = sum(this.#busyMs);
    return (measured * observedMs + knownPerSecond * KNOWN_MS) / (observedMs + KNOWN_MS);
  }

  #measured(): number | null {
    const paced = sum(this.#paced);
    if (paced === 0) return null;
    const busyMs = sum(this.#busyMs);
    const tookMs = sum(this.#tookMs);
    const waited = this.#lately(this.#busyMs) > 0;
    const ranMs = waited ? this.#lately(this.#ranMs) : sum(this.#ranMs);
    if (tookMs > 0 && ranMs > 0) {
      // Only what is beyond the usual tells something: all the rest is half done on average, and says nothing new.
      const finished = sum(this.#finished);
      const overdueMs = Math.max(0, this.#underWayMs - (this.#running * tookMs) / finished);
      const atOnce = ranMs / (waited ? this.#lately(this.#busyMs) : busyMs);
      return (1000 * atOnce * finished) / (tookMs + overdueMs);
    }
    const usual = this.#silentMs <= Math.max(...this.#gapMs);
    return (paced * 1000) / Math.max(OBSERVED_MIN_MS, busyMs - (usual ? this.#silentMs : 0));
  }

  /** The sum over the last {@link LATELY_BINS} seconds. */
  #lately(bins: Bins): number {
    let total = 0;
    for (let back = 0; back < LATELY_BINS; back++) total += bins[binOf(this.#atMs - back * BIN_MS)] ?? 0;
    return total;
  }

  /** Moves time on, bin by bin; a clock that steps back moves nothing. */
  #advance(nowMs: number): void {
    const atMs = this.#time.at(nowMs);
    if (atMs === this.#atMs) return;
    this.#underWayMs += this.#running * (atMs - this.#atMs);
    if (this.#busy) this.#silentMs += atMs - this.#atMs;
    // What is older than all bins is over; of a longer leap only the last minute is told bin by bin.
    if (atMs - this.#atMs >= BINS * BIN_MS) this.#atMs = atMs - BINS * BIN_MS;
    while (this.#atMs < atMs) {
      const binEnd = this.#atMs - (this.#atMs % BIN_MS) + BIN_MS;
      const until = Math.min(binEnd, atMs);
      if (this.#busy) {
        add(this.#busyMs, this.#atMs, until - this.#atMs);
        add(this.#ranMs, this.#atMs, this.#running * (until - this.#atMs));
      }
      this.#atMs = until;
      if (until === binEnd) this.#clearBin(binOf(until));
    }
  }

  #clearBin(bin: number): void {
    const all = [this.#finished, this.#paced, this.#busyMs, this.#gapMs, this.#ranMs, this.#tookMs];
    for (const bins of all) bins[bin] = 0;
  }
}

/**
 * Seconds until so many waiting commands have started, unrounded: as long as the pace needs for them, and as long as a
 * quota needs that we were told of, whichever is longer.
 *
 * @param ahead commands that wait, ≥ 0
 * @returns null while nobody knows: there is no pace, and no quota that would hold these commands up
 */
export function secondsUntilStarted(ahead: number, { perSecond, quota }: Speed): number | null {
  const beyond = quota === null ? 0 : ahead - quota.tokens;
  const byQuota = quota === null || beyond <= 0 ? null : beyond / quota.perSecond;
  if (perSecond === null) return byQuota;
  return Math.max(ahead / perSecond, byQuota ?? 0);
}

/** Commands per second that start once the queue has drained: by the pace or the quota, whichever is slower; null: unknown. */
export function slowestPerSecond({ perSecond, quota }: Speed): number | null {
  const slowest = Math.min(perSecond ?? Number.POSITIVE_INFINITY, quota?.perSecond ?? Number.POSITIVE_INFINITY);
  return slowest === Number.POSITIVE_INFINITY ? null : slowest;
}

/**
 * How long until a command with so many ahead of it starts, in seconds, to a tenth. A number to plan with, not a
 * promise. Nothing ahead: 0. While nobody knows: 30 s.
 *
 * @param ahead commands that go before it
 */
export function estimatedWaitSeconds(ahead: number, speed: Speed): number {
  if (ahead === 0) return 0;
  const seconds = secondsUntilStarted(ahead, speed) ?? RETRY_AFTER_UNKNOWN_SECONDS;
  return Math.round(seconds * 10) / 10;
}

function emptyBins(): Bins {
  return new Array<number>(BINS).fill(0);
}

function add(bins: Bins, atMs: number, amount: number): void {
  bins[binOf(atMs)] = (bins[binOf(atMs)] ?? 0) + amount;
}

function binOf(ms: number): number {
  return Math.floor(ms / BIN_MS) % BINS;
}

function sum(bins: Bins): number {
  return bins.reduce((total, value) => total + value, 0);
}
