import type { Context } from "hono";
import type { Decision } from "../core/limiter.ts";
import { tightest } from "../core/policy-report.ts";
import type { Problem } from "../core/problem.ts";
import { quotaPolicies, serviceLimits, writeLimitHeader, writePolicyHeader } from "../core/rate-headers.ts";
import { note } from "./answer.ts";
import type { AppEnv } from "./app-env.ts";

/** What every limited answer says of its limits: the draft's two headers, and the older three of the tightest policy. */
export function setRateHeaders(c: Context<AppEnv>, decision: Decision): void {
  const { reports } = decision;
  const tight = tightest(reports);
  if (tight === undefined) return;
  note(c, "RateLimit-Policy", writePolicyHeader(quotaPolicies(reports)));
  note(c, "RateLimit", writeLimitHeader(serviceLimits(decision)));
  note(c, "X-RateLimit-Limit", String(tight.limit));
  note(c, "X-RateLimit-Remaining", String(tight.remaining));
  const resetAt = tight.resetSeconds === null ? NEVER : Math.ceil(c.get("nowMs") / 1000) + tight.resetSeconds;
  note(c, "X-RateLimit-Reset", String(resetAt));
}

/** What never comes back does so at the end of the year 9999, the last moment that a date can be written. */
const NEVER = 253_402_300_799;

/** A refusal of layer 1 as a problem. Says which policy refused and when a new try makes sense. */
export function rateProblem(decision: Exclude<Decision, { outcome: "allowed" }>, cost: number): Problem {
  const { violated } = decision;
  const named = violated.map((name) => `"${name}"`).join(", ");
  switch (decision.outcome) {
    case "rate_limited": {
      const { retryAfterSeconds } = decision;
      const detail = `You have used up the limit ${named}. A request of cost ${cost} fits in ${retryAfterSeconds} s.`;
      return { code: "rate_limited", detail, violated, retryAfterSeconds };
    }
    case "cost_exceeds_capacity":
      return {
        code: "cost_exceeds_capacity",
        detail: `A cost of ${cost} can never fit under the limit ${named}. Waiting does not help.`,
        violated,
      };
  }
}
