import { CLOCK_REBASE_MS, steadyTime } from "./clock.ts";
import { age, clearAtMs, type Meter, owesNothing } from "./meter.ts";
import { isSubjectId } from "./subjects.ts";

/**
 * All meters of one tenant, by id. Those of single subjects are bounded in number: callers choose them. A meter is
 * forgotten only once it owes nothing, when a new one says the same; while none can be, further subjects of a policy
 * share one meter (see `limiter.ts`), so that the bound can refuse too much and never admit too much.
 */

/**
 * Meters of single subjects in one object. About 1 kB each with the longest names, twice (memory and what is written):
 * an object has 128 MB. An object decides about 1 000 requests a second, so these are ten seconds of new subjects.
 */
export const SUBJECTS_MAX = 10_000;
/** How often all meters may be looked through for those that owe nothing: milliseconds of work, once a second. */
const SWEEP_EVERY_MS = 1_000;

/** What the limiter reads. A plain map will do where nothing has to be bounded. */
export interface Meters {
  get(id: string): Meter | undefined;
  /**
   * How many more meters of single subjects there may be, if no more than `wanted` are. It may forget some that owe
   * nothing, and so is asked before any of a request's meters is looked up.
   */
  roomFor?(wanted: number, nowMs: number): number;
  /** The latest time seen: a meter that was forgotten must not begin again before it. */
  readonly latestMs?: number;
}

export class MeterTable implements Meters {
  readonly #meters = new Map<string, Meter>();
  readonly #subjectsMax: number;
  #subjects = 0;
  #latestMs = 0;
  #sweptAtMs = 0;
  /** No meter of a subject owes nothing before this time. */
  #earliestClearMs = 0;
  #forgotten: string[] = [];

  /** @param meters may be more than the bound: there is then no room until enough of them owe nothing */
  constructor(meters: Iterable<readonly [string, Meter]> = [], subjectsMax: number = SUBJECTS_MAX) {
    this.#subjectsMax = subjectsMax;
    for (const [id, meter] of meters) {
      this.set(id, meter);
      this.#latestMs = Math.max(this.#latestMs, meter.atMs);
    }
  }

  get latestMs(): number {
    return this.#latestMs;
  }

  /** Meters of single subjects. */
  get subjects(): number {
    return this.#subjects;
  }

  get(id: string): Meter | undefined {
    return this.#meters.get(id);
  }

  entries(): Iterable<[string, Meter]> {
    return this.#meters.entries();
  }

  /**
   * Takes over what a decision made of the meters that it touched.
   *
   * @param grow whether meters that are not there yet are kept: a refusal and a look make none
   */
  commit(next: ReadonlyMap<string, Meter>, nowMs: number, grow: boolean): void {
    // A clock that stepped far back makes what was planned for later wait for nobody knows how long.
    if (this.#latestMs - nowMs > CLOCK_REBASE_MS) this.#earliestClearMs = 0;
    this.#latestMs = steadyTime(this.#latestMs, nowMs);
    for (const [id, meter] of next) {
      if (this.#meters.has(id)) this.#meters.set(id, meter);
      else if (grow && !owesNothing(meter)) this.set(id, meter);
    }
  }

  /** Puts a meter whatever it owes. */
  set(id: string, meter: Meter): void {
    if (isSubjectId(id)) {
      if (!this.#meters.has(id)) this.#subjects += 1;
      this.#earliestClearMs = Math.min(this.#earliestClearMs, clearAtMs(meter));
    }
    this.#meters.set(id, meter);
  }

  /** Forgets a meter, which owes nothing at this time. */
  forget(id: string, nowMs: number): void {
    this.#latestMs = steadyTime(this.#latestMs, nowMs);
    if (this.#meters.delete(id) && isSubjectId(id)) this.#subjects -= 1;
  }

  /** Forgets all of them, whatever they owe. */
  clear(): void {
    this.#meters.clear();
    this.#subjects = 0;
  }

  roomFor(wanted: number, nowMs: number): number {
    if (this.#subjects + wanted > this.#subjectsMax) this.#sweep(nowMs);
    return Math.min(wanted, Math.max(0, this.#subjectsMax - this.#subjects));
  }

  /** The ids of meters that made room for others since this was last asked, up to so many. */
  takeForgotten(max: number): string[] {
    return this.#forgotten.splice(0, max);
  }

  /**
   * Forgets every subject that owes nothing, not only the coldest: looking at all of them is what costs, so it is done
   * at most once a second, and not before one of them can be clear. For so long a subject may share that need not.
   */
  #sweep(nowMs: number): void {
    const atMs = steadyTime(this.#latestMs, nowMs);
    if (atMs < this.#earliestClearMs || Math.abs(atMs - this.#sweptAtMs) < SWEEP_EVERY_MS) return;
    this.#sweptAtMs = atMs;
    this.#earliestClearMs = Number.POSITIVE_INFINITY;
    for (const [id, meter] of this.#meters) {
      if (!isSubjectId(id)) continue;
      const aged = age(meter, atMs);
      if (owesNothing(aged)) {
        this.forget(id, atMs);
        this.#forgotten.push(id);
        continue;
      }
      // Only a clock that stepped far back brings a meter to an earlier time; it is then clear earlier, too.
      if (aged.atMs < meter.atMs) this.#meters.set(id, aged);
      this.#earliestClearMs = Math.min(this.#earliestClearMs, clearAtMs(aged));
    }
  }
}
