import type { Speed } from "./pace.ts";
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
  /** What a caller is told, where places are not handed out. */
  readonly retryAfterSeconds: number;
  /** From what the time of each refused caller follows (return-times.ts); null: all are told the same. */
  readonly places: { readonly ahead: number; readonly speed: Speed } | null;
  /** How long it will stay so at the least, in milliseconds, as far as its pace tells. */
  readonly lastsMs: number;
}

/** Of an engine that takes ordinary commands. */
export const HEALTHY: EngineHealth = { refusing: null, retryAfterSeconds: 1, places: null, lastsMs: 0 };

/** Plain data for module scope. Undefined until something was heard: unknown is not full. */
export interface GateState {
  readonly health: EngineHealth;
  /** When the state was heard, or the last probe was let through, Unix milliseconds. */
  readonly atMs: number;
}

/** How old a refusal at the edge may be, whatever the engine says of how long it will be full. */
export const GATE_INTERVAL_MS = 1000;
/** More probes than this would be no relief for an engine that is full. */
const GATE_INTERVAL_MIN_MS = 20;
/** Nobody knows how soon a full engine without a pace has room: it is asked now and then. */
const GATE_UNKNOWN_MS = 250;
/** So much of what may be in flight should have left before it is worth asking. */
const GATE_SHARE = 0.1;

/**
 * How long a full engine will stay full: until a tenth of its places is free again. A fast engine would otherwise stand
 * idle while the edge still refuses for a second.
 *
 * @param places what may be in flight
 * @param pacePerSecond null while there is none
 */
export function fullForMs(places: number, pacePerSecond: number | null): number {
  if (pacePerSecond === null) return GATE_UNKNOWN_MS;
  return Math.min(GATE_INTERVAL_MS, Math.max(GATE_INTERVAL_MIN_MS, (1000 * GATE_SHARE * places) / pacePerSecond));
}

export type GateVerdict =
  | { readonly verdict: "pass"; readonly next: GateState | undefined }
  | { readonly verdict: "refuse"; readonly code: OverloadCode; readonly health: EngineHealth };

/** Whether an ordinary command goes on to the engine. Critical ones are not asked. */
export function gate(state: GateState | undefined, nowMs: number): GateVerdict {
  if (state === undefined || state.health.refusing === null) return { verdict: "pass", next: state };
  // An answer may be heard after this request took its time, so a little "from the future" is fresh too.
  const fresh = Math.abs(nowMs - state.atMs) < Math.min(GATE_INTERVAL_MS, state.health.lastsMs);
  if (!fresh) return { verdict: "pass", next: { health: state.health, atMs: nowMs } };
  return { verdict: "refuse", code: state.health.refusing, health: state.health };
}

/** The state after an answer of the engine. */
export function heard(health: EngineHealth, nowMs: number): GateState {
  return { health, atMs: nowMs };
}
