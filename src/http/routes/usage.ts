import { z } from "@hono/zod-openapi";
import { addCounts, MINUTE_MS, minuteOf, NO_USAGE, netAdmitted, type UsageCounts } from "../../core/usage-minutes.ts";
import { limiterUsage } from "../../durable/limiter-admin.ts";
import { findTenant } from "../../store/tenants.ts";
import { readTenantUsage, readUsage } from "../../store/usage.ts";
import { isoTime, notFound } from "../admin-write.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { TENANTS } from "../examples/tenants.ts";
import { tenantPath, USAGE_NOTE } from "../tenant-shape.ts";
import { asked } from "./tenant-limits.ts";

/** `/admin/usage` and `/admin/tenants/{id}/usage`: how many checks were admitted and refused, by tenant and minute. */

/** A day. */
const MINUTES_MAX = 1_440;
const TOP_MAX = 100;

const minutes = z.coerce
  .number()
  .int()
  .min(1)
  .max(MINUTES_MAX)
  .default(60)
  .describe("The present minute, and those before it: so many in all.");
const use = z
  .object({ tenant: z.string(), tier: z.string(), admitted: z.int(), refused: z.int() })
  .openapi("TenantUse");
const overview = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    minutes: z.int(),
    admitted: z.int(),
    refused: z.int(),
    topByUse: z.array(use),
    topByRefusals: z.array(use),
  })
  .openapi("Usage");
const ofTenant = z
  .object({
    tenant: z.string(),
    admitted: z.int(),
    refused: z.int(),
    since: z.iso.datetime(),
    minutes: z.array(z.object({ minute: z.iso.datetime(), admitted: z.int(), refused: z.int() })),
    note: z.string(),
  })
  .openapi("TenantUsage");

export function registerUsage(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/usage",
      summary: "How many checks all tenants were admitted and refused, and who the most",
      tags: ["tenants"],
      docs: TENANTS.usageOfAll,
      query: z.object({ minutes, top: z.coerce.number().int().min(1).max(TOP_MAX).default(10) }),
      responses: {
        200: {
          description:
            "The last minutes, as far as the database has been told of them: some three seconds after a tenant's first burst in a minute; what follows in the next minute, a minute and a half late at most",
          schema: overview,
        },
      },
    },
    async (c, { query }) => {
      const { since, until } = windowOf(query.minutes, c.var.nowMs);
      const usage = await readUsage(c.env.DB, since, until, query.top);
      const window = { since: isoTime(since * MINUTE_MS), until: isoTime(c.var.nowMs), minutes: query.minutes };
      return c.json({ ...window, ...usage }, 200, { "Cache-Control": "no-store" });
    },
  );
  registerTenantUsage(api);
}

function registerTenantUsage(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tenants/{id}/usage",
      summary: "How many of a tenant's requests were admitted and refused, since a time and by minute",
      tags: ["tenants"],
      docs: TENANTS.usage,
      params: tenantPath,
      query: z.object({ minutes }),
      responses: {
        200: {
          description: "Counts since a time, and of the last minutes; those without use are left out",
          schema: ofTenant,
        },
      },
    },
    async (c, { params: { id }, query }) => {
      if ((await findTenant(c.env.DB, id)) === null) return notFound(c, "tenant");
      const { since: first, until } = windowOf(query.minutes, c.var.nowMs);
      // D1 first: what is written down between the two questions is missing for a moment, and not counted twice.
      const stored = await readTenantUsage(c.env.DB, id, first, until);
      const byMinute = new Map<number, UsageCounts>(stored.minutes.map(({ minute, ...counts }) => [minute, counts]));
      return asked(c, async () => {
        const { admitted, refused, since, pending, parcel } = await limiterUsage(c.env, id);
        const onTheWay = parcel === null || stored.isIn(parcel.life, parcel.number) ? [] : parcel.minutes;
        for (const entry of [...onTheWay, ...pending]) {
          if (entry.minute < first) continue;
          byMinute.set(entry.minute, addCounts(byMinute.get(entry.minute) ?? NO_USAGE, entry));
        }
        const shown = [...byMinute]
          .sort(([a], [b]) => a - b)
          .map(([minute, counts]) => ({
            minute: isoTime(minute * MINUTE_MS),
            admitted: netAdmitted(counts),
            refused: counts.refused,
          }));
        const answer = { tenant: id, admitted, refused, since: isoTime(since), minutes: shown, note: USAGE_NOTE };
        return c.json(answer, 200, { "Cache-Control": "no-store" });
      });
    },
  );
}

/** The present minute and those before it, so many in all. */
function windowOf(count: number, nowMs: number): { since: number; until: number } {
  const until = minuteOf(nowMs);
  return { since: until - count + 1, until };
}
