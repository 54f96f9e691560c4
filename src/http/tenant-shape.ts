import { z } from "@hono/zod-openapi";
import { tenantIdSchema } from "../identity/tenant-id.ts";
import type { Tenant } from "../store/tenants.ts";
import { isoTime } from "./admin-write.ts";
import { policyShape } from "./limits-schema.ts";

/** A tenant as the admin routes name and show it. */

/** Percent-encoded in the URL, decoded here. */
export const tenantPath = z.object({ id: tenantIdSchema });

export const tenantStatus = z.enum(["active", "suspended"]);

export const tenantShape = z
  .object({
    id: z.string(),
    tier: z.string(),
    status: tenantStatus,
    limits: z
      .object({ requestsPerSecond: z.number(), burstSize: z.int(), updatedAt: z.iso.datetime() })
      .nullable()
      .describe("Its own, in place of its tier's."),
    policies: z.array(policyShape).describe("What it goes by."),
    version: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi("Tenant");

export function showTenant(tenant: Tenant) {
  const { id, tier, status, ownLimits, limits, createdAtMs, updatedAtMs } = tenant;
  return {
    id,
    tier,
    status,
    limits: ownLimits && {
      requestsPerSecond: ownLimits.requestsPerSecond,
      burstSize: ownLimits.burstSize,
      updatedAt: isoTime(ownLimits.updatedAtMs),
    },
    policies: limits.policies,
    version: limits.version,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
  };
}

/** What goes with a tenant's usage. */
export const USAGE_NOTE =
  "Counts are gathered in the memory of the tenant's object and written down once a minute while it is active, and " +
  "when it falls idle. If its memory is lost, what came after the last of those is not in `minutes`. What the object " +
  "has not told the database yet is in here, and not yet in `/admin/usage` and `/metrics`.";
