import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { Config } from "../../config.ts";
import { LogBudget } from "../../core/log-budget.ts";
import { type Caller, callerKey, logFields } from "../../identity/caller.ts";
import type { AppEnv } from "../app-env.ts";
import { tellWhenDue } from "../edge-counts.ts";

/**
 * After each answer: one line in the log about what was decided, and now and then word to the engine of what was counted
 * here. A line holds no body, no header, no query and no path as it was sent: only the pattern of its route.
 */
export function observe(c: Context<AppEnv>, config: Config): void {
  const nowMs = Date.now();
  if (isLogged(config.LOG_REQUESTS, c)) log(c, config.LOG_REQUESTS === "on", nowMs);
  const told = tellWhenDue(c.env, config, nowMs);
  if (told !== null) c.executionCtx.waitUntil(told);
}

/** Refused, or faulty: whatever was not simply done. A check's answer is 200 and may say no all the same. */
function isLogged(which: Config["LOG_REQUESTS"], c: Context<AppEnv>): boolean {
  if (which !== "refused") return which === "on";
  const decision = c.get("decision");
  return decision === undefined ? c.res.status >= 400 : decision !== "allowed" || c.res.status >= 400;
}

/** A caller that has hung up reads no answer, whatever was decided meanwhile. */
function decisionOf(c: Context<AppEnv>): string {
  if (c.req.raw.signal.aborted) return "client_closed";
  return c.get("decision") ?? (c.res.status < 400 ? "done" : "failed");
}

/** In each isolate. What everybody is refused for in a flood is said often enough by so many. */
const REFUSALS_PER_SECOND = 20;
const budget = new LogBudget(REFUSALS_PER_SECOND);

function log(c: Context<AppEnv>, isWhole: boolean, nowMs: number): void {
  const leftOut = isWhole ? 0 : budget.take(nowMs);
  if (leftOut !== null) console.log(lineOf(c, leftOut, nowMs));
}

function lineOf(c: Context<AppEnv>, leftOut: number, nowMs: number): string {
  // Who nobody could tell, or nobody asked for, has no name.
  const caller: Caller | undefined = c.get("caller");
  const actor: string | undefined = c.get("actor");
  return JSON.stringify({
    event: "request",
    requestId: c.get("requestId"),
    ...(caller === undefined ? {} : logFields(callerKey(caller))),
    ...(actor === undefined ? {} : { actor }),
    method: c.req.method,
    route: routeOf(c),
    decision: decisionOf(c),
    status: c.res.status,
    durationMs: Math.max(0, nowMs - c.get("nowMs")),
    ...(leftOut === 0 ? {} : { leftOut }),
  });
}

/** The pattern of the route that answers; of a path that has none, nothing of what was sent. */
function routeOf(c: Context<AppEnv>): string {
  return matchedRoutes(c).findLast(({ method, path }) => method !== "ALL" && !path.endsWith("*"))?.path ?? "none";
}
