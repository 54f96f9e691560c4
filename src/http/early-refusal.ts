import type { Context } from "hono";
import type { Config } from "../config.ts";
import { isCritical } from "../core/intents.ts";
import { isJsonObject } from "../core/json.ts";
import { partitionFor } from "../durable/engines.ts";
import { callerKey } from "../identity/caller.ts";
import type { AppEnv } from "./app-env.ts";
import { closedTo, isWanting, refuseAtEdge } from "./edge.ts";
import { countRefusal } from "./edge-counts.ts";
import { takesIntent } from "./intents.ts";
import { judgeHere } from "./middleware/tenant-limit.ts";
import { problem } from "./problem.ts";
import { rateProblem } from "./rate-headers.ts";

/**
 * Refuses what this isolate knows will be refused, before it looks any further: in an overload that is most of what comes,
 * and it must cost less than what is done. It says nothing that layers 1 and 2 would not say, and only to ordinary
 * commands without a key of their caller's; whatever it does not know goes on to them.
 *
 * @param body as it was sent, before it is checked
 * @returns null for a command that goes on
 */
export function refuseEarly(c: Context<AppEnv>, config: Config, cost: number, body: unknown): Response | null {
  if (!isJsonObject(body)) return null;
  const { intent, payload } = body;
  const isOrdinary = typeof intent === "string" && takesIntent(config, intent) && !isCritical(config.intents, intent);
  if (!isOrdinary || c.req.raw.headers.has("Idempotency-Key")) return null;
  const caller = c.get("caller");
  const tenant = callerKey(caller);
  const nowMs = c.get("nowMs");
  const partition = partitionFor(config, tenant, isJsonObject(payload) ? payload : {});
  const closed = closedTo(partition, tenant, nowMs);
  // Who is refused room is taken to want it: so the first one is looked into, and has to be one that could run.
  if (closed !== null && !isWanting(partition, tenant, nowMs)) return null;
  const own = judgeHere(c, config, cost, closed !== null);
  if (own === null) return null;
  if (own.outcome !== "allowed") {
    countRefusal(own.outcome);
    return problem(c, rateProblem(own, cost));
  }
  if (closed === null) return null;
  return problem(c, refuseAtEdge(partition, { tenant, weight: caller.weight }, closed, nowMs));
}
