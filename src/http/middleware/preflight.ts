import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../app-env.ts";

/** `OPTIONS` is answered before anybody is asked who they are: it is never charged and never refused. */
export function preflight(): MiddlewareHandler<AppEnv> {
  return async function preflight(c, next) {
    if (c.req.method !== "OPTIONS") return next();
    return c.body(null, 204, { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" });
  };
}
