import { type EngineHealth, type GateState, gate, heard } from "../core/depth-gate.ts";
import type { Problem } from "../core/problem.ts";

/**
 * What this isolate knows and has done by itself. Plain data in module scope: no promise, stub or response may ever be
 * shared between requests.
 */

let gateState: GateState | undefined;
let refusals: Record<string, number> = {};

/** Layer 2: the problem to answer with, or null when an ordinary command goes on to the engine. */
export function gateRefusal(nowMs: number): Problem | null {
  const verdict = gate(gateState, nowMs);
  if (verdict.verdict === "pass") {
    gateState = verdict.next;
    return null;
  }
  const { code, retryAfterSeconds } = verdict;
  const detail =
    code === "queue_full"
      ? "The command queue is full. Everyone has to wait."
      : "An operator has paused the engine, and it takes no commands.";
  return { code, detail, retryAfterSeconds };
}

/** What the engine has just said of itself. */
export function hearEngine(health: EngineHealth, nowMs: number): void {
  gateState = heard(health, nowMs);
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
