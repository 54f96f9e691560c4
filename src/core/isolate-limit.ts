import { type CompiledLimits, compileLimits, type Decision, decide } from "./limiter.ts";
import type { Meter } from "./meter.ts";
import { type Rate, tokenBucketPolicy } from "./policy.ts";

/**
 * One token bucket for each caller, kept by one isolate in memory: for what costs a caller no token of its own limits and
 * must have a bound all the same. Several isolates admit several times as much.
 */

/** About 300 bytes each. Past this the caller that was charged longest ago is forgotten, and begins with a full bucket. */
const CALLERS_MAX = 10_000;

export type LimitRefusal = Decision & { readonly outcome: "rate_limited" };

export class IsolateLimit {
  readonly #limits: CompiledLimits;
  readonly #byCaller = new Map<string, ReadonlyMap<string, Meter>>();

  /** @param name the limit, as refusals name it; @param burst tokens that may be spent at once */
  constructor(name: string, rate: Rate, burst: number) {
    this.#limits = compileLimits({ version: 0, policies: [{ ...tokenBucketPolicy(rate, burst), name }] });
  }

  /** Charges one token, or refuses. @param nowMs Unix milliseconds */
  take(caller: string, nowMs: number): Decision {
    const { decision, next } = decide(this.#byCaller.get(caller) ?? EMPTY, this.#limits, 1, nowMs);
    // Set anew, so that the order of the map is the order of charges.
    this.#byCaller.delete(caller);
    this.#byCaller.set(caller, next);
    if (this.#byCaller.size > CALLERS_MAX) this.#forgetOldest();
    return decision;
  }

  /** What {@link take} would refuse, charging nothing; null where it would not. */
  refusal(caller: string, nowMs: number): LimitRefusal | null {
    const meters = this.#byCaller.get(caller);
    if (meters === undefined) return null;
    const { decision } = decide(meters, this.#limits, 1, nowMs);
    return decision.outcome === "rate_limited" ? decision : null;
  }

  #forgetOldest(): void {
    for (const oldest of this.#byCaller.keys()) {
      this.#byCaller.delete(oldest);
      return;
    }
  }
}

const EMPTY: ReadonlyMap<string, Meter> = new Map();
