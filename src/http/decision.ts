import type { Context } from "hono";
import type { AnyProblemCode } from "../core/problem.ts";
import type { CheckAnswer, LimitRequest } from "../durable/limiters.ts";
import type { AppEnv } from "./app-env.ts";
import { countFault } from "./caller-limits.ts";
import { countCheck, countDegraded, countTold } from "./edge-counts.ts";

/** What each step decides about a request is noted here: for its line in the log, and for what this isolate counts. */

/** Layer 1 has answered, or nobody has for it. */
export function noteLimit(c: Context<AppEnv>, { cost, judgeOnly = false }: LimitRequest, answer: CheckAnswer): void {
  if (answer.kind === "unavailable" || answer.degraded) countDegraded();
  if (answer.kind === "unavailable") return;
  const { outcome } = answer.decision;
  c.set("decision", outcome);
  // As a tenant's object counts: a look is none, and neither is a judgement about what is refused anyway.
  if (cost > 0 && !judgeOnly) countCheck(c.get("caller"), outcome === "allowed" ? "admitted" : "refused");
}

/** What layer 1 had charged is given back. */
export function noteReturn(c: Context<AppEnv>): void {
  countCheck(c.get("caller"), "returned");
}

/** The request is answered with a problem. @param retryAfterSeconds what its caller is told to wait; null: no time */
export function noteProblem(c: Context<AppEnv>, code: AnyProblemCode, retryAfterSeconds: number | null): void {
  // What the engine finds faulty was charged before.
  if (FAULTS.has(code) && c.get("decision") === undefined) countFault(c);
  c.set("decision", code);
  if (retryAfterSeconds !== null) countTold(retryAfterSeconds);
}

/** What is wrong with a request itself. Nothing else is charged for these. */
const FAULTS: ReadonlySet<AnyProblemCode> = new Set(["invalid_request", "payload_too_large", "unsupported_media_type"]);
