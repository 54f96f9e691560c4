import type { MiddlewareHandler } from "hono";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { bearerToken } from "../../identity/credentials.ts";
import { TOKEN_LENGTH_MAX } from "../../identity/operator-token.ts";
import type { StrangerProblem } from "../../identity/resolver.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";
import { repeatedCredential } from "../repeated-field.ts";
import { answerStranger, tryCredential } from "./stranger.ts";

/**
 * Who may administer: sets `actor`, or answers. Without a configured token the routes are off, and look as if they
 * were not there. A wrong token is paid for by the caller's address, which once used up is refused whatever it sends.
 */
export function adminAuth(config: Config): MiddlewareHandler<AppEnv> {
  const off = config.ADMIN_TOKEN === "" && config.VIEWER_TOKEN === "";
  return async function adminAuth(c, next) {
    if (off) return c.notFound();
    const repeated = repeatedCredential(c.req.raw.headers);
    if (repeated !== null) return problem(c, repeated);
    const token = bearerToken(c.req.raw.headers);
    if (token === null) return answerStranger(c, config, WRONG_TOKEN);
    // These may be short enough to be guessed: no isolate takes one for known, whoever sends it.
    const actor = await tryCredential(c, NEVER_KNOWN, async () => {
      return (await actorOf(config, token)) ?? answerStranger(c, config, WRONG_TOKEN);
    });
    if (actor instanceof Response) return actor;
    const reads = c.req.method === "GET" || c.req.method === "HEAD";
    if (actor === "viewer" && !reads) return problem(c, READ_ONLY);
    c.set("actor", actor);
    return next();
  };
}

const NEVER_KNOWN = () => false;

const WRONG_TOKEN: StrangerProblem = {
  code: "unauthenticated",
  detail: "Admin routes take `Authorization: Bearer` with an admin or viewer token.",
};
const READ_ONLY: Problem = { code: "forbidden", detail: "A viewer token can only read." };

async function actorOf(config: Config, token: string): Promise<AppEnv["Variables"]["actor"] | null> {
  if (token.length > TOKEN_LENGTH_MAX) return null;
  // Both are always compared, so that the time says nothing about either.
  const [admin, viewer] = [await sameSecret(config.ADMIN_TOKEN, token), await sameSecret(config.VIEWER_TOKEN, token)];
  return admin ? "admin" : viewer ? "viewer" : null;
}

/** In constant time for secrets of any length, because digests have one. An empty secret is none and matches nothing. */
async function sameSecret(configured: string, given: string): Promise<boolean> {
  const [one, other] = [await digest(configured), await digest(given)];
  return crypto.subtle.timingSafeEqual(one, other) && configured !== "";
}

function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
