import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { Charged } from "../../core/limiter-call.ts";
import { POLICY_TYPES } from "../../core/policy.ts";
import { tightest } from "../../core/policy-report.ts";
import { answerJson } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { CALLERS } from "../examples/callers.ts";
import { limitTenant } from "../middleware/tenant-limit.ts";

/** `/v1/check`: a decision and nothing else, for a Worker or service that does its own work. Always 200. */

/** Far above any bucket; a larger number is a mistake in the caller. */
const COST_MAX = 1_000_000_000;
const KEY_LENGTH_MAX = 256;

const checkBody = z
  .strictObject({
    cost: z.number().int().min(0).max(COST_MAX).default(1).describe("Tokens of each limit; 0 asks and takes nothing."),
    key: z
      .string()
      .min(1)
      .max(KEY_LENGTH_MAX)
      .optional()
      .describe("A name that limits of scope `key` are counted by: your own user, say."),
  })
  .default({ cost: 1 });

export const policyReport = z
  .object({
    name: z.string(),
    type: z.enum(POLICY_TYPES),
    limit: z.int().describe("The most at once: a bucket's burst, a window's limit."),
    windowSeconds: z.int().nullable().describe("In which the limit comes back; null: it never does."),
    remaining: z.int(),
    resetSeconds: z.int().nullable().describe("Until all of it is there again; null: never."),
  })
  .openapi("PolicyReport");

const decision = z
  .object({
    allowed: z.boolean(),
    remaining: z.int().describe("Of the limit of which least is left."),
    resetSeconds: z.int().nullable(),
    retryAfterSeconds: z.int().optional().describe("When this cost fits."),
    code: z.enum(["rate_limited", "cost_exceeds_capacity"]).optional().describe("Why not."),
    violated: z.array(z.string()).optional().describe("The names of the limits that refused."),
    policies: z.array(policyReport),
  })
  .openapi("Decision");

export function registerCheck(api: Api, config: Config): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/v1/check",
      summary: "May this caller spend this cost now?",
      tags: ["limits"],
      docs: CALLERS.check,
      body: checkBody,
      responses: { 200: { description: "The decision, yes or no", schema: decision } },
    },
    (c, { body }) => {
      const request = { cost: body.cost, critical: false, key: body.key ?? null, final: true };
      const decided = limitTenant(c, config, request);
      return decided instanceof Promise ? decided.then((charged) => say(c, charged)) : say(c, decided);
    },
  );
}

function say(c: Context<AppEnv>, decided: Charged | Response): Response {
  if (decided instanceof Response) return decided;
  const tight = tightest(decided.reports);
  return answerJson(
    c,
    {
      allowed: decided.outcome === "allowed",
      remaining: tight?.remaining ?? 0,
      resetSeconds: tight?.resetSeconds ?? null,
      ...(decided.outcome === "rate_limited" ? { retryAfterSeconds: decided.retryAfterSeconds } : {}),
      ...(decided.outcome === "allowed" ? {} : { code: decided.outcome, violated: decided.violated }),
      policies: decided.reports,
    },
    200,
    { "Cache-Control": "no-store" },
  );
}
