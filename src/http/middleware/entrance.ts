import type { Context, MiddlewareHandler } from "hono";
import type { Config } from "../../config.ts";
import { completeAnswer, pathOf } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { noteOrigin, notePreflight } from "../cors.ts";
import { problem } from "../problem.ts";
import { observe } from "./telemetry.ts";

/**
 * Around everything: takes the time once, names the request, answers `OPTIONS`, completes the answer and has it counted
 * and logged. One middleware, because each costs every request as much as a decision does.
 */
export function entrance(config: Config, allowedAt: (path: string) => string[]): MiddlewareHandler<AppEnv> {
  return async function entrance(c, next) {
    const given = c.req.raw.headers.get("X-Request-Id");
    const requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
    c.set("requestId", requestId);
    c.set("nowMs", Date.now());
    c.set("noted", { "X-Request-Id": requestId });
    const isOriginAllowed = noteOrigin(c, config);
    const answer = c.req.method === "OPTIONS" ? options(c, isOriginAllowed) : unreadable(c);
    if (answer === null) await next();
    else c.res = answer;
    completeAnswer(c);
    observe(c, config);
  };

  /** Answered before anybody is asked who they are: never charged and never refused. */
  function options(c: Context<AppEnv>, isOriginAllowed: boolean): Response {
    const allowed = allowedAt(c.req.path);
    if (isOriginAllowed) notePreflight(c, config, allowed);
    return c.body(null, 204, { Allow: allowed.join(", ") });
  }
}

/** What a caller may choose as a request id: short, printable, harmless in a log line. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

function unreadable(c: Context<AppEnv>): Response | null {
  // Hono has decoded what can be, so that most paths need not be looked at as they were sent.
  return c.req.path.includes("%") && !isDecodable(pathOf(c)) ? problem(c, UNREADABLE_PATH) : null;
}

const UNREADABLE_PATH = {
  code: "invalid_request",
  detail: "The path is not percent-encoded UTF-8.",
  errors: [{ path: "path", message: "is not percent-encoded UTF-8" }],
} as const;

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
