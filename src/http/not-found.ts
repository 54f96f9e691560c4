import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { AppEnv } from "./app-env.ts";
import { problem } from "./problem.ts";

/** What is said where no route answers: that there is none, or that there is one for other methods. */

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export function answerNowhere(app: OpenAPIHono<AppEnv>, config: Config): (c: Context<AppEnv>) => Response {
  const adminOff = config.ADMIN_TOKEN === "" && config.VIEWER_TOKEN === "";
  return (c) => {
    const { method, path } = c.req;
    // Routes that are off look as if they were not there, whatever the method.
    const allowed = adminOff && path.startsWith("/admin/") ? [] : methodsAt(app, path);
    const detail = `There is no ${method} ${path} here.`;
    const asked = method === "HEAD" ? "GET" : method;
    // A route of that method that answers so itself has looked, and there is nothing.
    if (allowed.length === 0 || allowed.includes(asked)) return problem(c, { code: "not_found", detail });
    const all = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
    return problem(c, { code: "method_not_allowed", detail, allowed: [...all, "OPTIONS"] });
  };
}

/** The methods that a path has a route for. Middleware is there for all of them, and does not count. */
function methodsAt({ router }: OpenAPIHono<AppEnv>, path: string): string[] {
  return METHODS.filter((method) => router.match(method, path)[0].some(([[, route]]) => route.method === method));
}
