import type { OverloadCode } from "./problem.ts";

/**
 * Layer 2: what an isolate last heard of the engine, and what follows for the next command. While the engine is full,
 * commands are refused without touching it, so that overload costs it nothing; one command per interval goes through
 * as a probe, so that relief is noticed.
 *
 * A probe may be one of the callers who wait for room at the engine. It is answered the moment there is room, so the
 * isolate hears of relief at once even though it asks only once per interval.
 */

/** What the engine says of itself with each answer. */
export interface EngineHealth {
  /** Null: the engine takes ordinary commands. */
  readonly refusing: OverloadCode | null;
  readonly retryAfterSeconds: number;
}

/** Plain data for module scope. Undefined until something was heard: unknown is not full. */
export interface GateState {
  readonly health: EngineHealth;
  /** When the state was heard, or the last probe was let through, Unix milliseconds. */
  readonly atMs: number;
}

/** How old a refusal at the edge may be. */
export const GATE_INTERVAL_MS = 1000;

export type GateVerdict =
  | { readonly verdict: "pass"; readonly next: GateState | undefined }
  | { readonly verdict: "refuse"; readonly code: OverloadCode; readonly retryAfterSeconds: number };

/** Whether an ordinary command goes on to the engine. Critical ones are not asked. */
export function gate(state: GateState | undefined, nowMs: number): GateVerdict {
  if (state === undefined || state.health.refusing === null) return { verdict: "pass", next: state };
  // An answer may be heard after this request took its time, so a little "from the future" is fresh too.
  const fresh = Math.abs(nowMs - state.atMs) < GATE_INTERVAL_MS;
  if (!fresh) return { verdict: "pass", next: { health: state.health, atMs: nowMs } };
  return {
    verdict: "refuse",
    code: state.health.refusing,
    retryAfterSeconds: state.health.retryAfterSeconds,
  };
}

/** The state after an answer of the engine. */
export function heard(health: EngineHealth, nowMs: number): GateState {
  return { health, atMs: nowMs };
}
