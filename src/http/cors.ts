import type { Context } from "hono";
import type { Config } from "../config.ts";
import { note, noteVary } from "./answer.ts";
import type { AppEnv } from "./app-env.ts";
import { ANSWER_HEADERS } from "./document/headers.ts";

/**
 * Which pages of other origins may call the gateway and read its answers (the CORS protocol of the Fetch standard): those
 * of `CORS_ORIGINS`, and on every route but those under `/admin`, where the dashboard of this origin is the only page.
 *
 * The fields are noted before the request goes its way, so that refusals and errors carry them too. No credential of ours
 * is one that a browser sends by itself, so `Access-Control-Allow-Credentials` is never sent. `hono/cors` is not used: it
 * copies each answer, and its preflight answers for methods that a path does not have.
 */

/** What a page may send besides what any page may. */
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Prefer",
  "X-API-Key",
  "X-Request-Id",
];
/** How long a browser keeps what a preflight said, in seconds: ten minutes, after which a changed setting holds. */
const PREFLIGHT_SECONDS = 600;
const EXPOSED = ANSWER_HEADERS.join(", ");

/**
 * Notes for whatever is answered that its origin may read it.
 *
 * @returns whether the request's origin is allowed here
 */
export function noteOrigin(c: Context<AppEnv>, { CORS_ORIGINS: origins }: Config): boolean {
  if (origins.length === 0 || c.req.path.startsWith("/admin/")) return false;
  // A cache must not give one origin what another was answered, nor what none was.
  noteVary(c, "Origin");
  const origin = c.req.raw.headers.get("Origin");
  if (origin === null || !origins.includes(origin)) return false;
  note(c, "Access-Control-Allow-Origin", origin);
  note(c, "Access-Control-Expose-Headers", EXPOSED);
  return true;
}

/** Notes what a page of an allowed origin may send. @param methods those of the path */
export function notePreflight(c: Context<AppEnv>, config: Config, methods: readonly string[]): void {
  const { headers } = c.req.raw;
  if (!headers.has("Access-Control-Request-Method")) return;
  note(c, "Access-Control-Allow-Methods", methods.join(", "));
  note(c, "Access-Control-Allow-Headers", [...REQUEST_HEADERS, ...config.UPSTREAM_FORWARD_HEADERS].join(", "));
  note(c, "Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
}
