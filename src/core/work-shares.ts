/**
 * Shares of the engine's time for work that no command pays for: timers and searches. Each tenant may run ahead by a burst; what it
 * owes beyond is paid back by time, at a rate that all who owe share equally. So the work of all tenants together
 * takes at most the rate, and a tenant that owes nothing is never behind one that does.
 *
 * Contract: pure; work is in steps of about 10 ns, time in Unix milliseconds that the caller gives.
 */

/**
 * What all tenants that owe pay back: 60 ms of work a second, some 600 timers without much of an expression. A cold or
 * crowded processor makes three times that of it, and others' median wait stays as it is.
 */
export const SHARED_STEPS_PER_MS = 6_000;
/** What a tenant may owe and still run: 10 ms of work, so that a hundred cheap timers that are due at once all run. */
export const BURST_STEPS = 1_000_000;

export class WorkShares {
  readonly #debts = new Map<string, number>();
  #settledMs = 0;

  /** A tenant's work has taken so many steps. */
  charge(tenant: string, steps: number, nowMs: number): void {
    this.#settle(nowMs);
    this.#debts.set(tenant, (this.#debts.get(tenant) ?? 0) + steps);
  }

  /** Tenants that owe more than their burst: their work waits. */
  waiting(nowMs: number): string[] {
    this.#settle(nowMs);
    return [...this.#debts].filter(([, debt]) => debt > BURST_STEPS).map(([tenant]) => tenant);
  }

  /** Whether a tenant's work may run now. */
  mayRun(tenant: string, nowMs: number): boolean {
    this.#settle(nowMs);
    return (this.#debts.get(tenant) ?? 0) <= BURST_STEPS;
  }

  /** In how many milliseconds a tenant's work may run, if nothing more is charged to anyone; 0: now. */
  waitMs(tenant: string, nowMs: number): number {
    this.#settle(nowMs);
    const over = (this.#debts.get(tenant) ?? 0) - BURST_STEPS;
    return over <= 0 ? 0 : Math.ceil((over * this.#debts.size) / SHARED_STEPS_PER_MS);
  }

  /** When the first of those that wait may run, if nothing more is charged; null when none waits. */
  nextMs(nowMs: number): number | null {
    this.#settle(nowMs);
    const over = [...this.#debts.values()].filter((debt) => debt > BURST_STEPS).map((debt) => debt - BURST_STEPS);
    if (over.length === 0) return null;
    return nowMs + Math.ceil((Math.min(...over) * this.#debts.size) / SHARED_STEPS_PER_MS);
  }

  #settle(nowMs: number): void {
    const paid = ((nowMs - this.#settledMs) * SHARED_STEPS_PER_MS) / Math.max(1, this.#debts.size);
    this.#settledMs = nowMs;
    // A clock that was set back pays nothing and takes nothing.
    if (paid <= 0) return;
    for (const [tenant, debt] of this.#debts) {
      if (debt <= paid) this.#debts.delete(tenant);
      else this.#debts.set(tenant, debt - paid);
    }
  }
}
