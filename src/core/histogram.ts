/** How values are distributed, counted in fixed buckets: small enough to be kept, added and told in plain numbers. */

export interface Histogram {
  /** Values per bucket, in the order of the bounds, each on its own; the last is of those above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/**
 * Upper bounds of a command's time from acceptance to its end, in seconds: from one that found the engine idle to one that
 * waited behind a quota for an hour.
 */
export const PROCESSING_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600,
];

/** Upper bounds of what refused callers are told to wait, in seconds: 1 to 300 of an engine that is full, more of limits. */
export const RETRY_AFTER_SECONDS: readonly number[] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 300, 3600];

export function emptyHistogram(bounds: readonly number[]): Histogram {
  return { counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
}

/** Values so far, and more of them. */
export class HistogramCounter {
  readonly #bounds: readonly number[];
  #counts: number[];
  #sum = 0;

  /** @param bounds ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = [...emptyHistogram(bounds).counts];
  }

  observe(value: number): void {
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at < 0 ? this.#bounds.length : at;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Adds what somebody else has counted in the same buckets. One with other buckets is passed over. */
  add({ counts, sum }: Histogram): void {
    if (counts.length !== this.#counts.length) return;
    this.#counts = this.#counts.map((count, bucket) => count + (counts[bucket] ?? 0));
    this.#sum += sum;
  }

  get value(): Histogram {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
