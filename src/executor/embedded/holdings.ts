/**
 * What tenants hold of the embedded engine: definitions, and instances with their variables, jobs and incidents.
 *
 * Contract: every row that comes, changes its size or goes is told to the holdings in the same event, in these sizes.
 */

import type { TenantHoldings } from "../../core/tenant-holdings.ts";
import { type QuotaName, ROW_BYTES } from "../../core/tenant-quotas.ts";

/** Sizes of rows, as expressions over their tables. */
export const INSTANCE_BYTES = `(${ROW_BYTES} + octet_length(variables) + octet_length(tokens))`;
export const JOB_BYTES = `(${ROW_BYTES} + coalesce(octet_length(locals), 0))`;
export const INCIDENT_BYTES = `(${ROW_BYTES} + octet_length(message))`;
export const DEFINITION_BYTES = `(${ROW_BYTES} + coalesce(octet_length(model), octet_length(tasks)))`;

const HELD: readonly (readonly [quota: QuotaName, bytes: string, table: string])[] = [
  ["process", INSTANCE_BYTES, "process_instances"],
  ["process", JOB_BYTES, "process_jobs"],
  ["process", INCIDENT_BYTES, "process_incidents"],
  ["definitions", DEFINITION_BYTES, "process_definitions"],
];

/** Counts what is on disk. */
export function addProcessHoldings(sql: SqlStorage, holdings: TenantHoldings): void {
  for (const [quota, bytes, table] of HELD) {
    const rows = sql.exec<{ tenant: string; size: number }>(
      `SELECT tenant, sum(${bytes}) AS size FROM ${table} GROUP BY tenant`,
    );
    for (const { tenant, size } of rows) holdings.add(tenant, quota, size);
  }
}

/** Rows that go in one piece, of each table: small enough that no command waits for it long. */
const PIECE_ROWS = 200;

/**
 * Deletes a tenant's rows up to a sequence, the oldest first, a bounded piece of each table.
 *
 * @returns true when there is more
 */
export function deleteHoldings(sql: SqlStorage, holdings: TenantHoldings, tenant: string, upTo: number): boolean {
  let more = false;
  for (const [quota, bytes, table] of HELD) {
    const gone = sql
      .exec<{ size: number }>(
        `DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE tenant = ? AND seq <= ? LIMIT ?)
         RETURNING ${bytes} AS size`,
        tenant,
        upTo,
        PIECE_ROWS,
      )
      .toArray();
    for (const { size } of gone) holdings.add(tenant, quota, -size);
    more ||= gone.length === PIECE_ROWS;
  }
  return more;
}
