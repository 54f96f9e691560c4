/**
 * A number of operations a second that callers share: no caller uses up what others would get. Plain data of one isolate.
 *
 * Callers of this second and of the one before divide what there is. A part is kept for callers that have had nothing this
 * second, so that the first operation of a newcomer passes while others flood.
 */

/** One tenth of the operations is for callers that have had none this second. */
const PARTS_FOR_NEWCOMERS = 10;

export class FairRate {
  readonly #perSecond: number;
  #second = Number.NEGATIVE_INFINITY;
  #passed = 0;
  /** Operations that passed this second, by caller; a caller that only asked has 0. */
  #present = new Map<string, number>();
  #before = 0;

  /** @param perSecond operations of all callers together in one second of the clock, ≥ 10 */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts one operation, if the caller may have it. @param nowMs Unix milliseconds */
  take(caller: string, nowMs: number): boolean {
    this.#settle(Math.floor(nowMs / 1000));
    const own = this.#present.get(caller) ?? 0;
    // What asks is counted up to a bound: past it all have their first operation, or there is none left.
    if (own === 0 && this.#present.size < this.#perSecond) this.#present.set(caller, 0);
    const isFree = own === 0 ? this.#passed < this.#perSecond : own < this.#share() && this.#passed < this.#common();
    if (!isFree) return false;
    this.#passed += 1;
    this.#present.set(caller, own + 1);
    return true;
  }

  /** Operations a second that may go to callers that have had one already. */
  #common(): number {
    return this.#perSecond - Math.floor(this.#perSecond / PARTS_FOR_NEWCOMERS);
  }

  #share(): number {
    return Math.max(1, Math.floor(this.#common() / Math.max(1, this.#present.size, this.#before)));
  }

  #settle(second: number): void {
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#present.size : 0;
    this.#present = new Map();
    this.#passed = 0;
    this.#second = second;
  }
}
