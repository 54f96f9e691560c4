import { carryLimit, type LimitConfig, type LimitState, limitOf, onSample, startLimit } from "./limit.ts";
import {
  changeWriteRate,
  countWrite,
  startWriteRate,
  type WriteRate,
  type WriteRateState,
  writeRateAt,
} from "./write-rate.ts";

/**
 * Flow control in front of the queue: how many commands may be in flight, and how many may be written a second. It
 * counts nothing itself that could get lost: what is in flight is told by who knows it, so slots are tied to a command's
 * life and are right again after a restart.
 */

export interface FlowConfig {
  /** Null: no limit on what is in flight. */
  readonly limit: LimitConfig | null;
  /** Null: no limit on writes. */
  readonly writeRate: WriteRate | null;
}

export type FlowVerdict =
  | { readonly verdict: "pass" }
  | { readonly verdict: "request_limit"; readonly limit: number }
  | { readonly verdict: "write_limit"; readonly waitMs: number };

/** How a command left: only a success or a loss says something about load. */
export type Finish = "success" | "dropped" | "ignored";

export class FlowControl {
  #config: FlowConfig;
  #limit: LimitState | null;
  #writes: WriteRateState | null;

  /** @param random in [0, 1), for the first probe of a limit that probes */
  constructor(config: FlowConfig, nowMs: number, random: number) {
    this.#config = config;
    this.#limit = config.limit && startLimit(config.limit, random);
    this.#writes = config.writeRate && startWriteRate(config.writeRate, nowMs);
  }

  get config(): FlowConfig {
    return this.#config;
  }

  /** How many may be in flight now; null where there is no limit. */
  get limit(): number | null {
    return this.#limit && limitOf(this.#limit);
  }

  /** How many may be written a second now; null where there is no limit. */
  writesPerSecond(nowMs: number): number | null {
    const { writeRate } = this.#config;
    return this.#writes && writeRate && writeRateAt(writeRate, this.#writes.startedAtMs, nowMs);
  }

  /**
   * Other settings, while it runs. A limit that keeps its algorithm keeps what it has learned, as far as the new bounds
   * allow; what is in flight is not touched by any change.
   */
  change(config: FlowConfig, nowMs: number, random: number): void {
    const { writeRate: rateWas } = this.#config;
    if (config.limit === null) this.#limit = null;
    else if (this.#limit === null) this.#limit = startLimit(config.limit, random);
    else this.#limit = carryLimit(this.#limit, config.limit, random);
    const { writeRate: rate } = config;
    if (rate === null) this.#writes = null;
    else if (rateWas === null || this.#writes === null) this.#writes = startWriteRate(rate, nowMs);
    else this.#writes = changeWriteRate(this.#writes, rateWas, rate, nowMs);
    this.#config = config;
  }

  /**
   * Whether one more command may come in. Looks only; the write is counted by {@link written} once the command has its
   * place in the queue, in the same event.
   *
   * @param inFlight accepted and not yet processed, without this one
   */
  weigh(inFlight: number, critical: boolean, nowMs: number): FlowVerdict {
    if (critical) return { verdict: "pass" };
    const limit = this.limit;
    if (limit !== null && inFlight >= limit) return { verdict: "request_limit", limit };
    if (this.#writes === null || this.#config.writeRate === null) return { verdict: "pass" };
    const write = countWrite(this.#writes, this.#config.writeRate, false, nowMs);
    return write.verdict === "fits" ? { verdict: "pass" } : { verdict: "write_limit", waitMs: write.waitMs };
  }

  /** Counts a command that has come in. */
  written(critical: boolean, nowMs: number): void {
    if (this.#writes === null || this.#config.writeRate === null) return;
    const write = countWrite(this.#writes, this.#config.writeRate, critical, nowMs);
    if (write.verdict === "fits") this.#writes = write.next;
  }

  /**
   * A command has left. Its clock stops here, when it is processed, and not when its answer leaves.
   *
   * @param rttMs from acceptance to processed
   * @param inFlight in flight when it was accepted, itself included
   * @param random in [0, 1), for probes
   */
  finished(how: Finish, rttMs: number, inFlight: number, nowMs: number, random: number): void {
    if (how === "ignored" || this.#limit === null || this.#config.limit === null) return;
    const sample = { rttMs, inFlight, dropped: how === "dropped" };
    this.#limit = onSample(this.#limit, this.#config.limit, sample, nowMs, random);
  }
}
