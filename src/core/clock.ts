/**
 * What a counter makes of a clock that steps back. A small step grants and charges nothing: the counter keeps its
 * later time. A far one is followed, without credit, so that nobody waits for the old time to come again.
 */

/** How far back the clock may step before a counter follows it. The longest that a step can hold refill up. */
export const CLOCK_REBASE_MS = 60_000;

/** The longest a timer is set for: what lies further ahead is looked at again. */
export const TIMER_MS_MAX = 60_000;

/** The time to go by, for a counter that stood at `lastMs`. Below `lastMs` only when the clock stepped far back. */
export function steadyTime(lastMs: number, nowMs: number): number {
  return lastMs - nowMs > CLOCK_REBASE_MS ? nowMs : Math.max(nowMs, lastMs);
}

/** Time that never goes back: a small step of the clock is waited out, a far one goes on from where time stood. */
export class SteadyTime {
  #atMs: number;
  #aheadMs = 0;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** @param nowMs Unix milliseconds; @returns milliseconds that only mean something to each other */
  at(nowMs: number): number {
    if (this.#atMs - (nowMs + this.#aheadMs) > CLOCK_REBASE_MS) this.#aheadMs = this.#atMs - nowMs;
    this.#atMs = Math.max(this.#atMs, nowMs + this.#aheadMs);
    return this.#atMs;
  }
}
