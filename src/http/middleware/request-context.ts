import type { MiddlewareHandler } from "hono";
import { completeAnswer, pathOf } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";

/** What a caller may choose as a request id: short, printable, harmless in a log line. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

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

/** First of all middleware that decides something: takes the time once, names the request, and puts the name on the answer. */
export function requestContext(): MiddlewareHandler<AppEnv> {
  return async function requestContext(c, next) {
    const given = c.req.header("X-Request-Id");
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
    c.set("requestId", requestId);
    c.set("nowMs", Date.now());
    c.set("noted", { "X-Request-Id": requestId });
    const path = pathOf(c);
    if (path.includes("%") && !isDecodable(path)) return problem(c, UNREADABLE_PATH);
    await next();
    completeAnswer(c);
  };
}
