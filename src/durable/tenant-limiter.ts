import { DurableObject } from "cloudflare:workers";
import { configOf } from "../config.ts";
import { type AdaptiveRate, FULL_RATE, observe, tierRateOf, withShare } from "../core/adaptive-rate.ts";
import { covers, IDLE_FLUSH_MS, isExact, writeAhead } from "../core/charge-ahead.ts";
import { criticalCeiling } from "../core/critical-ceiling.ts";
import {
  type CompiledLimits,
  compileLimits,
  count,
  type Decision,
  decide,
  giveBack,
  judge,
  type PolicyReport,
} from "../core/limiter.ts";
import { age, type Meter, owesNothing, type Rule } from "../core/meter.ts";
import { MeterTable } from "../core/meters.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/policy.ts";
import { type Receipt, Receipts } from "../core/receipts.ts";
import { keyOfId, NOBODY, type Subjects } from "../core/subjects.ts";
import type { MinuteUsage } from "../core/usage-minutes.ts";
import { LimiterDisk } from "./limiter-disk.ts";
import { loadLimiter, type Usage } from "./limiter-store.ts";
import { UsageFlush } from "./usage-flush.ts";

/**
 * Layer 1's object: one per tenant, it holds the meters of all its policies. Load, decide in core, write what must
 * be written, reply. It trusts its caller about who the tenant is and what the cost is; HTTP is not its business.
 */

export interface LimiterRequest {
  /** Whole tokens, ≥ 0. */
  readonly cost: number;
  /** A critical command: counted, and refused only past the ceiling against floods. */
  readonly critical: boolean;
  /** The request is refused further on whatever this says: judge it, and charge nothing. */
  readonly judgeOnly?: boolean;
  /** What the caller knows of this tenant's limits; the newest version that the object has seen holds. */
  readonly limits: Limits | null;
  /** Whose use it is within the tenant. Absent from a Worker that is older than the object, during a deployment. */
  readonly subjects?: Subjects;
  /** The tier that the tenant is in, as far as the caller knows. */
  readonly tier?: string | null;
}

/** A decision, with the receipt of its charge where there was one that can be given back. */
export type Charged = Decision & { readonly receipt?: Receipt };

/** Rows of forgotten meters that go with one new row. Each was one new row: so they come to an end, and never pile up. */
const FORGOTTEN_ROWS_A_WRITE = 64;

export class TenantLimiter extends DurableObject<Env> {
  #limits: Limits;
  #rate: AdaptiveRate = FULL_RATE;
  #tenantLimits: CompiledLimits;
  #ceiling: CompiledLimits;
  /** The rules of all policies, by what the ids of their meters begin with. */
  #rules: ReadonlyMap<string, Rule>;
  readonly #meters: MeterTable;
  readonly #disk: LimiterDisk;
  #usage: Usage;
  readonly #usageFlush: UsageFlush;
  #lastChargeMs = 0;
  readonly #receipts = new Receipts(Math.random());
  #flushPlanned = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = loadLimiter(ctx.storage.sql);
    this.#disk = new LimiterDisk(ctx.storage.sql, stored);
    this.#limits = stored?.limits ?? DEFAULT_LIMITS;
    this.#tenantLimits = compileLimits(this.#limits);
    this.#ceiling = compileLimits(criticalCeiling(this.#limits));
    this.#rules = rulesOf(this.#tenantLimits, this.#ceiling);
    this.#meters = new MeterTable(stored?.meters);
    this.#usage = stored?.usage ?? { admitted: 0, refused: 0, sinceMs: Date.now() };
    this.#usageFlush = new UsageFlush(env.DB, configOf(env), ctx.id.name);
  }

  /** Checks a cost against all policies that apply and charges them together, or not at all. */
  check(request: LimiterRequest): Charged {
    const nowMs = Date.now();
    const { cost, critical, limits, subjects = NOBODY } = request;
    if (limits !== null && limits.version > this.#limits.version) this.#adopt(limits, nowMs);
    if (request.judgeOnly) return judge(this.#meters, this.#tenantLimits, cost, nowMs, subjects);
    const decision: Charged = critical
      ? this.#checkCritical(cost, nowMs, subjects)
      : this.#check(cost, nowMs, subjects);
    if (cost === 0) return decision;
    const passed = decision.outcome === "allowed";
    this.#usageFlush.count(passed ? 1 : 0, passed ? 0 : 1, nowMs, request.tier);
    if (passed) {
      this.#usage = { ...this.#usage, admitted: this.#usage.admitted + 1 };
      this.#planFlush(nowMs);
    } else this.#usage = { ...this.#usage, refused: this.#usage.refused + 1 };
    return decision;
  }

  /**
   * Gives back what was charged for a request that was then refused further on. What is written stays ahead of it.
   *
   * @returns how the policies stand now
   */
  refund(cost: number, receipt: Receipt, subjects: Subjects): readonly PolicyReport[] {
    const nowMs = Date.now();
    const since = this.#receipts.giveBack(receipt, cost);
    if (since === null) return judge(this.#meters, this.#tenantLimits, 0, nowMs, subjects).reports;
    const given = giveBack(this.#meters, this.#tenantLimits, cost, receipt.ids, since, nowMs, subjects);
    this.#keep(given.next, nowMs, false);
    this.#usage = { ...this.#usage, admitted: Math.max(0, this.#usage.admitted - 1) };
    this.#usageFlush.count(-1, 0, nowMs);
    return given.decision.reports;
  }

  /** An admin write: these limits hold from the next request on, if they are the newest. */
  apply(limits: Limits): void {
    if (limits.version > this.#limits.version) this.#adopt(limits, Date.now());
    this.#saveState();
  }

  /**
   * Commands of the tenant took so long. Where the deployment lets rates adapt, the tenant's follows; a new life of the
   * object, and new limits, begin with the full rate. What is owed stays as it is.
   */
  observe(latenciesMs: readonly number[]): void {
    const tierRate = tierRateOf(this.#limits);
    if (tierRate === null || configOf(this.env).ADAPTIVE_TENANT_RATE === "off") return;
    const before = this.#rate.share;
    this.#rate = observe(this.#rate, latenciesMs, tierRate);
    if (this.#rate.share !== before) this.#compile(Date.now());
  }

  /** Forgives what is owed: nothing is used up any more, by anyone. */
  reset(): void {
    this.#meters.clear();
    this.#disk.deleteAll();
  }

  /** Requests decided, admitted and refused, since the time given. Memory that is lost loses the last seconds. */
  usage(): { admitted: number; refused: number; since: number; pending: readonly MinuteUsage[] } {
    const { admitted, refused, sinceMs: since } = this.#usage;
    return { admitted, refused, since, pending: this.#usageFlush.pending };
  }

  #check(cost: number, nowMs: number, subjects: Subjects): Charged {
    const { decision, next } = decide(this.#meters, this.#tenantLimits, cost, nowMs, subjects);
    const charged = decision.outcome === "allowed" && cost > 0;
    this.#keep(next, nowMs, charged);
    if (!charged) return decision;
    return { ...decision, receipt: this.#receipts.charged(cost, next.keys()) };
  }

  #checkCritical(cost: number, nowMs: number, subjects: Subjects): Decision {
    const ceiling = decide(this.#meters, this.#ceiling, cost, nowMs);
    const passes = ceiling.decision.outcome === "allowed";
    this.#keep(ceiling.next, nowMs, passes && cost > 0);
    if (!passes) return ceiling.decision;
    const counted = count(this.#meters, this.#tenantLimits, cost, nowMs, subjects);
    this.#keep(counted.next, nowMs, cost > 0);
    // Counted only as far as there was something to count it against: nobody knows how much to give back.
    this.#receipts.charged(cost, counted.next.keys());
    return counted.decision;
  }

  /** Takes over a decision; after a charge the disk is charged ahead where it no longer covers memory. */
  #keep(next: ReadonlyMap<string, Meter>, nowMs: number, charged: boolean): void {
    this.#meters.commit(next, nowMs, charged);
    if (!charged) return;
    for (const [id, meter] of next) {
      const rule = this.#rules.get(keyOfId(id));
      const row = rule === undefined ? null : writeAhead(rule, this.#disk.written.get(id), meter);
      if (row === null) continue;
      const firstWrite = !this.#disk.isPrepared;
      if (!this.#disk.written.has(id)) this.#deleteForgotten();
      this.#disk.save(id, row);
      if (firstWrite) this.#saveState();
    }
  }

  /**
   * Takes newer limits. What was owed until now is settled under the old ones, and the disk is told at once: a row
   * that was written under a faster rate would otherwise forgive too much after a crash.
   */
  #adopt(limits: Limits, nowMs: number): void {
    this.#limits = limits;
    this.#rate = FULL_RATE;
    this.#compile(nowMs);
  }

  /** Goes by the present limits and rate from now on. */
  #compile(nowMs: number): void {
    this.#tenantLimits = compileLimits(withShare(this.#limits, this.#rate.share));
    this.#ceiling = compileLimits(criticalCeiling(this.#limits));
    this.#rules = rulesOf(this.#tenantLimits, this.#ceiling);
    for (const [id, meter] of this.#meters.entries()) {
      const rule = this.#rules.get(keyOfId(id));
      // One whose policy is gone goes on as it was, should it come back.
      if (rule === undefined) continue;
      const settled = rule.settle(meter, nowMs);
      this.#meters.set(id, settled);
      if (!covers(this.#disk.written.get(id), settled)) this.#disk.save(id, settled);
    }
    if (this.#disk.hasRows) this.#saveState();
  }

  #planFlush(nowMs: number): void {
    this.#lastChargeMs = nowMs;
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    setTimeout(() => this.#flushWhenIdle(), IDLE_FLUSH_MS);
  }

  /** Writes what is owed exactly, and forgets whatever owes nothing. */
  #flushWhenIdle(): void {
    this.#flushPlanned = false;
    const nowMs = Date.now();
    const idleMs = nowMs - this.#lastChargeMs;
    if (idleMs >= 0 && idleMs < IDLE_FLUSH_MS) {
      this.#planFlush(this.#lastChargeMs);
      return;
    }
    // Every meter that owes something has a row.
    for (const [id, row] of this.#disk.written) {
      const meter = this.#meters.get(id);
      if (meter === undefined || owesNothing(age(meter, nowMs))) {
        this.#meters.forget(id, nowMs);
        this.#disk.delete(id);
      } else if (!isExact(row, meter)) this.#disk.save(id, meter);
    }
    this.#saveState();
  }

  #deleteForgotten(): void {
    for (const id of this.#meters.takeForgotten(FORGOTTEN_ROWS_A_WRITE)) {
      if (this.#disk.written.has(id) && this.#meters.get(id) === undefined) this.#disk.delete(id);
    }
  }

  #saveState(): void {
    this.#disk.saveState(this.#limits, this.#usage);
  }
}

function rulesOf(...limits: readonly CompiledLimits[]): ReadonlyMap<string, Rule> {
  return new Map(limits.flatMap(({ policies }) => policies.map(({ key, rule }) => [key, rule] as const)));
}
