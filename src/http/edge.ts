import { type EngineHealth, type GateState, gate, heard } from "../core/depth-gate.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";

/**
 * What this isolate knows and has done by itself. Plain data in module scope: no promise, stub or response may ever be
 * shared between requests.
 */

/** By partition of the engine; there are at most as many as the deployment has. */
const gateStates = new Map<number, GateState>();
let refusals: Record<string, number> = {};

/** Layer 2: the problem to answer with, or null when an ordinary command goes on to the engine. */
export function gateRefusal(partition: number, nowMs: number): Problem | null {
  const verdict = gate(gateStates.get(partition), nowMs);
  if (verdict.verdict === "pass") {
    if (verdict.next !== undefined) gateStates.set(partition, verdict.next);
    return null;
  }
  const { code, retryAfterSeconds } = verdict;
  return { code, detail: DETAILS[code], retryAfterSeconds };
}

const DETAILS: Readonly<Record<OverloadCode, string>> = {
  queue_full: "The command queue is full. Everyone has to wait.",
  request_limit: "The engine works on as many commands as it bears. Everyone has to wait.",
  write_limit: "The engine takes no more commands this second. Everyone has to wait.",
  engine_paused: "An operator has paused the engine, and it takes no commands.",
};

/** What the engine has just said of itself. */
export function hearEngine(partition: number, health: EngineHealth, nowMs: number): void {
  gateStates.set(partition, heard(health, nowMs));
}

/** An operator has changed the engine through this isolate: what was heard before no longer holds. */
export function forgetEngine(): void {
  gateStates.clear();
}

/** Counts refusals that the engine has not seen. */
export function countRefusal(code: string, count = 1): void {
  refusals[code] = (refusals[code] ?? 0) + count;
}

/** Takes the refusals that were not yet told to the engine. */
export function takeRefusals(): Readonly<Record<string, number>> {
  const taken = refusals;
  refusals = {};
  return taken;
}
