import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Problem, type ProblemCode, WIRE } from "../core/problem.ts";
import type { AppEnv } from "./app-env.ts";

/** The one place where an error becomes a body: application/problem+json (RFC 9457) with our `code`. */

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ProblemCode;
  readonly "violated-policies"?: readonly string[];
  readonly retryAfterSeconds?: number;
  readonly errors?: ReadonlyArray<{ path: string; message: string }>;
}

/** Every answer that is no success, as the API document shows it. */
export const PROBLEM_RESPONSE = {
  description: "What is said instead of yes; `code` says what to do. 429 and 503 carry `Retry-After`",
  content: {
    "application/problem+json": {
      schema: z
        .object({
          type: z.string(),
          title: z.string(),
          status: z.int(),
          detail: z.string(),
          instance: z.string(),
          code: z.enum(Object.keys(WIRE)),
          "violated-policies": z.array(z.string()).optional(),
          retryAfterSeconds: z.int().optional(),
          errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
        })
        .openapi("Problem"),
    },
  },
};

/** Makes the answer to a problem. `429` and `503` carry `Retry-After` where there is a time to come back. */
export function problem(c: Context<AppEnv>, fault: Problem): Response {
  const { status, title, type } = WIRE[fault.code];
  const body: ProblemBody = {
    type,
    title,
    status,
    detail:
      fault.code === "internal" ? "Something went wrong here. The request id names it in the logs." : fault.detail,
    instance: new URL(c.req.url).pathname,
    code: fault.code,
    ...("violated" in fault ? { "violated-policies": fault.violated } : {}),
    ...("retryAfterSeconds" in fault ? { retryAfterSeconds: fault.retryAfterSeconds } : {}),
    ...("errors" in fault && fault.errors ? { errors: fault.errors } : {}),
  };
  const headers: Record<string, string> = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
  if ("retryAfterSeconds" in fault) headers["Retry-After"] = String(fault.retryAfterSeconds);
  if (fault.code === "unauthenticated") headers["WWW-Authenticate"] = 'Bearer realm="headgate"';
  return c.body(JSON.stringify(body), status, headers);
}
