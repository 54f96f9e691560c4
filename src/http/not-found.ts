import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { AppEnv } from "./app-env.ts";
import { problem } from "./problem.ts";

/** What is said where no route answers: that there is none, or that there is one for other methods. */

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export function answerNowhere(app: OpenAPIHono<AppEnv>, config: Config): (c: Context<AppEnv>) => Response {
  return (c) => {
    const { method, path } = c.req;
    const allowed = allowedAt(app, config, path);
    const detail = `There is no ${method} ${path} here.`;
    // A route of that method that answers so itself has looked, and there is nothing.
    if (allowed.length === 1 || allowed.includes(method)) return problem(c, { code: "not_found", detail });
    return problem(c, { code: "method_not_allowed", detail, allowed });
  };
}

/** What may be asked of a path: `OPTIONS` always, and the methods that it has a route for. */
export function allowedAt(app: OpenAPIHono<AppEnv>, config: Config, path: string): string[] {
  // Routes that are off look as if they were not there, whatever the method.
  const isOff = config.ADMIN_TOKEN === "" && config.VIEWER_TOKEN === "" && path.startsWith("/admin/");
  const methods = isOff ? [] : methodsAt(app, path);
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}

/** The methods that a path has a route for. Middleware is there for all of them, and does not count. */
function methodsAt({ router }: OpenAPIHono<AppEnv>, path: string): string[] {
  return METHODS.filter((method) => router.match(method, path)[0].some(([[, route]]) => route.method === method));
}
