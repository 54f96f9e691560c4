import type { Context } from "hono";
import type { Problem } from "../../core/problem.ts";
import type { AppEnv } from "../app-env.ts";
import { faultRefusal, isOverReadShare, takeRead } from "../caller-limits.ts";
import { countRefusal } from "../edge-counts.ts";
import { problem } from "../problem.ts";
import { rateProblem, setRateHeaders } from "../rate-headers.ts";

/** Refuses a caller that floods what its own limits do not count, as a step of a route. */

/** Charges a read that may reach the engine. @returns null for a read that goes on */
export function refuseRead(c: Context<AppEnv>): Response | null {
  const decision = takeRead(c);
  setRateHeaders(c, decision);
  if (decision.outcome === "allowed") return null;
  countRefusal(decision.outcome);
  return problem(c, rateProblem(decision, 1));
}

/** As {@link refuseRead}, for a read that nothing is kept of: the engine answers each. */
export function refuseEngineRead(c: Context<AppEnv>): Response | null {
  return refuseRead(c) ?? (isOverReadShare(c) ? problem(c, READS_SHARED) : null);
}

const READS_SHARED: Problem = {
  code: "unavailable",
  detail: "As many commands are read of the engine as may be in a second. Nothing was changed.",
  retryAfterSeconds: 1,
};

/** Refuses a caller that has sent too many faulty requests, before this one is looked into; null: it goes on. */
export function refuseFaulty(c: Context<AppEnv>): Response | null {
  const refusal = faultRefusal(c);
  if (refusal === null) return null;
  setRateHeaders(c, refusal);
  countRefusal(refusal.outcome);
  const { violated, retryAfterSeconds } = refusal;
  return problem(c, { code: "rate_limited", detail: TOO_MANY_FAULTS, violated, retryAfterSeconds });
}

const TOO_MANY_FAULTS = "Too many of your requests were faulty. This one was not looked into: mend them first.";
