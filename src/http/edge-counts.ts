import type { Config } from "../config.ts";
import { EdgeCounts, type EdgeTold } from "../core/edge-told.ts";
import { NO_USAGE } from "../core/usage-minutes.ts";
import { tellEngine } from "../durable/engines.ts";
import type { Caller } from "../identity/caller.ts";

/**
 * What this isolate counts for the engine. It is told with a call that is made anyway (`/v1/queue`, `/admin/queue`,
 * `/metrics`), and else once in ten seconds: refusals must cost the engine nothing, and one call in ten seconds is that.
 */

const TELL_EVERY_MS = 10_000;

// Module scope: plain data, shared by the requests of an isolate.
const counts = new EdgeCounts();

/** Counts refusals that the engine has not seen. */
export function countRefusal(code: string, count = 1): void {
  counts.refused(code, count, Date.now());
}

/** Counts what a caller was told to wait. */
export function countTold(seconds: number): void {
  counts.told(seconds, Date.now());
}

/** Counts a request that a limiter did not answer for, whatever became of it. */
export function countDegraded(): void {
  counts.degraded(Date.now());
}

/** Counts a decision about a caller that is an address; tenants' are counted by their objects. */
export function countCheck(caller: Pick<Caller, "kind">, outcome: "admitted" | "refused" | "returned"): void {
  if (caller.kind === "address") counts.address({ ...NO_USAGE, [outcome]: 1 }, Date.now());
}

/** Takes what is to be told. */
export function takeTold(): EdgeTold {
  return counts.take();
}

/** Takes back what could not be told. */
export function giveBackTold(told: EdgeTold): void {
  counts.giveBack(told, Date.now());
}

/** Tells the engine what it has waited ten seconds for, if anything; null: there is nothing to do. Never rejects. */
export function tellWhenDue(env: Env, config: Config, nowMs: number): Promise<void> | null {
  if (counts.untoldMs(nowMs) < TELL_EVERY_MS) return null;
  const told = takeTold();
  return tellEngine(env, config, told).catch(() => giveBackTold(told));
}
