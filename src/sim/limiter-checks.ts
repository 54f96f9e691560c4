import { Broken } from "./broken.ts";

/**
 * What layer 1 promises, held against a count of its own: a leaky bucket in plain numbers that no object can lose. It
 * shares no arithmetic with the core, which is what makes it a check.
 */

/** As much as doubles may be off over a long run, in tokens. */
const TOLERANCE = 1e-6;
/** How far back a clock may step before everyone follows it. */
const CLOCK_REBASE_MS = 60_000;
/** What critical commands are bounded by: ten times the rate and burst, at least 10/s and 20. */
const CEILING = { factor: 10, rateMin: 10, burstMin: 20 };

/** A leaky bucket: what was admitted and has not been forgiven. */
class Reference {
  readonly #perMs: number;
  readonly #burst: number;
  /** What a restart may add to what an object knows: a second's refill. */
  readonly #chunk: number;
  #spent = 0;
  /** How much more than what was spent an object may rightly know of. */
  #doubt = 0;
  #atMs = 0;
  /** The most that was ever leased at once: so much may come on top. */
  #leased = 0;
  #over = 0;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#chunk = Math.min(Math.max(perSecond, 1), burst);
  }

  get spent(): number {
    return this.#spent;
  }

  /** By how much more than the burst was ever spent at once. */
  get over(): number {
    return this.#over;
  }

  get spendable(): number {
    return this.#burst + this.#leased;
  }

  leased(tokens: number): void {
    this.#leased = Math.max(this.#leased, tokens);
  }

  /** Whether an object that may know too much has room for nothing. */
  get mayBeFull(): boolean {
    return this.#spent + this.#doubt + this.#chunk + 1 > this.#burst;
  }

  restarted(): void {
    this.#doubt += this.#chunk;
  }

  /** An object whose clock stepped back forgives nothing until it has caught up. */
  steppedBack(ms: number): void {
    this.#doubt += ms * this.#perMs;
  }

  /** Forgives by the time that has passed. */
  settle(nowMs: number): void {
    const forgiven = (nowMs - this.#atMs) * this.#perMs;
    this.#doubt = Math.max(0, this.#doubt - Math.max(0, forgiven - this.#spent));
    this.#spent = Math.max(0, this.#spent - forgiven);
    this.#atMs = nowMs;
  }

  add(cost: number): void {
    this.#spent = Math.max(0, this.#spent + cost);
    this.#over = Math.max(this.#over, this.#spent - this.#burst);
  }
}

export class LimiterChecks {
  readonly #ordinary = new Map<string, Reference>();
  readonly #critical = new Map<string, Reference>();
  readonly #time: () => number;

  /**
   * @param time milliseconds that have really passed, and by how much clocks have leapt ahead besides: so much may be
   *   forgiven, and not a millisecond for a clock that stepped back
   */
  constructor(time: () => number) {
    this.#time = time;
  }

  /** A tenant with such a limit is looked at from now on. */
  watch(tenant: string, limit: { readonly perSecond: number; readonly burst: number }): void {
    this.#ordinary.set(tenant, new Reference(limit.perSecond, limit.burst));
    const rate = Math.max(CEILING.rateMin, Math.floor(limit.perSecond * CEILING.factor));
    const burst = Math.max(CEILING.burstMin, limit.burst * CEILING.factor);
    this.#critical.set(tenant, new Reference(rate, burst));
  }

  /** @param ms how far, > 0; from a far step back an object goes on at once */
  clockSteppedBack(ms: number): void {
    const heldMs = Math.min(ms, CLOCK_REBASE_MS);
    for (const reference of [...this.#ordinary.values(), ...this.#critical.values()]) {
      reference.settle(this.#time());
      reference.steppedBack(heldMs);
    }
  }

  /** So many tokens of a tenant are leased at this moment. */
  leased(tenant: string, tokens: number): void {
    this.#ordinary.get(tenant)?.leased(tokens);
  }

  /** By how many tokens a tenant was ever over its burst: never by more than was leased. */
  over(tenant: string): number {
    return this.#ordinary.get(tenant)?.over ?? 0;
  }

  /** Invariant 1: in any interval no more than burst + rate × interval, and what was leased. */
  admitted(tenant: string, cost: number, critical: boolean): void {
    const reference = (critical ? this.#critical : this.#ordinary).get(tenant);
    if (reference === undefined) return;
    reference.settle(this.#time());
    reference.add(cost);
    if (critical || reference.spent <= reference.spendable + TOLERANCE) return;
    throw new Broken(
      1,
      `${tenant} was admitted ${reference.spent} tokens at once, and ${reference.spendable} are its burst and leases`,
    );
  }

  gaveBack(tenant: string, cost: number): void {
    const reference = this.#ordinary.get(tenant);
    reference?.settle(this.#time());
    reference?.add(-cost);
  }

  /** Invariants 4 and 6. @param wrote whether the refusal left anything on disk */
  refused(tenant: string, critical: boolean, wrote: boolean): void {
    if (wrote) throw new Broken(4, `a refusal of ${tenant} by its limit wrote a row`);
    const reference = (critical ? this.#critical : this.#ordinary).get(tenant);
    reference?.settle(this.#time());
    if (critical && reference !== undefined && !reference.mayBeFull) {
      throw new Broken(6, `a critical command of ${tenant} was refused by its limit, far below its ceiling`);
    }
  }

  /** Invariant 5. @param fits whether waiting so long is enough; @param fitsBefore whether a second less is, too */
  told(tenant: string, seconds: number, fits: boolean, fitsBefore: boolean): void {
    if (!fits) throw new Broken(5, `${tenant} was told ${seconds} s, which is not enough`);
    if (fitsBefore) throw new Broken(5, `${tenant} was told ${seconds} s, and a second less is enough`);
  }

  /** Invariant 8: whole tokens left just before and just after a restart. */
  restarted(tenant: string, before: number, after: number): void {
    this.#ordinary.get(tenant)?.restarted();
    this.#critical.get(tenant)?.restarted();
    if (after > before)
      throw new Broken(8, `the limiter of ${tenant} restarted with ${after} tokens instead of ${before}`);
  }
}
