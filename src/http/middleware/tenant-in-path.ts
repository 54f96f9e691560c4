import type { MiddlewareHandler } from "hono";
import type { Problem } from "../../core/problem.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";

/**
 * `/t/{tenant}/…`: for clients that can be given an address and nothing else. The path chooses nothing: it must name
 * the tenant that the credential is of.
 */
export function tenantInPath(): MiddlewareHandler<AppEnv> {
  return async function tenantInPath(c, next) {
    const { kind, tenant } = c.get("caller");
    return kind === "tenant" && c.req.param("tenant") === tenant ? next() : problem(c, NOT_YOURS);
  };
}

const NOT_YOURS: Problem = { code: "forbidden", detail: "The tenant in the path is not the credential's." };
