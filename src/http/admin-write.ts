import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { Problem } from "../core/problem.ts";
import { askAgainForAll, forget } from "../identity/directory.ts";
import { type Act, STORE_RETRY_AFTER_SECONDS } from "../store/database.ts";
import type { AppEnv } from "./app-env.ts";
import { problem } from "./problem.ts";

/**
 * What every admin write has in common: it is committed in D1, forgotten by this isolate's memory of callers, and
 * pushed to the tenant's object, before it is answered.
 */

/** Whose answers of D1 a write makes old. */
type Touched = { readonly tenant: string } | { readonly keyId: string } | "all limits";

/** Who makes this write, and when. */
export function actOf(c: Context<AppEnv>): Act {
  return { actor: c.get("actor"), nowMs: c.get("nowMs") };
}

/**
 * Commits a write. What it touches is asked for again here at once.
 *
 * @throws what the store throws; since D1 may have kept what it did not confirm, everything is then asked for again
 */
export async function commit<T>(touched: Touched, write: () => Promise<T>): Promise<T> {
  let kept = false;
  try {
    const saved = await write();
    kept = true;
    return saved;
  } finally {
    if (kept && touched !== "all limits") forget(touched);
    else askAgainForAll();
  }
}

/** Tells the objects of a write that is committed. @returns the answer to give when they cannot be told; else null */
export async function push(c: Context<AppEnv>, config: Config, tell: () => Promise<unknown>): Promise<Response | null> {
  try {
    await tell();
    return null;
  } catch (error) {
    console.error(JSON.stringify({ event: "push_failed", requestId: c.get("requestId"), error: String(error) }));
    const seconds = Math.ceil(config.IDENTITY_CACHE_MS / 1000);
    const detail =
      `The change is saved, and takes effect within ${seconds} s of a tenant's next request, but not every ` +
      "limiter could be told at once. Repeating the request is safe.";
    return problem(c, { code: "unavailable", detail, retryAfterSeconds: STORE_RETRY_AFTER_SECONDS });
  }
}

export function notFound(c: Context<AppEnv>, what: "tenant" | "tier" | "key"): Response {
  const fault: Problem = { code: "not_found", detail: `There is no such ${what}.` };
  return problem(c, fault);
}

/** Times are stored in Unix milliseconds and shown as ISO 8601. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
