import type { EdgeTold } from "../core/edge-told.ts";
import { HistogramCounter, PROCESSING_SECONDS, RETRY_AFTER_SECONDS } from "../core/histogram.ts";
import { addCounts, NO_USAGE, type UsageCounts } from "../core/usage-minutes.ts";

/**
 * What an engine object measures for its operators, and what isolates have told it. In memory: a new life begins at zero,
 * as every reader of counters expects, because a refusal must not cost a row.
 */
export class EngineMetrics {
  /** From acceptance to the end of each command, in seconds. */
  readonly processing = new HistogramCounter(PROCESSING_SECONDS);
  /** What refused callers were told to wait, by the engine or without asking it, in seconds. */
  readonly retryAfter = new HistogramCounter(RETRY_AFTER_SECONDS);
  #degraded = 0;
  #addresses: UsageCounts = NO_USAGE;

  hear({ retryAfter, degraded = 0, addresses = NO_USAGE }: EdgeTold): void {
    if (retryAfter !== undefined) this.retryAfter.add(retryAfter);
    this.#degraded += degraded;
    this.#addresses = addCounts(this.#addresses, addresses);
  }

  /** Requests that no limiter answered for. */
  get degraded(): number {
    return this.#degraded;
  }

  /** Checks of callers that are addresses. */
  get addresses(): UsageCounts {
    return this.#addresses;
  }
}
