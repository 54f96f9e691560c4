import { type QuotaName, TENANT_QUOTAS } from "./tenant-quotas.ts";

/**
 * How much each tenant holds of what {@link TENANT_QUOTAS} bounds: a sum in memory for each tenant and quota, kept up with
 * every row that comes or goes, so that asking costs nothing. The disk is where it begins after a restart.
 */
export class TenantHoldings {
  readonly #sums = new Map<QuotaName, Map<string, number>>();
  #journal: [tenant: string, quota: QuotaName, size: number][] | null = null;

  /** What the tenant holds, in the quota's unit. */
  of(tenant: string, quota: QuotaName): number {
    return this.#sums.get(quota)?.get(tenant) ?? 0;
  }

  /** Something came, or with a negative size went. */
  add(tenant: string, quota: QuotaName, size: number): void {
    this.#journal?.push([tenant, quota, size]);
    const sums = this.#sums.get(quota) ?? new Map<string, number>();
    const sum = Math.max(0, (sums.get(tenant) ?? 0) + size);
    if (sum === 0) sums.delete(tenant);
    else sums.set(tenant, sum);
    this.#sums.set(quota, sums);
  }

  /** Whether so much more stays within the quota. */
  hasRoom(tenant: string, quota: QuotaName, size: number): boolean {
    return this.of(tenant, quota) + size <= TENANT_QUOTAS[quota].value;
  }

  /** How much more stays within the quota; below zero: how much too much there is. */
  roomLeft(tenant: string, quota: QuotaName): number {
    return TENANT_QUOTAS[quota].value - this.of(tenant, quota);
  }

  /**
   * Runs what changes rows in a transaction. When it throws, the transaction is undone, and so is what was added here.
   *
   * @throws what `run` throws
   */
  atomically<T>(run: () => T): T {
    const journal: [string, QuotaName, number][] = [];
    this.#journal = journal;
    try {
      const result = run();
      this.#journal = null;
      return result;
    } catch (error) {
      this.#journal = null;
      for (const [tenant, quota, size] of journal.reverse()) this.add(tenant, quota, -size);
      throw error;
    }
  }
}
