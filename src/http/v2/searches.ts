import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import { ENGINE_ROUTES, type EngineRoute } from "../../core/engine-routes.ts";
import type { JsonObject } from "../../core/json.ts";
import type { SearchKind } from "../../durable/engine-reads.ts";
import { searchEngine } from "../../durable/engines.ts";
import { callerKey } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import type { Docs } from "../document/docs.ts";
import { type Api, calculatedObject } from "../endpoint.ts";
import { ENGINE } from "../examples/engine.ts";
import { refuseOverLimit } from "../middleware/tenant-limit.ts";
import { problem } from "../problem.ts";
import { DEFAULT_TENANT, engineEndpoint, optional } from "./engine-endpoint.ts";
import { foundIncidents, foundInstances, foundJobs } from "./shapes.ts";
import { foreignTenant } from "./tenant.ts";

/** `/v2/…/search`: what the engine knows of a tenant's instances, incidents and jobs. Reads: no command, no queue. */

const search = z
  .object({
    filter: optional(calculatedObject).describe(
      'By field: a value, or `{"$in": […]}`, `{"$like": "order-*"}` and the like.',
    ),
    sort: optional(z.array(calculatedObject)).describe('`[{"field": "startDate", "order": "DESC"}]`'),
    page: optional(calculatedObject).describe('`{"from": 0, "limit": 100}`'),
  })
  .default({ filter: undefined, sort: undefined, page: undefined })
  .openapi("EngineSearch");

type Page = { readonly items: JsonObject[]; readonly total: number; readonly hasMore: boolean };
type Search = z.infer<typeof search>;

export function registerSearches(api: Api, config: Config): void {
  const searches: [EngineRoute, SearchKind, string, z.ZodType, Docs][] = [
    [
      ENGINE_ROUTES.searchInstances,
      "process-instances",
      "Find process instances",
      foundInstances,
      ENGINE.searchInstances,
    ],
    [
      ENGINE_ROUTES.searchIncidents,
      "incidents",
      "Find incidents that are not resolved",
      foundIncidents,
      ENGINE.searchIncidents,
    ],
    [ENGINE_ROUTES.searchJobs, "jobs", "Find jobs", foundJobs, ENGINE.searchJobs],
  ];
  for (const [route, kind, summary, schema, docs] of searches) {
    const described = { summary, body: search, responses: { 200: { description: "A page of them", schema } }, docs };
    engineEndpoint(api, route, described, (c, { body }) => answerSearch(c, config, route, kind, body));
  }
}

async function answerSearch(
  c: Context<AppEnv>,
  config: Config,
  route: EngineRoute,
  kind: SearchKind,
  { filter = {}, sort = [], page = {} }: Search,
): Promise<Response> {
  const { tenantId, ...rest } = filter;
  const foreign = foreignTenant(c, typeof tenantId === "string" ? [tenantId] : []);
  if (foreign !== null) return problem(c, foreign);
  const limited = await refuseOverLimit(c, config, route);
  if (limited instanceof Response) return limited;
  const query = { filter: typeof tenantId === "string" ? rest : filter, sort, page };
  const found = await searchEngine(c.env, config, callerKey(c.get("caller")), kind, query);
  if ("fault" in found) return problem(c, { code: "invalid_request", detail: found.fault });
  if ("retryAfterSeconds" in found) return problem(c, { ...TOO_MUCH, retryAfterSeconds: found.retryAfterSeconds });
  return c.json(pageOf(found));
}

const TOO_MUCH = {
  code: "rate_limited",
  detail: "Your searches have used up your share of the engine's time (the limit searches).",
  violated: ["searches"],
} as const;

function pageOf({ items, total, hasMore }: Page) {
  return {
    items: items.map((item) => ({ ...item, tenantId: DEFAULT_TENANT })),
    page: { totalItems: total, hasMoreTotalItems: hasMore, startCursor: null, endCursor: null },
  };
}
