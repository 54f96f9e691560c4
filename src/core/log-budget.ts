/**
 * How many lines a second go into the log, however many there are to write: a flood of refusals must cost no more in the
 * log than it does at the gate, and what is left out is told as a number.
 */
export class LogBudget {
  readonly #perSecond: number;
  #second = Number.NEGATIVE_INFINITY;
  #written = 0;
  #leftOut = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** @returns how many lines were left out since the last that was written, or null: this one is, too */
  take(nowMs: number): number | null {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#written = 0;
    }
    if (this.#written >= this.#perSecond) {
      this.#leftOut += 1;
      return null;
    }
    this.#written += 1;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}
