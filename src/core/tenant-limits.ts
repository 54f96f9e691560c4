import { type AdaptiveRate, FULL_RATE, observe, tierRateOf, withShare } from "./adaptive-rate.ts";
import { isExact, type MeterDisk, writeAhead } from "./charge-ahead.ts";
import { criticalCeiling } from "./critical-ceiling.ts";
import { type LeaseAsk, NO_LEASE, type View } from "./lease.ts";
import { lend, settleLease, waitFor } from "./lending.ts";
import { type CompiledLimits, compileLimits, count, type Decision, decide, giveBack, judge } from "./limiter.ts";
import type { Charged, LimiterRequest } from "./limiter-call.ts";
import { age, type Meter, owesNothing, type Rule } from "./meter.ts";
import { MeterTable } from "./meters.ts";
import type { Limits } from "./policy.ts";
import { tightest } from "./policy-report.ts";
import { type Receipt, Receipts } from "./receipts.ts";
import { keyOfId, NOBODY, type Subjects } from "./subjects.ts";
import { TurnsToAsk } from "./turns-to-ask.ts";

/**
 * All that one tenant's limits have counted, and what is on disk of it: what layer 1's object does with a request. The
 * object and the simulator put it on their clocks and disks.
 */

/** Rows of forgotten meters that go with one new row. Each was one new row: so they come to an end, and never pile up. */
const FORGOTTEN_ROWS_A_WRITE = 64;

export class TenantLimits {
  readonly #disk: MeterDisk;
  readonly #newLife: () => number;
  readonly #meters: MeterTable;
  #limits: Limits;
  #rate: AdaptiveRate = FULL_RATE;
  #tenantLimits: CompiledLimits;
  #ceiling: CompiledLimits;
  /** The rules of all policies, by what the ids of their meters begin with. */
  #rules: ReadonlyMap<string, Rule>;
  #receipts: Receipts;
  readonly #turns = new TurnsToAsk();
  /** Counts what changed the meters, so that an isolate's view of them can be told to be the last word. */
  #change = 0;

  /**
   * @param stored what an earlier life wrote
   * @param newLife gives a number that no other life has
   */
  constructor(disk: MeterDisk, limits: Limits, stored: Iterable<readonly [string, Meter]>, newLife: () => number) {
    this.#disk = disk;
    this.#newLife = newLife;
    this.#limits = limits;
    this.#tenantLimits = compileLimits(limits);
    this.#ceiling = compileLimits(criticalCeiling(limits));
    this.#rules = rulesOf(this.#tenantLimits, this.#ceiling);
    this.#meters = new MeterTable(stored);
    this.#receipts = new Receipts(newLife());
  }

  /** Checks a cost against all policies that apply and charges them together, or not at all. */
  check(request: LimiterRequest, nowMs: number, leaseMs: number): Charged {
    const { cost, critical, limits, subjects = NOBODY, lease = NO_LEASE } = request;
    if (limits) this.adopt(limits, nowMs);
    if (lease.held) this.#endLease(lease, subjects, nowMs);
    const decided = request.judgeOnly
      ? judge(this.#meters, this.#tenantLimits, cost, nowMs, subjects)
      : critical
        ? this.#checkCritical(cost, nowMs, subjects)
        : this.#check(cost, nowMs, subjects, request.final === true);
    // Limits that the isolate does not know yet, or that it cannot know, it cannot go by.
    const isKnown = (limits?.version ?? request.version) === this.#limits.version && this.#rate.share === 1;
    if (request.isolate === undefined || critical || !isKnown) return decided;
    const charged = decided.outcome === "allowed" && !request.judgeOnly ? cost : null;
    const asksForNothing = lease.want + lease.kept === 0;
    // Most of what is decided exactly: there is nothing to lend, and as much again would fit.
    if (charged !== null && asksForNothing && charged <= (tightest(decided.reports)?.remaining ?? 0)) return decided;
    const view = this.#lend(charged, lease, subjects, nowMs, leaseMs);
    if (view === null) return decided;
    if (view.grant !== null || request.judgeOnly) return { ...decided, view };
    const { fitsInMs, costMs } = waitFor(view, this.#tenantLimits, cost);
    const asksInMs = this.#turns.next(request.isolate, fitsInMs, costMs, nowMs);
    return { ...decided, view: asksInMs > fitsInMs ? { ...view, turn: { cost, fitsInMs, asksInMs } } : view };
  }

  /** Whether it goes by limits of this version, or newer ones. */
  knows(version: number): boolean {
    return version <= this.#limits.version;
  }

  /** An isolate's lease is over and it asks for nothing. */
  settle(lease: LeaseAsk, subjects: Subjects, nowMs: number): void {
    this.#endLease(lease, subjects, nowMs);
  }

  /**
   * Gives back what was charged for a request that was then refused further on, once.
   *
   * @returns how the policies stand now; null when nothing could be given back
   */
  refund(cost: number, receipt: Receipt, subjects: Subjects, nowMs: number): Decision | null {
    const since = this.#receipts.giveBack(receipt, cost);
    if (since === null) return null;
    const given = giveBack(this.#meters, this.#tenantLimits, cost, receipt.ids, since, nowMs, subjects);
    this.#keep(given.next, nowMs, 1);
    this.#change += 1;
    return given.decision;
  }

  /** How the policies stand. */
  look(subjects: Subjects, nowMs: number): Decision {
    return judge(this.#meters, this.#tenantLimits, 0, nowMs, subjects);
  }

  /** These limits hold from now on, if they are the newest. */
  adopt(limits: Limits, nowMs: number): void {
    if (limits.version <= this.#limits.version) return;
    this.#limits = limits;
    this.#rate = FULL_RATE;
    this.#compile(nowMs);
  }

  /** Writes the limits down, whether or not anything was ever charged. */
  saveState(): void {
    this.#disk.saveState(this.#limits);
  }

  /**
   * Commands of the tenant took so long, and its rate follows; new limits, and a new life, begin with the full rate.
   * What is owed stays as it is.
   */
  observe(latenciesMs: readonly number[], nowMs: number): void {
    const tierRate = tierRateOf(this.#limits);
    if (tierRate === null) return;
    const before = this.#rate.share;
    this.#rate = observe(this.#rate, latenciesMs, tierRate);
    if (this.#rate.share !== before) this.#compile(nowMs);
  }

  /** Forgives what is owed: nothing is used up any more, by anyone. Of what was charged nothing can be given back. */
  reset(): void {
    this.#meters.clear();
    this.#disk.deleteAll();
    this.#receipts = new Receipts(this.#newLife());
    this.#change += 1;
  }

  /** Writes what is owed exactly, and forgets whatever owes nothing. */
  flush(nowMs: number): void {
    // Every meter that owes something has a row.
    for (const [id, row] of this.#disk.written) {
      const meter = this.#meters.get(id);
      if (meter !== undefined && !owesNothing(age(meter, nowMs))) {
        if (!isExact(row, meter)) this.#disk.save(id, meter);
        continue;
      }
      this.#meters.forget(id, nowMs);
      // A row that owes nothing any more says the same as none, and will be used again where it is the whole tenant's.
      if (!this.#rules.has(id) || !owesNothing(age(row, nowMs))) this.#disk.delete(id);
    }
  }

  #check(cost: number, nowMs: number, subjects: Subjects, isFinal: boolean): Charged {
    const { decision, next } = decide(this.#meters, this.#tenantLimits, cost, nowMs, subjects);
    const charged = decision.outcome === "allowed" && cost > 0;
    this.#keep(next, nowMs, charged ? cost : 0);
    if (!charged) return decision;
    const receipt = this.#charged(cost, next);
    return isFinal ? decision : { ...decision, receipt };
  }

  #checkCritical(cost: number, nowMs: number, subjects: Subjects): Decision {
    const ceiling = decide(this.#meters, this.#ceiling, cost, nowMs);
    const passes = ceiling.decision.outcome === "allowed";
    this.#keep(ceiling.next, nowMs, passes ? cost : 0);
    if (!passes) return ceiling.decision;
    const counted = count(this.#meters, this.#tenantLimits, cost, nowMs, subjects);
    this.#keep(counted.next, nowMs, cost);
    // Counted only as far as there was something to count it against: nobody knows how much to give back.
    this.#charged(cost, counted.next);
    return counted.decision;
  }

  #charged(cost: number, next: ReadonlyMap<string, Meter>): Receipt {
    this.#change += 1;
    return this.#receipts.charged(cost, next.keys());
  }

  #endLease({ held, kept }: LeaseAsk, subjects: Subjects, nowMs: number): void {
    if (held === null) return;
    const lease = { held, kept };
    const ended = settleLease(lease, this.#change, this.#receipts, this.#meters, this.#tenantLimits, subjects, nowMs);
    if (ended === null) return;
    this.#keep(ended, nowMs, 1);
    this.#change += 1;
  }

  /** Shows how the meters stand and lends what it may; null where an isolate could not go by it. */
  #lend(charged: number | null, lease: LeaseAsk, subjects: Subjects, nowMs: number, leaseMs: number): View | null {
    const lent = lend(charged, lease, this.#meters, this.#tenantLimits, subjects, nowMs, leaseMs);
    if (lent === null || !lent.holds) return lent?.view ?? null;
    this.#keep(lent.next, nowMs, lent.tokens > 0 ? 1 : 0);
    const receipt = this.#charged(lent.tokens, lent.next);
    return { ...lent.view, grant: { tokens: lent.tokens, receipt, change: this.#change } };
  }

  /** Takes over a decision, and has it on disk. @param cost of one request; 1 for what many share; 0: nothing changed */
  #keep(next: ReadonlyMap<string, Meter>, nowMs: number, cost: number): void {
    this.#meters.commit(next, nowMs, cost > 0);
    if (cost === 0) return;
    for (const [id, meter] of next) {
      const rule = this.#rules.get(keyOfId(id));
      const row = rule === undefined ? null : writeAhead(rule, this.#disk.written.get(id), meter, cost);
      if (row === null) continue;
      const firstWrite = !this.#disk.isPrepared;
      if (!this.#disk.written.has(id)) this.#deleteForgotten();
      this.#disk.save(id, row);
      if (firstWrite) this.saveState();
    }
  }

  /**
   * Goes by the present limits and rate from now on. What was owed until now is settled under the old ones, and the disk
   * is told at once: a row that was written under a faster rate would otherwise forgive too much after a crash.
   */
  #compile(nowMs: number): void {
    this.#change += 1;
    this.#tenantLimits = compileLimits(withShare(this.#limits, this.#rate.share));
    this.#ceiling = compileLimits(criticalCeiling(this.#limits));
    this.#rules = rulesOf(this.#tenantLimits, this.#ceiling);
    for (const [id, meter] of this.#meters.entries()) {
      const rule = this.#rules.get(keyOfId(id));
      // One whose policy is gone goes on as it was, should it come back.
      if (rule === undefined) continue;
      const settled = rule.settle(meter, nowMs);
      this.#meters.set(id, settled);
      if (writeAhead(rule, this.#disk.written.get(id), settled) !== null) this.#disk.save(id, settled);
    }
    if (this.#disk.hasRows) this.saveState();
  }

  #deleteForgotten(): void {
    for (const id of this.#meters.takeForgotten(FORGOTTEN_ROWS_A_WRITE)) {
      if (this.#disk.written.has(id) && this.#meters.get(id) === undefined) this.#disk.delete(id);
    }
  }
}

function rulesOf(...limits: readonly CompiledLimits[]): ReadonlyMap<string, Rule> {
  return new Map(limits.flatMap(({ policies }) => policies.map(({ key, rule }) => [key, rule] as const)));
}
