import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { Problem } from "../../core/problem.ts";
import { addressCaller } from "../../identity/address.ts";
import type { Asking } from "../../identity/directory.ts";
import type { AppEnv } from "../app-env.ts";
import { countRefusal } from "../edge-counts.ts";
import { problem } from "../problem.ts";
import { rateProblem } from "../rate-headers.ts";
import { limitTenant } from "./tenant-limit.ts";

/** What happens to a caller who cannot say who it is: its address pays for the try, so that guessing ends in 429. */

const TRY = { cost: 1, critical: false };

/** The questions of this request to D1. */
export function askingOf(c: Context<AppEnv>, config: Config): Asking {
  return {
    env: c.env,
    nowMs: c.get("nowMs"),
    keepMs: config.IDENTITY_CACHE_MS,
    defer: (work) => c.executionCtx.waitUntil(work),
  };
}

/**
 * Charges the caller's address for a try, and answers: the fault itself, or 429 once the address has used up what the
 * anonymous tier gives it. Either way the answer says what is left.
 */
export async function answerStranger(
  c: Context<AppEnv>,
  config: Config,
  fault: Problem & { code: "unauthenticated" },
): Promise<Response> {
  c.set("caller", await addressCaller(askingOf(c, config), c.req.raw.headers));
  const decision = await limitTenant(c, config, TRY);
  if (decision instanceof Response) return decision;
  // A tier without any burst has nothing to use up and no time to come back at: the fault is all there is to say.
  if (decision.outcome !== "rate_limited") return problem(c, fault);
  countRefusal(decision.outcome);
  return problem(c, rateProblem(decision, TRY.cost));
}
