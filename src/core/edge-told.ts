import { type Histogram, HistogramCounter, RETRY_AFTER_SECONDS } from "./histogram.ts";
import { addCounts, NO_USAGE, type UsageCounts } from "./usage-minutes.ts";

/**
 * What an isolate at the edge has seen and the engine has not, gathered until it is told. Isolates come and go: what one
 * has not told is lost with it, so these counts may fall short of the truth and never go beyond it.
 */

/** What is told at once. Each part is optional: a Worker may be older than the object, during a deployment. */
export interface EdgeTold {
  /** Refusals that the engine has not seen, by code. */
  readonly refused?: Readonly<Record<string, number>>;
  /** What callers were told to wait, in the buckets of `RETRY_AFTER_SECONDS`. */
  readonly retryAfter?: Histogram;
  /** Requests that a limiter did not answer for. */
  readonly degraded?: number;
  /** Checks of callers that are addresses, of all together. */
  readonly addresses?: UsageCounts;
}

export class EdgeCounts {
  #refused: Record<string, number> = {};
  #retryAfter = new HistogramCounter(RETRY_AFTER_SECONDS);
  #degraded = 0;
  #addresses: UsageCounts = NO_USAGE;
  /** When the oldest of them was counted, Unix milliseconds; null: there is nothing to tell. */
  #sinceMs: number | null = null;

  refused(code: string, count: number, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#refused[code] = (this.#refused[code] ?? 0) + count;
  }

  told(seconds: number, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#retryAfter.observe(seconds);
  }

  degraded(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#degraded += 1;
  }

  address(counts: UsageCounts, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#addresses = addCounts(this.#addresses, counts);
  }

  /** For how long something has not been told, in milliseconds; 0 when there is nothing. A clock that stepped back counts. */
  untoldMs(nowMs: number): number {
    return this.#sinceMs === null ? 0 : Math.abs(nowMs - this.#sinceMs);
  }

  /** Takes everything. */
  take(): EdgeTold {
    const taken = {
      refused: this.#refused,
      retryAfter: this.#retryAfter.value,
      degraded: this.#degraded,
      addresses: this.#addresses,
    };
    this.#refused = {};
    this.#retryAfter = new HistogramCounter(RETRY_AFTER_SECONDS);
    this.#degraded = 0;
    this.#addresses = NO_USAGE;
    this.#sinceMs = null;
    return taken;
  }

  /** Takes back what could not be told. */
  giveBack({ refused = {}, retryAfter, degraded = 0, addresses = NO_USAGE }: EdgeTold, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    for (const [code, count] of Object.entries(refused)) this.#refused[code] = (this.#refused[code] ?? 0) + count;
    if (retryAfter !== undefined) this.#retryAfter.add(retryAfter);
    this.#degraded += degraded;
    this.#addresses = addCounts(this.#addresses, addresses);
  }
}
