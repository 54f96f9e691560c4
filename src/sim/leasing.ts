import { EdgeLimits } from "../core/edge-limits.ts";
import type { Asking } from "../core/held.ts";
import type { Holding } from "../core/holding.ts";
import { LEASE_GRACE_MS, type LimiterMode } from "../core/lease.ts";
import { NOBODY } from "../core/subjects.ts";
import type { SimLimiter } from "./limiter.ts";
import type { Loop } from "./loop.ts";

/**
 * An isolate that decides by leases, thinly: what `durable/limiters.ts` does around the core, for one tenant. Calls take
 * no time here.
 */

/** How long tokens are leased, in milliseconds: the deployment's default. */
const LEASE_MS = 1_000;

export interface LeasingWorld {
  readonly loop: Loop;
  /** The isolate's clock, Unix milliseconds. */
  readonly clock: () => number;
  readonly mode: LimiterMode;
  /** The object has been called. */
  readonly called: () => void;
}

export class LeasingIsolate {
  readonly #world: LeasingWorld;
  readonly #limiter: SimLimiter;
  readonly #edge: EdgeLimits;
  /** @param isolate a number of its own */
  constructor(limiter: SimLimiter, world: LeasingWorld, isolate: number) {
    this.#edge = new EdgeLimits(isolate);
    this.#limiter = limiter;
    this.#world = world;
  }

  /** Tokens that may be spent here without asking. */
  get unspent(): number {
    return this.#holding().unspent(this.#world.clock());
  }

  /** @returns whether a request of this cost is admitted */
  check(cost: number): boolean {
    const nowMs = this.#world.clock();
    const holding = this.#holding();
    const here = holding.decide(cost, nowMs);
    if (here === null) return this.#call(holding, holding.ask(this.#leaseMs, nowMs), cost);
    if (holding.isRunningOut(nowMs)) this.#call(holding, holding.ask(this.#leaseMs, nowMs, true), 0);
    return here.outcome === "allowed";
  }

  get #leaseMs(): number | null {
    return this.#world.mode === "exact" ? null : LEASE_MS;
  }

  #holding(): Holding {
    return this.#edge.holding({ limiter: "tenant", limits: this.#limiter.limits, subjects: NOBODY });
  }

  #call(holding: Holding, asking: Asking, cost: number): boolean {
    this.#world.called();
    const request = {
      cost,
      limits: this.#limiter.limits,
      isolate: this.#edge.isolate,
      lease: asking.lease,
      final: true,
    };
    const { outcome, view = null } = this.#limiter.call(request, LEASE_MS);
    const heard = holding.hear(asking, view, this.#world.clock());
    if (heard !== null && view !== null) {
      this.#world.loop.after(view.lastsMs + LEASE_GRACE_MS, () => {
        const lease = holding.end(heard);
        if (lease === null) return;
        this.#world.called();
        this.#limiter.settle(lease);
      });
    }
    return outcome === "allowed";
  }
}
