import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { applyLimits, resetLimiter } from "../../durable/limiter-admin.ts";
import { deleteTenantLimits, noteReset, putTenantLimits } from "../../store/tenant-limits.ts";
import type { Tenant } from "../../store/tenants.ts";
import { actOf, commit, notFound, push } from "../admin-write.ts";
import type { AppEnv } from "../app-env.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { TENANTS } from "../examples/tenants.ts";
import { tenantLimitsBody } from "../limits-schema.ts";
import { problem } from "../problem.ts";
import { showTenant, tenantPath, tenantShape } from "../tenant-shape.ts";

/** `/admin/tenants/{id}/limits` and `/reset`: what a tenant may spend, and owes. */

/** How long to wait before asking a tenant's object again that did not answer, in seconds. */
const LIMITER_RETRY_SECONDS = 1;

export function registerTenantLimits(api: Api, config: Config): void {
  registerOwnLimits(api, config);
  registerReset(api);
}

function registerOwnLimits(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "put",
      path: "/admin/tenants/{id}/limits",
      summary: "Give a tenant limits of its own, in place of its tier's",
      tags: ["tenants"],
      docs: TENANTS.putLimits,
      params: tenantPath,
      body: tenantLimitsBody,
      responses: { 200: { description: "They hold", schema: tenantShape } },
    },
    async (c, { params: { id }, body }) => {
      const tenant = await commit({ tenant: id }, () => putTenantLimits(c.env.DB, id, body, actOf(c)));
      return pushed(c, config, tenant, (saved) => c.json(showTenant(saved)));
    },
  );
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/tenants/{id}/limits",
      summary: "Take a tenant's own limits away; it goes by its tier's again",
      tags: ["tenants"],
      docs: TENANTS.removeLimits,
      params: tenantPath,
      responses: { 204: { description: "The tier's limits hold" } },
    },
    async (c, { params: { id } }) => {
      const tenant = await commit({ tenant: id }, () => deleteTenantLimits(c.env.DB, id, actOf(c)));
      return pushed(c, config, tenant, () => c.body(null, 204));
    },
  );
}

/** Pushes a saved tenant's limits to its object, and answers. */
async function pushed(
  c: Context<AppEnv>,
  config: Config,
  tenant: Tenant | null,
  answer: (tenant: Tenant) => Response,
): Promise<Response> {
  if (tenant === null) return notFound(c, "tenant");
  const failed = await push(c, config, () => applyLimits(c.env, tenant.id, tenant.limits));
  return failed ?? answer(tenant);
}

function registerReset(api: Api): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/admin/tenants/{id}/reset",
      summary: "Forgive what a tenant owes: its buckets are full again",
      tags: ["tenants"],
      docs: TENANTS.reset,
      params: tenantPath,
      responses: { 204: { description: "Full" } },
    },
    async (c, { params: { id } }) => {
      if (!(await noteReset(c.env.DB, id, actOf(c)))) return notFound(c, "tenant");
      return asked(c, async () => {
        await resetLimiter(c.env, id);
        return c.body(null, 204);
      });
    },
  );
}

/** Answers from the tenant's object, or says that it does not answer. */
export async function asked(c: Context<AppEnv>, ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    console.error(JSON.stringify({ event: "limiter_failed", requestId: c.get("requestId"), error: String(error) }));
    const detail = "The tenant's limiter does not answer. Repeating the request is safe.";
    return problem(c, { code: "unavailable", detail, retryAfterSeconds: LIMITER_RETRY_SECONDS });
  }
}
