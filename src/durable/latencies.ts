/**
 * How long each tenant's commands took, until their limiter is told: gathered here, handed out with the tenant's next
 * submission, some at a time, so that it costs a call per batch and not per command. Memory only.
 */

/** So many are told together. */
const BATCH = 20;
/** Pending per tenant; what comes after is not kept. A hundred is what a limiter looks at. */
const PENDING_MAX = 100;
/** Tenants with something pending. */
const TENANTS_MAX = 10_000;

export class Latencies {
  readonly #pending = new Map<string, number[]>();

  add(tenant: string, latencyMs: number): void {
    const pending = this.#pending.get(tenant);
    if (pending === undefined) {
      if (this.#pending.size < TENANTS_MAX) this.#pending.set(tenant, [latencyMs]);
    } else if (pending.length < PENDING_MAX) pending.push(latencyMs);
  }

  /** What is pending for a tenant, once it is enough to be told; it is then gone from here. */
  take(tenant: string): readonly number[] {
    const pending = this.#pending.get(tenant) ?? [];
    if (pending.length < BATCH) return [];
    this.#pending.delete(tenant);
    return pending;
  }
}
