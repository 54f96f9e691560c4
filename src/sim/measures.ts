/**
 * What a run is described by: counts, and distributions in bins that grow with the value, so that memory stays flat
 * however long it runs.
 */

/** A fiftieth between one bin and the next: a quantile is right within that. */
const GROWTH = 1.02;
const BINS_PER_E = 1 / Math.log(GROWTH);

/** How often which value, ≥ 0, to within a fiftieth; exact at its ends. */
export class Distribution {
  readonly #bins: number[] = [];
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  /** Null when there was none. */
  get min(): number | null {
    return this.#count === 0 ? null : this.#min;
  }

  get max(): number | null {
    return this.#count === 0 ? null : this.#max;
  }

  get mean(): number | null {
    return this.#count === 0 ? null : this.#sum / this.#count;
  }

  add(value: number): void {
    const bin = value <= 1 ? 0 : 1 + Math.floor(Math.log(value) * BINS_PER_E);
    this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
    this.#count += 1;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  /** @param share 0 to 1; @returns the upper end of the bin that it lies in; null when there was none */
  quantile(share: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.ceil(share * this.#count);
    for (const [bin, count] of this.#bins.entries()) {
      left -= count ?? 0;
      if (left <= 0) return Math.max(this.#min, Math.min(this.#max, GROWTH ** bin));
    }
    return this.#max;
  }
}

/** One moment of a run, for the picture. */
export interface Sample {
  readonly seconds: number;
  readonly depth: number;
  /** How long the oldest waits, in seconds. */
  readonly oldestSeconds: number;
  /** Since the sample before. */
  readonly offered: number;
  readonly accepted: number;
  readonly refused: number;
}

/** More samples than this say nothing more in a picture: then two become one. */
const SAMPLES_MAX = 1_200;

/** Samples of a run of any length. */
export class Timeline {
  #samples: Sample[] = [];
  #everySeconds = 1;

  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** Seconds from one sample to the next. */
  get everySeconds(): number {
    return this.#everySeconds;
  }

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length < SAMPLES_MAX) return;
    const halved: Sample[] = [];
    for (let n = 0; n + 1 < this.#samples.length; n += 2) {
      const [a, b] = [this.#samples[n], this.#samples[n + 1]];
      if (a !== undefined && b !== undefined) halved.push(together(a, b));
    }
    this.#samples = halved;
    this.#everySeconds *= 2;
  }
}

function together(a: Sample, b: Sample): Sample {
  return {
    seconds: b.seconds,
    depth: Math.max(a.depth, b.depth),
    oldestSeconds: Math.max(a.oldestSeconds, b.oldestSeconds),
    offered: a.offered + b.offered,
    accepted: a.accepted + b.accepted,
    refused: a.refused + b.refused,
  };
}
