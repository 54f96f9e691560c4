import type { Context } from "hono";
import type { Config } from "../../config.ts";
import type { Decision } from "../../core/limiter.ts";
import type { Charged } from "../../core/limiter-call.ts";
import type { Receipt } from "../../core/receipts.ts";
import {
  type Asker,
  type CheckAnswer,
  checkLimits,
  type LimitRequest,
  refundCaller,
  refusesHere,
} from "../../durable/limiters.ts";
import { note } from "../answer.ts";
import type { AppEnv } from "../app-env.ts";
import { noteLimit, noteReturn } from "../decision.ts";
import { countRefusal } from "../edge-counts.ts";
import { problem } from "../problem.ts";
import { rateProblem, setRateHeaders } from "../rate-headers.ts";

/** Layer 1 as one step of a route: charges the caller and puts the rate headers on whatever is answered. */

/** How long to wait before asking a limiter again that did not answer. */
const LIMITER_RETRY_SECONDS = 1;

/** @returns the decision, or the answer to give because there is none; a promise only where the limiter is asked */
export function limitTenant(
  c: Context<AppEnv>,
  config: Config,
  request: LimitRequest,
): Charged | Response | Promise<Charged | Response> {
  const answer = checkLimits(askerOf(c, config), request);
  return answer instanceof Promise ? answer.then((told) => take(c, request, told)) : take(c, request, answer);
}

/**
 * What this isolate would say to a cost without asking, for a request that is refused by it or by a later layer: the rate
 * headers are put on, and nothing is charged. Null: it does not know.
 */
export function judgeHere(c: Context<AppEnv>, config: Config, cost: number, judgeOnly: boolean): Decision | null {
  const decision = refusesHere(askerOf(c, config), cost, judgeOnly);
  if (decision === null || (decision.outcome === "allowed" && !judgeOnly)) return decision;
  take(c, { cost, critical: false, judgeOnly }, { kind: "decided", decision, degraded: false });
  return decision;
}

function take(c: Context<AppEnv>, request: LimitRequest, answer: CheckAnswer): Charged | Response {
  noteLimit(c, request, answer);
  if (answer.kind === "unavailable") {
    return problem(c, { code: "unavailable", detail: answer.detail, retryAfterSeconds: LIMITER_RETRY_SECONDS });
  }
  if (answer.degraded) note(c, "X-Headgate-Degraded", "limiter");
  setRateHeaders(c, answer.decision);
  return answer.decision;
}

function askerOf(c: Context<AppEnv>, config: Config): Asker {
  const [caller, nowMs] = [c.get("caller"), c.get("nowMs")];
  return { env: c.env, config, caller, nowMs, afterwards: (work) => c.executionCtx.waitUntil(work) };
}

/** Takes back the charge of a request that a later layer refused: a refusal charges nothing. */
export async function refundTenant(c: Context<AppEnv>, config: Config, cost: number, receipt: Receipt): Promise<void> {
  noteReturn(c);
  const reports = await refundCaller(askerOf(c, config), cost, receipt);
  if (reports !== null) setRateHeaders(c, { outcome: "allowed", reports });
}

/** As {@link limitTenant}, for a route that a refusal ends: a decision that is not an answer lets it go on. */
export async function refuseOverLimit(
  c: Context<AppEnv>,
  config: Config,
  request: LimitRequest,
): Promise<Charged | Response> {
  const decision = await limitTenant(c, config, request);
  if (decision instanceof Response) return decision;
  if (decision.outcome === "allowed") return decision;
  countRefusal(decision.outcome);
  return problem(c, rateProblem(decision, request.cost));
}
