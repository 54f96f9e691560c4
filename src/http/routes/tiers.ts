import { z } from "@hono/zod-openapi";
import type { Config } from "../../config.ts";
import { LIMITER_MODES } from "../../core/lease.ts";
import type { Limits } from "../../core/policy.ts";
import { applyLimits } from "../../durable/limiter-admin.ts";
import {
  ANONYMOUS_TIER,
  DEFAULT_TIER,
  deleteTier,
  findTier,
  listTiers,
  putTier,
  type Tier,
} from "../../store/tiers.ts";
import { actOf, commit, isoTime, notFound, push } from "../admin-write.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { TIERS } from "../examples/tiers.ts";
import { shownLimits, showPolicies, tierBody } from "../limits-schema.ts";
import { problem } from "../problem.ts";

/** `/admin/tiers`: named sets of policies. A change reaches the tenants of a tier before it is answered. */

/** Tenants told before the answer: ten groups of calls. The others hear of it with their next requests. */
const PUSH_MAX = 500;
/** Calls at the same time: enough to hide their latency, far below what a request may have open. */
const PUSH_GROUP = 50;

/** The service itself refers to these. */
const NEEDED_TIERS: ReadonlySet<string> = new Set([DEFAULT_TIER, ANONYMOUS_TIER]);

const tierPath = z.object({ name: z.string().regex(/^[a-z0-9_-]{1,64}$/, "must be 1 to 64 of a-z, 0-9, _ and -") });
const tierShape = z
  .object({
    name: z.string(),
    ...shownLimits,
    weight: z.int().describe("Turns in the queue, against other tiers."),
    limiterMode: z
      .enum(LIMITER_MODES)
      .describe("`leased`: a busy isolate takes tokens ahead. `exact`: each request asks its tenant's object."),
    version: z.int().describe("Of the limits: a newer one is greater."),
    updatedAt: z.iso.datetime(),
  })
  .openapi("Tier");
const savedTier = tierShape
  .extend({
    tenantsUpdated: z.int().describe("Told before this answer."),
    tenantsPending: z.int().describe("They follow with their next requests."),
    restarted: z
      .array(z.string())
      .optional()
      .describe("Policies whose type has changed under their name: what was used of them is forgotten."),
  })
  .openapi("SavedTier");

export function registerTiers(api: Api, config: Config): void {
  registerReads(api);
  registerPut(api, config);
  registerDelete(api);
}

function showTier({ name, policies, weight, limiterMode, version, updatedAtMs }: Tier) {
  return { name, ...showPolicies(policies), weight, limiterMode, version, updatedAt: isoTime(updatedAtMs) };
}

function registerReads(api: Api): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tiers",
      summary: "All tiers",
      tags: ["tiers"],
      docs: TIERS.list,
      responses: { 200: { description: "Tiers by name", schema: z.object({ tiers: z.array(tierShape) }) } },
    },
    async (c) => c.json({ tiers: (await listTiers(c.env.DB)).map(showTier) }),
  );
  endpoint(
    api,
    {
      method: "get",
      path: "/admin/tiers/{name}",
      summary: "One tier",
      tags: ["tiers"],
      docs: TIERS.read,
      params: tierPath,
      responses: { 200: { description: "The tier", schema: tierShape } },
    },
    async (c, { params }) => {
      const tier = await findTier(c.env.DB, params.name);
      return tier === null ? notFound(c, "tier") : c.json(showTier(tier));
    },
  );
}

function registerPut(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "put",
      path: "/admin/tiers/{name}",
      summary: "Make a tier or replace its limits and, where they are given, its weight and limiter mode",
      tags: ["tiers"],
      docs: TIERS.put,
      params: tierPath,
      body: tierBody,
      responses: {
        200: { description: "Replaced; its tenants were told", schema: savedTier },
        201: { description: "Made", schema: savedTier },
      },
    },
    async (c, { params, body }) => {
      const saved = await commit("all limits", () => putTier(c.env.DB, params.name, body, actOf(c), PUSH_MAX));
      const { tier, created, followers, followersTotal, restarted } = saved;
      const failed = await push(c, config, () => tellAll(c.env, followers, tier));
      if (failed !== null) return failed;
      const told = { tenantsUpdated: followers.length, tenantsPending: followersTotal - followers.length };
      const anew = restarted.length === 0 ? {} : { restarted };
      return c.json({ ...showTier(tier), ...told, ...anew }, created ? 201 : 200);
    },
  );
}

async function tellAll(env: Env, tenants: readonly string[], limits: Limits): Promise<void> {
  const { version, policies } = limits;
  for (let from = 0; from < tenants.length; from += PUSH_GROUP) {
    const group = tenants.slice(from, from + PUSH_GROUP);
    await Promise.all(group.map((tenant) => applyLimits(env, tenant, { version, policies })));
  }
}

function registerDelete(api: Api): void {
  endpoint(
    api,
    {
      method: "delete",
      path: "/admin/tiers/{name}",
      summary: "Take a tier away that no tenant is in",
      tags: ["tiers"],
      docs: TIERS.remove,
      params: tierPath,
      responses: { 204: { description: "Gone" } },
    },
    async (c, { params: { name } }) => {
      if (NEEDED_TIERS.has(name)) {
        return problem(c, { code: "conflict", detail: `The tier ${name} is one that every deployment needs.` });
      }
      switch (await commit("all limits", () => deleteTier(c.env.DB, name, actOf(c)))) {
        case "deleted":
          return c.body(null, 204);
        case "in_use":
          return problem(c, { code: "conflict", detail: `The tier ${name} has tenants. Move them first.` });
        case "unknown":
          return notFound(c, "tier");
      }
    },
  );
}
