/**
 * An answer that many ask for and few have to fetch: fetched anew while it is asked for rarely, and in a flood at most a
 * second old. Plain data: requests of one isolate share no I/O, so each fetches for itself or takes what is kept.
 */

/** The oldest that a kept answer is used at, in milliseconds. */
export const KEPT_MS_MAX = 1_000;
/** Fetches that may begin at once, so that a caller who asks now and then never reads the past. */
const FETCHES_MAX = 10;
/** A fetch comes back in so many milliseconds: twice in the life of an answer, so that one that fails leaves no gap. */
const FETCH_EVERY_MS = 500;

export type Shared<T> =
  | { readonly kind: "fetch" }
  | { readonly kind: "kept"; readonly value: T }
  /** Others fetch it, and what is kept is too old. */
  | { readonly kind: "busy" };

export class SharedAnswer<T> {
  #kept: { readonly value: T; readonly askedAtMs: number } | null = null;
  #fetches = FETCHES_MAX;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  /** What to do about a request for it. @param nowMs Unix milliseconds */
  next(nowMs: number): Shared<T> {
    this.#refill(nowMs);
    if (this.#fetches >= 1) {
      this.#fetches -= 1;
      return { kind: "fetch" };
    }
    const kept = this.#kept;
    const isFresh = kept !== null && Math.abs(nowMs - kept.askedAtMs) <= KEPT_MS_MAX;
    return isFresh ? { kind: "kept", value: kept.value } : { kind: "busy" };
  }

  /** A fetch has ended. @param askedAtMs when it began: what it says is at least as new as that */
  keep(value: T, askedAtMs: number): void {
    if (this.#kept === null || askedAtMs >= this.#kept.askedAtMs) this.#kept = { value, askedAtMs };
  }

  #refill(nowMs: number): void {
    // A clock that stepped back begins a count of its own.
    const elapsedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#fetches = Math.min(FETCHES_MAX, this.#fetches + elapsedMs / FETCH_EVERY_MS);
    this.#countedAtMs = nowMs;
  }
}
