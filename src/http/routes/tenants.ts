import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { forgetTenant } from "../../durable/engine-upkeep.ts";
import { applyLimits, resetLimiter } from "../../durable/limiter-admin.ts";
import { callerKey } from "../../identity/caller.ts";
import { deleteTenant, findTenant, listTenants, putTenant } from "../../store/tenants.ts";
import { actOf, commit, notFound, push } from "../admin-write.ts";
import { invalidFields } from "../body.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { TENANTS } from "../examples/tenants.ts";
import { problem } from "../problem.ts";
import { showTenant, tenantPath, tenantShape, tenantStatus } from "../tenant-shape.ts";
import { registerTenantLimits } from "./tenant-limits.ts";

/** `/admin/tenants`: who is in which tier. A change reaches the tenant's object before it is answered. */

/** In one answer, each with up to 16 policies. */
const PAGE_MAX = 500;
const TIER_NAME_LENGTH_MAX = 64;

const page = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(100),
  after: z.string().default("").describe("The `next` of the page before."),
});
const tenantBody = z
  .strictObject({ tier: z.string().max(TIER_NAME_LENGTH_MAX), status: tenantStatus.optional() })
  .openapi("TenantSettings");

export function registerTenants(api: Api, config: Config): void {
  registerReads(api);
  registerPut(api, config);
  registerDelete(api, config);
  registerTenantLimits(api, config);
}

function registerReads(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tenants",
      summary: "Tenants by id, a page at a time",
      tags: ["tenants"],
      docs: TENANTS.list,
      query: page,
      responses: {
        200: {
          description: "A page; `next` is the `after` of the next one, where there is one",
          schema: z.object({ tenants: z.array(tenantShape), next: z.string().optional() }),
        },
      },
    },
    async (c, { query }) => {
      const { tenants, next } = await listTenants(c.env.DB, query.limit, query.after);
      return c.json({ tenants: tenants.map(showTenant), ...(next === null ? {} : { next }) });
    },
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tenants/{id}",
      summary: "One tenant, with the limits that it goes by",
      tags: ["tenants"],
      docs: TENANTS.read,
      params: tenantPath,
      responses: { 200: { description: "The tenant", schema: tenantShape } },
    },
    async (c, { params }) => {
      const tenant = await findTenant(c.env.DB, params.id);
      return tenant === null ? notFound(c, "tenant") : c.json(showTenant(tenant));
    },
  );
}

function registerPut(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "put",
      path: "/admin/tenants/{id}",
      summary: "Make a tenant, or change its tier or status",
      tags: ["tenants"],
      docs: TENANTS.put,
      params: tenantPath,
      body: tenantBody,
      responses: {
        200: { description: "Changed, and its limits hold", schema: tenantShape },
        201: { description: "Made", schema: tenantShape },
      },
    },
    async (c, { params: { id }, body }) => {
      const given = { tier: body.tier, status: body.status ?? null };
      const saved = await commit({ tenant: id }, () => putTenant(c.env.DB, id, given, actOf(c)));
      if (saved.kind === "unknown_tier") {
        return problem(c, invalidFields([{ path: "tier", message: "there is no such tier" }], "body"));
      }
      const { tenant, created } = saved;
      const failed = await push(c, config, () => applyLimits(c.env, id, tenant.limits));
      return failed ?? c.json(showTenant(tenant), created ? 201 : 200);
    },
  );
}

function registerDelete(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/tenants/{id}",
      summary: "Take a tenant away, with its keys and limits, and all that the engine keeps of it",
      tags: ["tenants"],
      docs: TENANTS.remove,
      params: tenantPath,
      responses: { 204: { description: "Gone" } },
    },
    async (c, { params: { id } }) => {
      const limits = await commit({ tenant: id }, () => deleteTenant(c.env.DB, id, actOf(c)));
      if (limits === null) return notFound(c, "tenant");
      const failed = await push(c, config, async () => {
        await applyLimits(c.env, id, limits);
        await resetLimiter(c.env, id);
        await forgetTenant(c.env, config, callerKey({ kind: "tenant", tenant: id }));
      });
      return failed ?? c.body(null, 204);
    },
  );
}
