import { DurableObject } from "cloudflare:workers";
import { type Bucket, settle } from "../core/bucket.ts";
import { ahead, covers } from "../core/charge-ahead.ts";
import {
  type Buckets,
  type CompiledLimits,
  compileLimits,
  count,
  criticalCeiling,
  type Decision,
  decide,
  giveBack,
  judge,
  type PolicyReport,
} from "../core/limiter.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/policy.ts";
import { loadLimiter, prepareLimiter, saveBucket, saveState, type Usage } from "./limiter-store.ts";

/**
 * Layer 1's object: one per tenant, it holds the buckets of all its policies. Load, decide in core, write what must
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
}

/** After this long without a charge the exact debt is written, well before an idle object loses its memory (10 s). */
const IDLE_FLUSH_MS = 2_000;

export class TenantLimiter extends DurableObject<Env> {
  #limits: Limits;
  #tenantLimits: CompiledLimits;
  #ceiling: CompiledLimits;
  #buckets: Buckets;
  /** What an object that starts now would start from. */
  readonly #written: Map<string, Bucket>;
  #usage: Usage;
  #prepared: boolean;
  #lastChargeMs = 0;
  #flushPlanned = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = loadLimiter(ctx.storage.sql);
    this.#prepared = stored !== null;
    this.#limits = stored?.limits ?? DEFAULT_LIMITS;
    this.#tenantLimits = compileLimits(this.#limits);
    this.#ceiling = compileLimits(criticalCeiling(this.#limits));
    this.#buckets = stored?.buckets ?? new Map();
    this.#written = new Map(this.#buckets);
    this.#usage = stored?.usage ?? { admitted: 0, refused: 0, sinceMs: Date.now() };
  }

  /** Checks a cost against all policies and charges them together, or not at all. */
  check(request: LimiterRequest): Decision {
    const nowMs = Date.now();
    if (request.limits !== null && request.limits.version > this.#limits.version) this.#adopt(request.limits, nowMs);
    if (request.judgeOnly) return judge(this.#buckets, this.#tenantLimits, request.cost, nowMs);
    const decision = request.critical ? this.#checkCritical(request.cost, nowMs) : this.#check(request.cost, nowMs);
    if (request.cost === 0) return decision;
    if (decision.outcome === "allowed") {
      this.#usage = { ...this.#usage, admitted: this.#usage.admitted + 1 };
      this.#chargeDiskAhead(nowMs);
      this.#planFlush(nowMs);
    } else this.#usage = { ...this.#usage, refused: this.#usage.refused + 1 };
    return decision;
  }

  /**
   * Gives back what was charged for a request that was then refused further on. What is written stays ahead of it.
   *
   * @returns how the policies stand now
   */
  refund(cost: number): readonly PolicyReport[] {
    const { reports, next } = giveBack(this.#buckets, this.#tenantLimits, cost, Date.now());
    this.#buckets = next;
    this.#usage = { ...this.#usage, admitted: Math.max(0, this.#usage.admitted - 1) };
    return reports;
  }

  /** An admin write: these limits hold from the next request on, if they are the newest. */
  apply(limits: Limits): void {
    if (limits.version > this.#limits.version) this.#adopt(limits, Date.now());
    this.#saveState();
  }

  /** Forgives what is owed: every bucket is full again. */
  reset(): void {
    this.#buckets = new Map();
    this.#written.clear();
    if (this.#prepared) this.ctx.storage.sql.exec("DELETE FROM buckets");
  }

  /** Requests decided, admitted and refused, since the time given. Memory that is lost loses the last seconds. */
  usage(): { admitted: number; refused: number; since: number } {
    return { admitted: this.#usage.admitted, refused: this.#usage.refused, since: this.#usage.sinceMs };
  }

  #check(cost: number, nowMs: number): Decision {
    const { decision, next } = decide(this.#buckets, this.#tenantLimits, cost, nowMs);
    this.#buckets = next;
    return decision;
  }

  #checkCritical(cost: number, nowMs: number): Decision {
    const ceiling = decide(this.#buckets, this.#ceiling, cost, nowMs);
    this.#buckets = ceiling.next;
    if (ceiling.decision.outcome !== "allowed") return ceiling.decision;
    const counted = count(this.#buckets, this.#tenantLimits, cost, nowMs);
    this.#buckets = counted.next;
    return counted.decision;
  }

  /**
   * Takes newer limits. What was owed until now is settled under the old ones, and the disk is told at once: a row
   * that was written under a faster rate would otherwise forgive too much after a crash.
   */
  #adopt(limits: Limits, nowMs: number): void {
    const settled = new Map(this.#buckets);
    for (const { policy, grains } of this.#allPolicies()) {
      const bucket = settled.get(policy.name);
      if (bucket !== undefined) settled.set(policy.name, settle(bucket, grains, nowMs));
    }
    this.#buckets = settled;
    this.#limits = limits;
    this.#tenantLimits = compileLimits(limits);
    this.#ceiling = compileLimits(criticalCeiling(limits));
    if (!this.#prepared) return;
    for (const [name, bucket] of settled) this.#save(name, bucket);
    this.#saveState();
  }

  #allPolicies() {
    return [...this.#tenantLimits.policies, ...this.#ceiling.policies];
  }

  #chargeDiskAhead(nowMs: number): void {
    for (const { policy, grains } of this.#allPolicies()) {
      const bucket = this.#buckets.get(policy.name);
      if (bucket === undefined || covers(this.#written.get(policy.name), bucket, grains, nowMs)) continue;
      const firstWrite = !this.#prepared;
      this.#save(policy.name, ahead(bucket, grains));
      if (firstWrite) this.#saveState();
    }
  }

  #planFlush(nowMs: number): void {
    this.#lastChargeMs = nowMs;
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    setTimeout(() => this.#flushWhenIdle(), IDLE_FLUSH_MS);
  }

  #flushWhenIdle(): void {
    this.#flushPlanned = false;
    const nowMs = Date.now();
    const idleMs = nowMs - this.#lastChargeMs;
    if (idleMs >= 0 && idleMs < IDLE_FLUSH_MS) {
      this.#planFlush(this.#lastChargeMs);
      return;
    }
    for (const [name, bucket] of this.#buckets) {
      if (this.#written.get(name)?.debt !== bucket.debt) this.#save(name, bucket);
    }
    this.#saveState();
  }

  #save(name: string, bucket: Bucket): void {
    this.#prepare();
    saveBucket(this.ctx.storage.sql, name, bucket);
    this.#written.set(name, bucket);
  }

  #saveState(): void {
    this.#prepare();
    saveState(this.ctx.storage.sql, this.#limits, this.#usage);
  }

  #prepare(): void {
    if (!this.#prepared) prepareLimiter(this.ctx.storage.sql);
    this.#prepared = true;
  }
}
