import { type EngineHealth, type GateState, gate, heard, OVER_SHARE_DETAIL } from "../core/depth-gate.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";

/**
 * What this isolate knows and has done by itself. Plain data in module scope: no promise, stub or response may ever be
 * shared between requests.
 */

let gateState: GateState | undefined;
let refusals: Record<string, number> = {};

/** Layer 2: the problem to answer with, or null when a tenant's ordinary command goes on to the engine. */
export function gateRefusal(tenant: string, nowMs: number): Problem | null {
  const verdict = gate(gateState, tenant, nowMs);
  if (verdict.verdict === "pass") {
    gateState = verdict.next;
    return null;
  }
  const { code, overShare, retryAfterSeconds } = verdict;
  return { code, detail: overShare ? OVER_SHARE_DETAIL : detailOf(code), retryAfterSeconds };
}

function detailOf(code: OverloadCode): string {
  return code === "queue_full"
    ? "The command queue is full. Everyone has to wait."
    : "An operator has paused the engine, and it takes no commands.";
}

/** What the engine has just said of itself, in an answer to this tenant. */
export function hearEngine(health: EngineHealth, tenant: string, nowMs: number): void {
  gateState = heard(gateState, health, tenant, nowMs);
}

/** An operator has changed the engine through this isolate: what was heard before no longer holds. */
export function forgetEngine(): void {
  gateState = undefined;
}

/** Counts a refusal that the engine has not seen. */
export function countRefusal(code: string): void {
  refusals[code] = (refusals[code] ?? 0) + 1;
}

/** Takes the refusals that were not yet told to the engine. */
export function takeRefusals(): Readonly<Record<string, number>> {
  const taken = refusals;
  refusals = {};
  return taken;
}
