/**
 * When isolates that were refused ask again. What a limit gives back comes token by token, and isolates that each wait
 * just long enough would all come for the same one: an object of a tenant far over its limit would be asked by everybody
 * for every token. So each gets a time of its own, one token behind the other; alone, an isolate waits for its token and
 * no longer.
 */

/** An isolate that is not here is told its time as if it were alone. */
const ISOLATES_MAX = 1_000;

export class TurnsToAsk {
  /** When isolates were told to ask, Unix milliseconds. */
  readonly #told = new Map<number, number>();

  /**
   * @param isolate who asks
   * @param fitsInMs when its cost fits if nobody else comes
   * @param costMs how long the limit takes to give that cost back; 0 where it comes back all at once
   * @returns in how many milliseconds to ask again, at least `fitsInMs`
   */
  next(isolate: number, fitsInMs: number, costMs: number, nowMs: number): number {
    for (const [other, atMs] of this.#told) if (atMs <= nowMs || other === isolate) this.#told.delete(other);
    const inMs = fitsInMs + Math.ceil(this.#told.size * costMs);
    if (this.#told.size < ISOLATES_MAX) this.#told.set(isolate, nowMs + inMs);
    return inMs;
  }
}
