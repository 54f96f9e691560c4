import type { Context } from "hono";
import type { HangUp } from "../durable/hang-up.ts";
import type { AppEnv } from "./app-env.ts";

/** What a route does about a caller that hangs up. */

export function hangUpOf(c: Context<AppEnv>): HangUp {
  return { signal: c.req.raw.signal, afterwards: (task) => c.executionCtx.waitUntil(task) };
}

/**
 * Has a task run to its end whether or not the caller is still there. The platform drops what a caller that hangs up was
 * waiting for: its charge would stay, and the pass or place that it took would be lost.
 */
export function finishAnyway<T>(c: Context<AppEnv>, task: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(task.then(ignore, ignore));
  return task;
}

function ignore(): void {}
