import { TenantHoldings } from "../core/tenant-holdings.ts";
import { type QuotaName, ROW_BYTES } from "../core/tenant-quotas.ts";
import { addProcessHoldings } from "../executor/embedded/holdings.ts";

/**
 * What tenants hold, counted on disk: once, at the start of the object's life. Lengths are read from the rows' heads,
 * without the texts.
 */

const HELD: readonly (readonly [quota: QuotaName, sql: string])[] = [
  ["keys", `SELECT tenant, sum(length(key) + ${ROW_BYTES}) AS size FROM idempotency_keys GROUP BY tenant`],
  [
    "results",
    `SELECT tenant, sum(kept_bytes + ${ROW_BYTES}) AS size FROM commands WHERE finished_at IS NOT NULL GROUP BY tenant`,
  ],
  ["deadLetters", "SELECT tenant, sum(bytes) AS size FROM commands WHERE sequence IN dead_letters GROUP BY tenant"],
  [
    "deferred",
    `SELECT tenant, sum(bytes + ${ROW_BYTES}) AS size FROM commands WHERE sequence IN deferred GROUP BY tenant`,
  ],
];

export function restoreHoldings(sql: SqlStorage): TenantHoldings {
  const holdings = new TenantHoldings();
  for (const [quota, statement] of HELD) {
    const rows = sql.exec<{ tenant: string; size: number }>(statement);
    for (const { tenant, size } of rows) holdings.add(tenant, quota, size);
  }
  addProcessHoldings(sql, holdings);
  return holdings;
}
