import { IDLE_FLUSH_MS, isExact, writeAhead } from "../core/charge-ahead.ts";
import { criticalCeiling } from "../core/critical-ceiling.ts";
import { type CompiledLimits, compileLimits, count, type Decision, decide, giveBack, judge } from "../core/limiter.ts";
import { age, type Meter, owesNothing, type Rule } from "../core/meter.ts";
import { MeterTable } from "../core/meters.ts";
import { type Limits, rateFromNumber, tokenBucketPolicy } from "../core/policy.ts";
import { type Receipt, Receipts } from "../core/receipts.ts";
import type { LimiterChecks } from "./limiter-checks.ts";
import type { Loop } from "./loop.ts";
import type { Sabotage } from "./sabotage.ts";
import type { TenantSpec } from "./spec.ts";

/**
 * Layer 1's object, thinly: what `durable/tenant-limiter.ts` does around the core, without the platform. Its rows stand
 * for the disk; each of its events is one commit. All arithmetic is the core's.
 */

export interface LimiterWorld {
  readonly loop: Loop;
  /** The object's clock, Unix milliseconds. */
  readonly clock: () => number;
  readonly checks: LimiterChecks;
  readonly sabotage: Sabotage | null;
}

export type Charged = Decision & { readonly receipt?: Receipt };

export class SimLimiter {
  readonly #world: LimiterWorld;
  readonly #tenant: string;
  readonly #limits: CompiledLimits;
  readonly #ceiling: CompiledLimits;
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #rows = new Map<string, Meter>();
  #life = 0;
  #meters = new MeterTable();
  #receipts = new Receipts(0);
  #lastChargeMs = 0;
  #flushPlanned = false;
  #rowsWritten = 0;
  /** What a request that is broken on purpose decided by. */
  #stale: ReadonlyMap<string, Meter> | null = null;

  /** @throws Error when the tenant's rate cannot be counted */
  constructor({ name, limit }: TenantSpec & { limit: NonNullable<TenantSpec["limit"]> }, world: LimiterWorld) {
    this.#world = world;
    this.#tenant = name;
    const rate = rateFromNumber(limit.perSecond);
    if (rate === null) throw new Error(`a limit of ${limit.perSecond} a second cannot be counted`);
    const limits: Limits = { version: 1, policies: [tokenBucketPolicy(rate, limit.burst)] };
    this.#limits = compileLimits(limits);
    this.#ceiling = compileLimits(criticalCeiling(limits));
    const all = [this.#limits, this.#ceiling].flatMap(({ policies }) => policies);
    this.#rules = new Map(all.map(({ key, rule }) => [key, rule]));
    world.checks.watch(name, limit);
  }

  /** Rows written so far, for what a check costs. */
  get rowsWritten(): number {
    return this.#rowsWritten;
  }

  /** One request: all of it is one event of the object. */
  check(cost: number, critical: boolean): Charged {
    const nowMs = this.#world.clock();
    const { checks } = this.#world;
    const before = this.#rowsWritten;
    const decision = critical ? this.#checkCritical(cost, nowMs) : this.#check(cost, nowMs);
    if (decision.outcome === "allowed") {
      checks.admitted(this.#tenant, cost, critical);
      this.#planFlush();
      return decision;
    }
    checks.refused(this.#tenant, critical, this.#rowsWritten > before);
    if (decision.outcome === "rate_limited" && !critical) this.#checkTimes(cost, decision.retryAfterSeconds, nowMs);
    return decision;
  }

  /** What it would say to a request that is refused further on anyway; nothing is charged. */
  judge(cost: number): Decision {
    return judge(this.#meters, this.#limits, cost, this.#world.clock());
  }

  /** What was charged is given back: the request was refused further on. */
  refund(cost: number, receipt: Receipt): void {
    const nowMs = this.#world.clock();
    const since = this.#receipts.giveBack(receipt, cost);
    if (since === null) return;
    this.#meters.commit(giveBack(this.#meters, this.#limits, cost, receipt.ids, since, nowMs).next, nowMs, false);
    this.#world.checks.gaveBack(this.#tenant, cost);
  }

  /** Memory is gone; what is on disk is not. */
  restart(): void {
    const nowMs = this.#world.clock();
    const left = () => decide(this.#meters, this.#limits, 0, nowMs).decision.reports[0]?.remaining ?? 0;
    const before = left();
    this.#life += 1;
    this.#meters = new MeterTable(this.#rows);
    this.#receipts = new Receipts(this.#life);
    this.#flushPlanned = false;
    this.#world.checks.restarted(this.#tenant, before, left());
  }

  #check(cost: number, nowMs: number): Charged {
    const { decision, next } = decide(this.#metersSeen(), this.#limits, cost, nowMs);
    const charged = decision.outcome === "allowed";
    this.#keep(next, nowMs, charged);
    return charged ? { ...decision, receipt: this.#receipts.charged(cost, next.keys()) } : decision;
  }

  #checkCritical(cost: number, nowMs: number): Decision {
    const ceiling = decide(this.#meters, this.#ceiling, cost, nowMs);
    const passes = ceiling.decision.outcome === "allowed";
    this.#keep(ceiling.next, nowMs, passes);
    if (!passes) return ceiling.decision;
    const counted = count(this.#meters, this.#limits, cost, nowMs);
    this.#keep(counted.next, nowMs, true);
    this.#receipts.charged(cost, counted.next.keys());
    return counted.decision;
  }

  #keep(next: ReadonlyMap<string, Meter>, nowMs: number, charged: boolean): void {
    this.#meters.commit(next, nowMs, charged);
    if (!charged || this.#world.sabotage === "forgets-debt") return;
    for (const [id, meter] of next) {
      const rule = this.#rules.get(id);
      const row = rule === undefined ? null : writeAhead(rule, this.#rows.get(id), meter);
      if (row !== null) this.#write(id, row);
    }
  }

  #write(id: string, row: Meter): void {
    this.#rows.set(id, row);
    this.#rowsWritten += 1;
  }

  #planFlush(): void {
    this.#lastChargeMs = this.#world.loop.nowMs;
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    const life = this.#life;
    this.#world.loop.after(IDLE_FLUSH_MS, () => {
      if (life === this.#life) this.#flushWhenIdle();
    });
  }

  /** Writes what is owed exactly, and forgets what owes nothing. */
  #flushWhenIdle(): void {
    this.#flushPlanned = false;
    if (this.#world.loop.nowMs - this.#lastChargeMs < IDLE_FLUSH_MS) {
      this.#planFlushAgain();
      return;
    }
    const nowMs = this.#world.clock();
    for (const [id, meter] of [...this.#meters.entries()]) {
      if (owesNothing(age(meter, nowMs))) {
        this.#meters.forget(id, nowMs);
        if (this.#rows.delete(id)) this.#rowsWritten += 1;
      } else if (!isExact(this.#rows.get(id), meter)) this.#write(id, meter);
    }
  }

  #planFlushAgain(): void {
    const lastChargeMs = this.#lastChargeMs;
    this.#planFlush();
    this.#lastChargeMs = lastChargeMs;
  }

  /** Enough, and not a second more than enough (invariant 5): looked at, not waited for. */
  #checkTimes(cost: number, seconds: number, nowMs: number): void {
    const told = this.#world.sabotage === "retry-after-short" ? seconds - 1 : seconds;
    const fits = (ms: number) => decide(this.#meters, this.#limits, cost, nowMs + ms).decision.outcome === "allowed";
    this.#world.checks.told(this.#tenant, told, fits(told * 1000), told > 1 && fits((told - 1) * 1000));
  }

  /** The meters a request decides by. Broken on purpose, two in a row decide by the same. */
  #metersSeen(): MeterTable | ReadonlyMap<string, Meter> {
    if (this.#world.sabotage !== "bucket-read-twice") return this.#meters;
    const seen = this.#stale ?? new Map(this.#meters.entries());
    this.#stale = this.#stale === null ? seen : null;
    return seen;
  }
}
