import { IDLE_FLUSH_MS } from "../core/charge-ahead.ts";
import type { LeaseAsk } from "../core/lease.ts";
import type { Decision } from "../core/limiter.ts";
import type { Charged, LimiterRequest } from "../core/limiter-call.ts";
import { type Limits, rateFromNumber, tokenBucketPolicy } from "../core/policy.ts";
import type { Receipt } from "../core/receipts.ts";
import { NOBODY } from "../core/subjects.ts";
import { TenantLimits } from "../core/tenant-limits.ts";
import type { LimiterChecks } from "./limiter-checks.ts";
import type { Loop } from "./loop.ts";
import { MeterRows } from "./meter-rows.ts";
import type { Sabotage } from "./sabotage.ts";
import type { TenantSpec } from "./spec.ts";

/**
 * Layer 1's object: `core/tenant-limits.ts`, which decides all, on the simulator's clock and on rows that stand for the
 * disk. Each of its events is one commit.
 */

export interface LimiterWorld {
  readonly loop: Loop;
  /** The object's clock, Unix milliseconds. */
  readonly clock: () => number;
  readonly checks: LimiterChecks;
  readonly sabotage: Sabotage | null;
}

export class SimLimiter {
  readonly limits: Limits;
  readonly #world: LimiterWorld;
  readonly #tenant: string;
  readonly #rows = new MeterRows();
  #lives = 0;
  #life: TenantLimits;
  #lastChargeMs = 0;
  #flushPlanned = false;
  /** A charge that a request which is broken on purpose has not seen. */
  #unseen: { readonly cost: number; readonly receipt: Receipt } | null = null;

  /** @throws Error when the tenant's rate cannot be counted */
  constructor({ name, limit }: TenantSpec & { limit: NonNullable<TenantSpec["limit"]> }, world: LimiterWorld) {
    this.#world = world;
    this.#tenant = name;
    const rate = rateFromNumber(limit.perSecond);
    if (rate === null) throw new Error(`a limit of ${limit.perSecond} a second cannot be counted`);
    this.limits = { version: 1, policies: [tokenBucketPolicy(rate, limit.burst)] };
    this.#rows.isLost = world.sabotage === "forgets-debt";
    this.#life = this.#begin();
    world.checks.watch(name, limit);
  }

  /** Rows written so far, for what a check costs. */
  get rowsWritten(): number {
    return this.#rows.count;
  }

  /** One request: all of it is one event of the object. */
  check(cost: number, critical: boolean): Charged {
    if (this.#world.sabotage === "bucket-read-twice" && !critical) this.#forgetOneOfTwo();
    const { checks } = this.#world;
    const before = this.#rows.count;
    const nowMs = this.#world.clock();
    const decision = this.call({ cost, critical, limits: this.limits }, 0);
    if (decision.outcome === "allowed") {
      checks.admitted(this.#tenant, cost, critical);
      if (!critical && decision.receipt) this.#unseen = this.#unseen ? null : { cost, receipt: decision.receipt };
      return decision;
    }
    checks.refused(this.#tenant, critical, this.#rows.count > before);
    if (decision.outcome === "rate_limited" && !critical) this.#checkTimes(cost, decision.retryAfterSeconds, nowMs);
    return decision;
  }

  /** As an isolate calls it that leases; who is admitted by it is told to the checks by the isolate. */
  call(request: LimiterRequest, leaseMs: number): Charged {
    const decision = this.#life.check(request, this.#world.clock(), leaseMs);
    const charges = decision.outcome === "allowed" && request.cost > 0;
    if (charges || decision.view?.grant) this.#planFlush();
    return decision;
  }

  /** A lease has ended that nobody renewed. */
  settle(lease: LeaseAsk): void {
    this.#life.settle(lease, NOBODY, this.#world.clock());
    this.#planFlush();
  }

  /** What it would say to a request that is refused further on anyway; nothing is charged. */
  judge(cost: number, inMs = 0): Decision {
    return this.#life.check({ cost, judgeOnly: true, limits: this.limits }, this.#world.clock() + inMs, 0);
  }

  /** What was charged is given back: the request was refused further on. */
  refund(cost: number, receipt: Receipt): void {
    if (this.#life.refund(cost, receipt, NOBODY, this.#world.clock()) !== null)
      this.#world.checks.gaveBack(this.#tenant, cost);
  }

  /** Memory is gone; what is on disk is not. */
  restart(): void {
    const left = () => this.judge(0).reports[0]?.remaining ?? 0;
    const before = left();
    this.#life = this.#begin();
    this.#flushPlanned = false;
    this.#world.checks.restarted(this.#tenant, before, left());
  }

  #begin(): TenantLimits {
    return new TenantLimits(this.#rows, this.limits, [...this.#rows.written], () => this.#lives++);
  }

  #planFlush(): void {
    this.#lastChargeMs = this.#world.loop.nowMs;
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    this.#lookIdle(IDLE_FLUSH_MS);
  }

  /** Looks after so long whether the object has been idle for long enough, and else again when it will have been. */
  #lookIdle(inMs: number): void {
    const life = this.#life;
    this.#world.loop.after(inMs, () => {
      if (life !== this.#life) return;
      const leftMs = this.#lastChargeMs + IDLE_FLUSH_MS - this.#world.loop.nowMs;
      if (leftMs > 0) return this.#lookIdle(leftMs);
      this.#flushPlanned = false;
      this.#life.flush(this.#world.clock());
      this.#life.saveState();
    });
  }

  /** Enough, and not a second more than enough (invariant 5): looked at, not waited for. */
  #checkTimes(cost: number, seconds: number, nowMs: number): void {
    const told = this.#world.sabotage === "retry-after-short" ? seconds - 1 : seconds;
    const skew = nowMs - this.#world.clock();
    const fits = (ms: number) => this.judge(cost, skew + ms).outcome === "allowed";
    this.#world.checks.told(this.#tenant, told, fits(told * 1000), told > 1 && fits((told - 1) * 1000));
  }

  /** Of two requests in a row the second decides by what the first one saw. */
  #forgetOneOfTwo(): void {
    if (this.#unseen !== null) this.#life.refund(this.#unseen.cost, this.#unseen.receipt, NOBODY, this.#world.clock());
  }
}
