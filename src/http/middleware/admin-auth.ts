import type { MiddlewareHandler } from "hono";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { bearerToken } from "../../identity/credentials.ts";
import type { AppEnv } from "../app-env.ts";
import { problem } from "../problem.ts";
import { repeatedCredential } from "../repeated-field.ts";
import { answerStranger } from "./stranger.ts";

/** Longer than any token that somebody configures; a longer one is refused without being hashed. */
const TOKEN_LENGTH_MAX = 4096;

/**
 * Who may administer: sets `actor`, or answers. Without a configured token the routes are off, and look as if they
 * were not there. A wrong token is paid for by the caller's address.
 */
export function adminAuth(config: Config): MiddlewareHandler<AppEnv> {
  const off = config.ADMIN_TOKEN === "" && config.VIEWER_TOKEN === "";
  return async function adminAuth(c, next) {
    if (off) return c.notFound();
    const repeated = repeatedCredential(c.req.raw.headers);
    if (repeated !== null) return problem(c, repeated);
    const token = bearerToken(c.req.raw.headers);
    const actor = token === null ? null : await actorOf(config, token);
    if (actor === null) return answerStranger(c, config, WRONG_TOKEN);
    const reads = c.req.method === "GET" || c.req.method === "HEAD";
    if (actor === "viewer" && !reads) return problem(c, READ_ONLY);
    c.set("actor", actor);
    return next();
  };
}

const WRONG_TOKEN: Problem & { code: "unauthenticated" } = {
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
