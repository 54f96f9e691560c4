import { SteadyTime } from "./clock.ts";
import type { Asker } from "./fair-share.ts";
import {
  RETRY_AFTER_MAX_SECONDS,
  RETRY_AFTER_UNKNOWN_SECONDS,
  type Speed,
  secondsUntilStarted,
  slowestPerSecond,
} from "./pace.ts";

/**
 * `Retry-After` that hands out places (`RETRY_AFTER=places`): a queue of returns that nobody stands in. Each refused
 * caller is told the time at which all that waits now, and everybody who was told a time before, will have been
 * started; so those who come back as told find room, one after the other, and the engine never runs dry between them.
 *
 * Every tenant has a clock of its own, which runs at its part of the pace among those who have been told a time: one
 * that floods moves its own times out and nobody else's. No clock reaches far beyond the time that the queue explains:
 * a caller that asks early cannot be told from a fresh one, and hears the last place again. Nothing is kept at the door.
 *
 * The same code serves the engine's object and each isolate at the edge, which refuses without asking. They tell each
 * other what they told: `toldElsewhere` how many, `heard` which time.
 */

/** What a deployment may choose from: places handed out as below, or {@link plainRetryAfterSeconds}. */
export const RETRY_AFTER_FORMULAS = ["places", "plain"] as const;
export type RetryAfterFormula = (typeof RETRY_AFTER_FORMULAS)[number];

/** A longer wait carries jitter, so that callers who were refused together do not come back together. */
const JITTER_OVER_SECONDS = 60;
const JITTER_SHARE = 0.1;

/** Tenants with a clock. Whoever finds no place is told the time of the queue alone. */
const TENANTS_MAX = 1_000;
/** How often all clocks may be looked through for those that have passed. */
const SWEEP_EVERY_MS = 1_000;
const WAIT_MAX_MS = RETRY_AFTER_MAX_SECONDS * 1000;
/**
 * How far places reach beyond the moment at which all that waits has started: a third of the time until then, and half of
 * the second that whole seconds cost, so that no wait is half as long again as the true one. The queue is empty then and
 * takes as many as it holds at once: only callers beyond those need this. A tenant's place is kept no longer than 30 s.
 */
const SPREAD_SHARE = 1 / 3;
const SPREAD_MIN_MS = 500;
const SPREAD_MAX_MS = 30_000;

/** Until when the returns of a tenant are handed out. */
interface Clock {
  readonly untilMs: number;
  readonly weight: number;
}

export class ReturnTimes {
  readonly #clocks = new Map<string, Clock>();
  /** Of all clocks. */
  #weights = 0;
  #sweptAtMs = 0;
  readonly #time = new SteadyTime(0);

  /**
   * The time that one more refused caller is told.
   *
   * @param asker its tenant, with the weight of its tier
   * @param ahead commands that hold places: all that wait, or under a limit all that are in flight
   * @param speed how fast they start
   * @param nowMs Unix milliseconds
   * @param random in [0, 1), for the jitter of a long wait
   * @returns whole seconds, 1 to 300; 30 while nobody knows how fast work starts
   */
  tell(asker: Asker, ahead: number, speed: Speed, nowMs: number, random: number): number {
    const atMs = this.#advance(nowMs);
    const untilMs = this.#handOut(asker, 1, ahead, speed, atMs);
    return untilMs === null ? RETRY_AFTER_UNKNOWN_SECONDS : jitteredSeconds((untilMs - atMs) / 1000, random);
  }

  /** So many callers of a tenant were told a time by somebody else since this was last said. As for {@link tell}. */
  toldElsewhere(asker: Asker, count: number, ahead: number, speed: Speed, nowMs: number): void {
    if (count > 0) this.#handOut(asker, count, ahead, speed, this.#advance(nowMs));
  }

  /** In how many seconds the last caller of a tenant was told to come back, for who refuses elsewhere; null: none was. */
  lastTold(tenant: string, nowMs: number): number | null {
    const untilMs = this.#clocks.get(tenant)?.untilMs ?? 0;
    const leftMs = untilMs - this.#advance(nowMs);
    return leftMs > 0 ? leftMs / 1000 : null;
  }

  /**
   * Somebody who knows more has told a caller of this tenant to come back in so many seconds: further ones come after.
   * Those who are told less are told so because more is known; the clock follows that, too.
   */
  heard(asker: Asker, seconds: number, nowMs: number): void {
    const atMs = this.#advance(nowMs);
    this.#set(asker, atMs + Math.min(WAIT_MAX_MS, seconds * 1000));
  }

  /** Moves a tenant's clock on by so many places. @returns where it stands; null while nobody knows a pace */
  #handOut(asker: Asker, count: number, ahead: number, speed: Speed, atMs: number): number | null {
    const startedIn = secondsUntilStarted(ahead, speed);
    const perSecond = slowestPerSecond(speed);
    if (startedIn === null || perSecond === null) return null;
    const placesMs = (1000 * count) / perSecond;
    const own = this.#clocks.get(asker.tenant);
    const weights = this.#weights - (own?.weight ?? 0) + asker.weight;
    const startedAtMs = atMs + startedIn * 1000;
    const fromMs = Math.max(own?.untilMs ?? 0, startedAtMs);
    const latestMs = startedAtMs + Math.min(SPREAD_MAX_MS, SPREAD_MIN_MS + SPREAD_SHARE * startedIn * 1000);
    const untilMs = Math.min(atMs + WAIT_MAX_MS, latestMs, fromMs + (placesMs * weights) / asker.weight);
    this.#set(asker, untilMs);
    return untilMs;
  }

  #set({ tenant, weight }: Asker, untilMs: number): void {
    const own = this.#clocks.get(tenant);
    if (own === undefined && this.#clocks.size >= TENANTS_MAX) return;
    this.#clocks.set(tenant, { untilMs, weight });
    this.#weights += weight - (own?.weight ?? 0);
  }

  /** Steady time, with the clocks that have passed forgotten once a second. */
  #advance(nowMs: number): number {
    const atMs = this.#time.at(nowMs);
    if (atMs - this.#sweptAtMs >= SWEEP_EVERY_MS) this.#sweep(atMs);
    return atMs;
  }

  #sweep(atMs: number): void {
    this.#sweptAtMs = atMs;
    for (const [tenant, { untilMs, weight }] of this.#clocks) {
      if (untilMs > atMs) continue;
      this.#clocks.delete(tenant);
      this.#weights -= weight;
    }
  }
}

/**
 * A wait as a caller is told it: a long one is spread by a tenth either way, so that callers who were refused together
 * do not come back together. At the longest that may be told only downwards, or half of them would be told the same.
 *
 * @param seconds ≥ 0
 * @param random in [0, 1)
 * @returns whole seconds, rounded up, 1 to {@link RETRY_AFTER_MAX_SECONDS}
 */
export function jitteredSeconds(seconds: number, random: number): number {
  const bounded = Math.max(1, Math.min(RETRY_AFTER_MAX_SECONDS, seconds));
  if (bounded <= JITTER_OVER_SECONDS) return Math.ceil(bounded);
  const up = Math.min(JITTER_SHARE, RETRY_AFTER_MAX_SECONDS / bounded - 1);
  return Math.min(RETRY_AFTER_MAX_SECONDS, Math.ceil(bounded * (1 - JITTER_SHARE + (JITTER_SHARE + up) * random)));
}

/**
 * `Retry-After` by the plain rule (`RETRY_AFTER=plain`): waiting ÷ what finished in the last minute, as if all of that
 * minute had been observed. No quota, no jitter.
 *
 * @param waiting commands that wait
 * @param finishedLastMinute commands that finished in the last 60 s
 * @returns whole seconds, 1 to {@link RETRY_AFTER_MAX_SECONDS}; {@link RETRY_AFTER_UNKNOWN_SECONDS} while none finished
 */
export function plainRetryAfterSeconds(waiting: number, finishedLastMinute: number): number {
  if (finishedLastMinute === 0) return RETRY_AFTER_UNKNOWN_SECONDS;
  return Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(1, Math.ceil((waiting * 60) / finishedLastMinute)));
}
