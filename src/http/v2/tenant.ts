import type { Context } from "hono";
import type { Problem } from "../../core/problem.ts";
import type { AppEnv } from "../app-env.ts";
import { DEFAULT_TENANT } from "./engine-endpoint.ts";

/**
 * Tenants as the engine's clients name them in a body. The credential alone says who somebody is: a name in a body must
 * be that one or the default, and changes nothing.
 */

/** What is wrong with the tenants that a request names; null: nothing. */
export function foreignTenant(c: Context<AppEnv>, named: readonly (string | undefined)[]): Problem | null {
  const { kind, tenant } = c.get("caller");
  const own = (name: string) => name === DEFAULT_TENANT || (kind === "tenant" && name === tenant);
  return named.every((name) => name === undefined || own(name)) ? null : NOT_YOURS;
}

const NOT_YOURS: Problem = {
  code: "forbidden",
  detail: `The request names a tenant that is not the credential's. Leave it out, or send ${DEFAULT_TENANT}.`,
};
