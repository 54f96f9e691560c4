import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import {
  ANY_WIRE,
  type AnyProblem,
  type AnyProblemCode,
  ENGINE_RETRY_AFTER_MAX_SECONDS,
  ENGINE_TITLES,
} from "../core/problem.ts";
import { answer, type Headings, pathOf } from "./answer.ts";
import type { AppEnv } from "./app-env.ts";
import { noteProblem } from "./decision.ts";

/**
 * The one place where an error becomes a body: application/problem+json (RFC 9457) with our `code`. On the engine's own
 * surface the titles are the engine's names, which its clients go by.
 */

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: AnyProblemCode;
  readonly error?: string;
  readonly "violated-policies"?: readonly string[];
  readonly retryAfterSeconds?: number;
  readonly errors?: ReadonlyArray<{ path: string; message: string }>;
  readonly partitions?: { readonly confirmed: readonly number[]; readonly unconfirmed: readonly number[] };
}

/** Every answer that is no success, as the API document shows it. */
export const problemSchema = z
  .object({
    type: z.string().describe("A URI of the kind of problem; `about:blank` where the status says it all."),
    title: z.string().describe("The name of the status; on `/v2` the engine's own, which its clients go by."),
    status: z.int(),
    detail: z.string().describe("What happened here, for people: it names the limit, or the field."),
    instance: z.string().describe("The path that was asked for."),
    code: z.enum(Object.keys(ANY_WIRE)).describe("What programs decide by."),
    error: z.string().optional().describe("On `/oauth/token`: the same in the words of OAuth."),
    "violated-policies": z.array(z.string()).optional().describe("The names of the limits that refused."),
    retryAfterSeconds: z.int().optional().describe("When a new try makes sense, as `Retry-After` says it."),
    errors: z
      .array(
        z.object({
          path: z.string().describe("The field, as dotted names: `payload.tasks.0.type`."),
          message: z.string(),
        }),
      )
      .optional()
      .describe("Each field that is wrong."),
    partitions: z
      .object({ confirmed: z.array(z.int()), unconfirmed: z.array(z.int()) })
      .optional()
      .describe("Of a change of the engine: its partitions that confirmed it, and those that may have made it or not."),
  })
  .openapi("Problem");

/** Makes the answer to a problem. `429` and `503` carry `Retry-After` where there is a time to come back. */
export function problem(c: Context<AppEnv>, fault: AnyProblem): Response {
  const body = problemBody(fault, pathOf(c));
  const { retryAfterSeconds } = body;
  noteProblem(c, fault.code, retryAfterSeconds ?? null);
  const headings: Headings = { "Cache-Control": "no-store" };
  if (retryAfterSeconds !== undefined) headings["Retry-After"] = String(retryAfterSeconds);
  if (fault.code === "method_not_allowed") headings.Allow = fault.allowed.join(", ");
  // What is taken instead (RFC 9110, 12.5.3).
  if (fault.code === "unsupported_media_type") headings["Accept-Encoding"] = "identity";
  if (fault.code === "unauthenticated") headings["WWW-Authenticate"] = 'Bearer realm="headgate"';
  return answer(c, ANY_WIRE[fault.code].status, "application/problem+json", JSON.stringify(body), headings);
}

/** What is said of a problem. @param instance the path that was asked for */
export function problemBody(fault: AnyProblem, instance: string): ProblemBody {
  const { status, title, type } = ANY_WIRE[fault.code];
  const forEngineClients = ENGINE_SURFACE.test(instance);
  const comeBackSeconds = comeBackAfter(fault, forEngineClients);
  return {
    type,
    title: forEngineClients ? ENGINE_TITLES[fault.code] : title,
    status,
    detail:
      fault.code === "internal" ? "Something went wrong here. The request id names it in the logs." : fault.detail,
    instance,
    code: fault.code,
    ...(instance === TOKEN_PATH ? { error: OAUTH_ERRORS[fault.code] ?? "invalid_request" } : {}),
    ...("violated" in fault ? { "violated-policies": fault.violated } : {}),
    ...(comeBackSeconds === null ? {} : { retryAfterSeconds: comeBackSeconds }),
    ...("errors" in fault && fault.errors ? { errors: fault.errors } : {}),
    ...("partitions" in fault && fault.partitions ? { partitions: fault.partitions } : {}),
  };
}

/** There a client of OAuth looks for a name of its own (RFC 6749, 5.2). */
const TOKEN_PATH = "/oauth/token";
const OAUTH_ERRORS: Readonly<Partial<Record<AnyProblemCode, string>>> = {
  unauthenticated: "invalid_client",
  forbidden: "unauthorized_client",
  rate_limited: "temporarily_unavailable",
  unavailable: "temporarily_unavailable",
  internal: "server_error",
};

/** The engine's own surface, at its root or with the tenant in front. */
const ENGINE_SURFACE = /^(\/t\/[^/]+)?\/v2(\/|$)/;

function comeBackAfter(fault: AnyProblem, forEngineClients: boolean): number | null {
  if (!("retryAfterSeconds" in fault)) return null;
  const seconds = fault.retryAfterSeconds;
  return forEngineClients ? Math.min(seconds, ENGINE_RETRY_AFTER_MAX_SECONDS) : seconds;
}
