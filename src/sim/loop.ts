import { EventHeap } from "./event-heap.ts";

/**
 * Virtual time: one heap of events, and one clock that moves only when the loop moves it. What is due at the same
 * moment happens in the order in which it was planned, so a run depends on nothing but its input.
 */

/** Where virtual time begins, Unix milliseconds: a Monday, at midnight. Objects see times like those of a real clock. */
export const EPOCH_MS = Date.UTC(2024, 0, 1);

/** More than there will be events, and still exact. */
const LAST = 2 ** 52;

export class Loop {
  readonly #heap = new EventHeap();
  #nowMs = 0;
  #order = 0;
  #handled = 0;

  /** Milliseconds since the run began; may have fractions. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that have happened. */
  get handled(): number {
    return this.#handled;
  }

  /** Plans an event so many milliseconds from now, ≥ 0. */
  after(ms: number, run: () => void): void {
    this.#heap.push(this.#nowMs + Math.max(0, ms), this.#order++, run);
  }

  /** As {@link after}, behind all that is due at the same moment: who comes then finds what that has made free. */
  lastAfter(ms: number, run: () => void): void {
    this.#heap.push(this.#nowMs + Math.max(0, ms), LAST + this.#order++, run);
  }

  /**
   * Lets everything happen that is due, in order, until nothing is left or the time is over.
   *
   * @param untilMs nothing later than this happens
   * @param afterEach called after every event
   */
  run(untilMs: number, afterEach: () => void): void {
    for (let nextMs = this.#heap.nextMs; nextMs <= untilMs; nextMs = this.#heap.nextMs) {
      const run = this.#heap.pop();
      if (run === undefined) return;
      this.#nowMs = nextMs;
      this.#handled += 1;
      run();
      afterEach();
    }
  }
}
