import { DurableObject } from "cloudflare:workers";
import { configOf } from "../config.ts";
import { IDLE_FLUSH_MS } from "../core/charge-ahead.ts";
import type { Done, EndedLease } from "../core/lease.ts";
import { type Charged, type LimiterRequest, UNKNOWN_LIMITS } from "../core/limiter-call.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/policy.ts";
import type { PolicyReport } from "../core/policy-report.ts";
import type { Receipt } from "../core/receipts.ts";
import type { Subjects } from "../core/subjects.ts";
import { TenantLimits } from "../core/tenant-limits.ts";
import { AlarmSetting } from "./alarm-setting.ts";
import { LimiterDisk } from "./limiter-disk.ts";
import { loadLimiter, type Usage } from "./limiter-store.ts";
import { UsageFlush } from "./usage-flush.ts";

/**
 * Layer 1's object: one per tenant, it holds the meters of all its policies. The decisions are `core/tenant-limits.ts`;
 * here are its clock, its disk, its timer, its alarm and the count of what it decided. It trusts its caller about who the
 * tenant is and what the cost is; HTTP is not its business.
 */
export class TenantLimiter extends DurableObject<Env> {
  readonly #limits: TenantLimits;
  #usage: Usage;
  readonly #usageFlush: UsageFlush;
  #lastUseMs = 0;
  #isActive = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = loadLimiter(ctx.storage.sql);
    const usage = () => ({ ...this.#usage, unsent: this.#usageFlush.kept });
    const disk = new LimiterDisk(ctx.storage.sql, stored, usage);
    const alarm = new AlarmSetting(ctx.storage, "limiter");
    this.#usage = stored?.usage ?? { admitted: 0, refused: 0, sinceMs: Date.now() };
    this.#usageFlush = new UsageFlush(env.DB, configOf(env), ctx.id.name, stored?.usage.unsent ?? null, {
      isActive: () => this.#isActive,
      save: () => this.#limits.saveState(),
      setAlarm: (atMs) => alarm.set(atMs),
    });
    this.#limits = new TenantLimits(disk, stored?.limits ?? DEFAULT_LIMITS, stored?.meters ?? [], Math.random);
  }

  /** Checks a cost against all policies that apply and charges them together, or not at all. */
  check(request: LimiterRequest): Charged | typeof UNKNOWN_LIMITS {
    const nowMs = Date.now();
    this.#usageFlush.heard(request.tier);
    const isTold = (version: number) => this.#limits.knows(version) && this.#usageFlush.knowsTier;
    if (request.version !== undefined && !isTold(request.version)) return UNKNOWN_LIMITS;
    const decision = this.#limits.check(request, nowMs, configOf(this.env).LEASE_MS);
    if (request.lease !== undefined) this.#count(request.lease.done, nowMs);
    const isAllowed = decision.outcome === "allowed";
    if (request.cost > 0 && !request.judgeOnly) this.#count(isAllowed ? ONE_ADMITTED : ONE_REFUSED, nowMs);
    if ((isAllowed && request.cost > 0) || decision.view?.grant) this.#used(nowMs);
    return decision;
  }

  /** Leases of an isolate are over: what it did, and what is left of its tokens. */
  settle(ended: readonly EndedLease[]): void {
    const nowMs = Date.now();
    for (const { lease, subjects } of ended) {
      this.#limits.settle(lease, subjects, nowMs);
      this.#count(lease.done, nowMs);
    }
    this.#used(nowMs);
  }

  /**
   * Gives back what was charged for a request that was then refused further on. What is written stays ahead of it.
   *
   * @returns how the policies stand now
   */
  refund(cost: number, receipt: Receipt, subjects: Subjects): readonly PolicyReport[] {
    const nowMs = Date.now();
    const given = this.#limits.refund(cost, receipt, subjects, nowMs);
    if (given !== null) this.#count({ admitted: -1, refused: 0 }, nowMs);
    return (given ?? this.#limits.look(subjects, nowMs)).reports;
  }

  /** An admin write: these limits hold from the next request on, if they are the newest. */
  apply(limits: Limits): void {
    this.#limits.adopt(limits, Date.now());
    this.#limits.saveState();
  }

  /** Commands of the tenant took so long. Where the deployment lets rates adapt, the tenant's follows. */
  observe(latenciesMs: readonly number[]): void {
    if (configOf(this.env).ADAPTIVE_TENANT_RATE === "on") this.#limits.observe(latenciesMs, Date.now());
  }

  /** Forgives what is owed: nothing is used up any more, by anyone. */
  reset(): void {
    this.#limits.reset();
  }

  /**
   * Requests decided, admitted and refused, since the time given; and of them by minute those that D1 has not heard of,
   * and a parcel that it may have heard of. Memory that is lost loses the last seconds.
   */
  usage(): { admitted: number; refused: number; since: number } & UsageFlush["unsent"] {
    const { admitted, refused, sinceMs: since } = this.#usage;
    return { admitted, refused, since, ...this.#usageFlush.unsent };
  }

  /** What was counted until the last minute's end goes to D1, whether or not anybody asks. */
  override alarm(): Promise<void> {
    return this.#usageFlush.ring();
  }

  #count({ admitted, refused }: Done, nowMs: number): void {
    if (this.#usageFlush.count(admitted, refused, nowMs)) this.#used(nowMs);
    const { admitted: before, refused: refusedBefore, sinceMs } = this.#usage;
    this.#usage = { admitted: Math.max(0, before + admitted), refused: refusedBefore + refused, sinceMs };
  }

  /** Something is to be written when the object falls idle. */
  #used(nowMs: number): void {
    this.#lastUseMs = nowMs;
    if (this.#isActive) return;
    this.#isActive = true;
    setTimeout(() => this.#whenIdle(), IDLE_FLUSH_MS);
  }

  #whenIdle(): void {
    const nowMs = Date.now();
    const idleMs = nowMs - this.#lastUseMs;
    if (idleMs >= 0 && idleMs < IDLE_FLUSH_MS) {
      // Not longer than it must be: an object that waits is paid for.
      setTimeout(() => this.#whenIdle(), IDLE_FLUSH_MS - idleMs);
      return;
    }
    this.#isActive = false;
    this.#limits.flush(nowMs);
    this.#usageFlush.whenIdle(nowMs);
  }
}

const ONE_ADMITTED: Done = { admitted: 1, refused: 0 };
const ONE_REFUSED: Done = { admitted: 0, refused: 1 };
