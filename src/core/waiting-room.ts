/**
 * The few callers who may wait for room in a full queue, or for their share of a contended one: bounded in number, each
 * with a deadline. First come, first served among those who may be served: a tenant that is over its share holds up no
 * other. Within a tenant nobody overtakes, whatever its size. It holds who waits; the shell that owns the clock and the
 * promises asks it who is next.
 */

export interface Waiter<T> {
  /** Names this wait, for its deadline and for a caller that goes away. */
  readonly token: string;
  readonly tenant: string;
  readonly what: T;
}

/**
 * The last seats, one in so many, are only for tenants that have none: else one that floods would sit in all of them
 * before the others come, and the queue would not hear that others want it.
 */
const SEATS_PER_NEWCOMER = 10;

export class WaitingRoom<T> {
  readonly #waiters = new Map<string, Waiter<T>>();
  readonly #byTenant = new Map<string, number>();
  readonly #seats: number;

  /** @param seats how many may wait at the same time */
  constructor(seats: number) {
    this.#seats = seats;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** How many more may wait. */
  get free(): number {
    return this.#seats - this.#waiters.size;
  }

  /** Who waits, in the order of arrival. */
  waiters(): Iterable<Waiter<T>> {
    return this.#waiters.values();
  }

  /** Whether somebody of this tenant waits. */
  has(tenant: string): boolean {
    return this.#byTenant.has(tenant);
  }

  /** False when no seat is left for this one, or this token waits already. */
  enter(waiter: Waiter<T>): boolean {
    const kept = this.has(waiter.tenant) ? Math.floor(this.#seats / SEATS_PER_NEWCOMER) : 0;
    if (this.#waiters.size >= this.#seats - kept || this.#waiters.has(waiter.token)) return false;
    this.#waiters.set(waiter.token, waiter);
    this.#byTenant.set(waiter.tenant, (this.#byTenant.get(waiter.tenant) ?? 0) + 1);
    return true;
  }

  /** Takes a waiter out (its deadline has come, or its caller has gone); undefined when it no longer waits. */
  leave(token: string): Waiter<T> | undefined {
    const waiter = this.#waiters.get(token);
    if (waiter === undefined) return undefined;
    this.#waiters.delete(token);
    const left = (this.#byTenant.get(waiter.tenant) ?? 1) - 1;
    if (left === 0) this.#byTenant.delete(waiter.tenant);
    else this.#byTenant.set(waiter.tenant, left);
    return waiter;
  }

  /**
   * The first in line who would be taken, taken out; undefined when nobody would be.
   *
   * @param wouldTake asked at most once per tenant, about its first: the others of that tenant wait behind it
   */
  next(wouldTake: (what: T) => boolean): Waiter<T> | undefined {
    const asked = new Set<string>();
    for (const waiter of this.#waiters.values()) {
      if (asked.has(waiter.tenant)) continue;
      if (wouldTake(waiter.what)) return this.leave(waiter.token);
      asked.add(waiter.tenant);
      if (asked.size === this.#byTenant.size) return undefined;
    }
    return undefined;
  }
}
