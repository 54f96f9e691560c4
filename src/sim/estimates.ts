import type { EngineHealth } from "../core/depth-gate.ts";
import type { Asker } from "../core/fair-share.ts";
import { RETRY_AFTER_MAX_SECONDS, RETRY_AFTER_UNKNOWN_SECONDS } from "../core/pace.ts";
import { plainRetryAfterSeconds } from "../core/return-times.ts";
import type { Life } from "./life.ts";

/** What refused callers are told, thinly: what `durable/estimates.ts` does around the core's pace and return times. */

/** `Retry-After` for one more refused caller, whole seconds. @param ahead commands that have to start before its */
export function retryAfterSeconds(life: Life, asker: Asker, ahead: number, nowMs: number): number {
  const { world, pace, returnTimes } = life;
  if (world.spec.retryAfter === "plain") return plainRetryAfterSeconds(ahead, pace.completedLastMinute(nowMs));
  const speed = life.speed(nowMs);
  const told = returnTimes.tell(asker, aheadWithHold(life, ahead, nowMs), speed, nowMs, world.random());
  return speed.perSecond === null ? Math.max(told, unknownSeconds(life, nowMs)) : told;
}

/** From what an isolate tells those whom it refuses without asking. */
export function toldAtEdge(
  life: Life,
  ahead: number,
  nowMs: number,
): Pick<EngineHealth, "retryAfterSeconds" | "places"> {
  if (life.world.spec.retryAfter === "plain") {
    const seconds = plainRetryAfterSeconds(ahead, life.pace.completedLastMinute(nowMs));
    return { retryAfterSeconds: seconds, places: null };
  }
  const speed = life.speed(nowMs);
  const known = speed.perSecond !== null || speed.quota !== null;
  const places = known ? { ahead: aheadWithHold(life, ahead, nowMs), speed } : null;
  return { retryAfterSeconds: unknownSeconds(life, nowMs), places };
}

/** As many commands as start in the time that the backend is held for wait in front of all others, so to speak. */
export function aheadWithHold(life: Life, ahead: number, nowMs: number): number {
  return ahead + (life.line.heldMs(nowMs) / 1000) * (life.pace.perSecond(nowMs) ?? 0);
}

function unknownSeconds(life: Life, nowMs: number): number {
  const heldSeconds = Math.ceil(life.line.heldMs(nowMs) / 1000);
  return Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(RETRY_AFTER_UNKNOWN_SECONDS, heldSeconds));
}
