import { type Asking, type Held, leaseOf, timeOf } from "./held.ts";
import { Demand, type Done, LEASE_MS_MAX, type LeaseAsk, type View } from "./lease.ts";
import { type CompiledLimits, count, type Decision, decide, giveBack, judge } from "./limiter.ts";
import type { Charged } from "./limiter-call.ts";
import type { PolicyReport } from "./policy-report.ts";
import type { GivenBack, Receipt } from "./receipts.ts";
import type { Subjects } from "./subjects.ts";

/**
 * What one isolate holds of the meters of one caller: how they stood when it last heard of them, what it has spent since,
 * and what it still may spend. It decides with the same arithmetic as the object does, on meters that are the object's
 * own as long as no other isolate changes them; so with one isolate both give the same answers to the token.
 *
 * It admits no more than was leased. It refuses what does not fit by what it knows, and by nothing that is older than the
 * view lasts: a second at most, and never longer than the honest wait, because the meters it refuses by are aged.
 */

/** Tokens from which on a lease is asked for again before it has run out. */
const SMALL_LEASE = 16;
export class Holding {
  #limits: CompiledLimits;
  readonly subjects: Subjects;
  readonly countsTenantOnly: boolean;
  readonly #demand = new Demand();
  #held: Held | null = null;
  #admitted = 0;
  #refused = 0;
  /** The call under way that carries the lease; null: none does. */
  #carrying: Asking | null = null;
  /** The version of limits that the object has been told. */
  #toldVersion: number | null = null;
  readonly #given: GivenBack;
  /** Tokens spent while a call that carries the lease is under way. */
  #inFlight = 0;

  /**
   * @param countsTenantOnly no limit counts single subjects: who asks within the tenant is of no interest
   * @param given charges that the isolate has given back by itself, which no object knows of
   */
  constructor(limits: CompiledLimits, subjects: Subjects, countsTenantOnly: boolean, given: GivenBack) {
    this.#given = given;
    this.countsTenantOnly = countsTenantOnly;
    this.#limits = limits;
    this.subjects = subjects;
  }

  /** Newer limits end what was held under the older ones. */
  goBy(limits: CompiledLimits): void {
    if (limits === this.#limits) return;
    if (limits.version !== this.#limits.version && this.#held) this.#held.untilMs = Number.NEGATIVE_INFINITY;
    this.#limits = limits;
  }

  /** Whether the object knows the limits, so that their version will do. */
  get isTold(): boolean {
    return this.#toldVersion === this.#limits.version;
  }

  /** The object has decided by these limits, or has not: it does not know them. */
  told(knows: boolean): void {
    this.#toldVersion = knows ? this.#limits.version : null;
  }

  /** Decides a request here, if it can be. @returns null when the object has to be asked: a look is to be exact, too */
  decide(cost: number, nowMs: number): Charged | null {
    this.#demand.count(cost, nowMs);
    const held = this.#live(nowMs);
    if (held === null || cost === 0) return null;
    const atMs = timeOf(held, cost, nowMs);
    const { decision, next } = decide(held.meters, this.#limits, cost, atMs, this.subjects);
    if (decision.outcome !== "allowed") {
      this.#refused += 1;
      return decision;
    }
    if (held.budget < cost || held.grant === null) return null;
    held.meters = next;
    held.budget -= cost;
    held.spent += cost;
    if (this.#carrying !== null) this.#inFlight += cost;
    this.#admitted += 1;
    return { ...decision, receipt: { ...held.grant.receipt, spent: held.spent } };
  }

  /**
   * What would be said to a request, charging nothing. A refusal is counted, unless it is refused further on anyway.
   *
   * @returns null when the object has to be asked
   */
  judge(cost: number, judgeOnly: boolean, nowMs: number): Decision | null {
    const held = this.#live(nowMs);
    if (held === null) return null;
    const decision = judge(held.meters, this.#limits, cost, timeOf(held, cost, nowMs), this.subjects);
    if (decision.outcome !== "allowed" && !judgeOnly) this.#refused += 1;
    return decision;
  }

  /** A critical request was counted by the object: it is counted here too, so that what is told of the rest is true. */
  countCritical(cost: number, nowMs: number): void {
    const held = this.#live(nowMs);
    if (held === null) return;
    const { next } = count(held.meters, this.#limits, cost, nowMs + held.shiftMs, this.subjects);
    held.meters = next;
  }

  /** Whether it is time to ask for the next lease behind a request, so that none has to wait for one. */
  isRunningOut(nowMs: number): boolean {
    const held = this.#live(nowMs);
    if (held?.grant == null || this.#isCarrying(nowMs)) return false;
    const { fromMs, untilMs, lent, budget } = held;
    // Near the limit leases are so small that each would be followed by a call for the next.
    if (lent < SMALL_LEASE) return false;
    return 4 * budget < lent || 4 * (nowMs - fromMs) > 3 * (untilMs - fromMs);
  }

  /** Tokens that may be spent here at this time. */
  unspent(nowMs: number): number {
    return this.#live(nowMs)?.budget ?? 0;
  }

  /**
   * What to tell the object with a call, and ask of it.
   *
   * @param leaseMs null where nothing is to be leased
   * @param behind no request waits for this call: what is held may be spent meanwhile
   */
  ask(leaseMs: number | null, nowMs: number, behind = false): Asking {
    const { version } = this.#limits;
    const isCarrying = this.#isCarrying(nowMs);
    const done = this.#takeDone();
    const wanted = leaseMs === null ? 0 : this.#demand.wantFor(leaseMs, nowMs);
    const held = this.#held === null ? null : leaseOf(this.#held);
    if (isCarrying || (wanted === 0 && held === null)) {
      return { lease: { want: 0, kept: 0, held: null, done }, version, askedAtMs: nowMs, carries: false };
    }
    const kept = behind ? this.unspent(nowMs) : 0;
    // All of it goes back, so that the answer is what it would be without leases.
    if (!behind && this.#held !== null) this.#held.untilMs = Number.NEGATIVE_INFINITY;
    this.#inFlight = 0;
    const lease = { want: Math.max(0, wanted - kept), kept, held, done };
    this.#carrying = { lease, version, askedAtMs: nowMs, carries: true };
    return this.#carrying;
  }

  /** The object has answered. @param view what it showed, if anything; @returns what is held now, if anything */
  hear(asking: Asking, view: View | null, nowMs: number): object | null {
    const { lease, version, askedAtMs, carries } = asking;
    if (carries) {
      // It was given up: another call may carry a lease since, and what this one brings is out of date.
      if (asking !== this.#carrying) return null;
      this.#carrying = null;
    }
    // Another call has the lease.
    if (this.#carrying !== null) return null;
    if (!carries && this.#held?.grant) return null;
    if (view === null || version !== this.#limits.version) {
      this.#held = null;
      return null;
    }
    const { atMs, lastsMs, grant, turn } = view;
    const lent = grant === null ? 0 : lease.kept + grant.tokens;
    const spent = grant === null ? 0 : this.#inFlight;
    const seen = new Map(view.meters);
    this.#held = {
      meters: spent === 0 ? seen : count(seen, this.#limits, spent, atMs, this.subjects, "whole").next,
      // The answer is older than its arrival: so this is never ahead of the object's time.
      shiftMs: atMs - nowMs,
      fromMs: askedAtMs,
      untilMs: askedAtMs + lastsMs,
      grant,
      turn: turn ? { cost: turn.cost, fitsAtMs: atMs + turn.fitsInMs, asksAtMs: atMs + turn.asksInMs } : null,
      lent,
      budget: lent - spent,
      spent,
    };
    return this.#held;
  }

  /**
   * The call has failed, in whatever way, and it is not known what the object has done: nothing of the lease may be
   * given back or spent any more. The next call begins anew.
   */
  failed(asking: Asking): void {
    if (asking !== this.#carrying) return;
    this.#carrying = null;
    this.#held = null;
  }

  /**
   * Ends what is held.
   *
   * @param heard what {@link hear} gave: only that is ended, and not what has come after it
   * @returns what the object is to be told; null when there is nothing, or a call that is under way tells it
   */
  end(heard?: object): LeaseAsk | null {
    if (this.#carrying !== null || (heard !== undefined && this.#held !== heard)) return null;
    const held = this.#held === null ? null : leaseOf(this.#held);
    this.#held = null;
    const done = this.#takeDone();
    if (held === null && done.admitted === 0 && done.refused === 0) return null;
    return { want: 0, kept: 0, held, done };
  }

  /**
   * Gives back what was spent here, once, if it is still the same lease.
   *
   * @returns how the policies stand; null: ask the object, unless it was given back here already
   */
  refund(cost: number, receipt: Receipt, nowMs: number): readonly PolicyReport[] | null {
    const held = this.#live(nowMs);
    const own = held?.grant?.receipt;
    if (held === null || own === undefined || this.#carrying !== null || receipt.spent === undefined) return null;
    if (own.life !== receipt.life || own.number !== receipt.number || this.#given.has(receipt)) return null;
    this.#given.add(receipt);
    const since = held.spent - receipt.spent;
    const atMs = nowMs + held.shiftMs;
    const given = giveBack(held.meters, this.#limits, cost, receipt.ids, since, atMs, this.subjects);
    held.meters = given.next;
    held.budget += cost;
    this.#admitted -= 1;
    return given.decision.reports;
  }

  /** What is held, while it may be used: a clock that steps ends it. */
  #live(nowMs: number): Held | null {
    const held = this.#held;
    return held !== null && nowMs >= held.fromMs && nowMs < held.untilMs ? held : null;
  }

  /**
   * Whether a call carries the lease. One that is older than any lease lasts brings nothing that could be used: it fails
   * here, since the platform drops calls of requests whose callers have gone, and nothing ever hears of them.
   */
  #isCarrying(nowMs: number): boolean {
    const asking = this.#carrying;
    if (asking !== null && Math.abs(nowMs - asking.askedAtMs) >= LEASE_MS_MAX) this.failed(asking);
    return this.#carrying !== null;
  }

  #takeDone(): Done {
    const done = { admitted: this.#admitted, refused: this.#refused };
    this.#admitted = 0;
    this.#refused = 0;
    return done;
  }
}
