import { type Backoff, backoffCeilingMs, backoffMs } from "../backoff.ts";

/**
 * When an upstream may be asked at all. Two things stop it: the upstream says "not now" (429, 503), which is obeyed and
 * costs no attempt; and failures in a row, which open the circuit so that an upstream that is down is not hammered and
 * does not burn the attempts of everything that waits. After either a single probe goes first; the rest follow once it
 * has been answered. One state serves both, because the way back is the same.
 */

export interface Circuit {
  /** Attempts in a row that failed. */
  readonly failures: number;
  /** "Not now" in a row without a time. */
  readonly holds: number;
  /** Nothing is started before this, Unix milliseconds. */
  readonly notBeforeMs: number;
  /** Until one attempt that began after `notBeforeMs` was answered, one at a time. */
  readonly probing: boolean;
}

export interface CircuitOptions {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  /** How long it stays open, growing with each probe that fails; and how long a "not now" without a time lasts. */
  readonly backoff: Backoff;
}

/** The longest that an upstream's word is taken for: after an hour it is worth asking whether it meant it. */
export const HOLD_MS_MAX = 3_600_000;
/** A shorter one is as good as none: an upstream that says "not now" and "at once" together would be asked without end. */
const HOLD_MS_MIN = 200;

/** Everything passes. */
export const CLOSED: Circuit = { failures: 0, holds: 0, notBeforeMs: 0, probing: false };

export type CircuitVerdict =
  | { readonly verdict: "pass" }
  /** Null: when the attempt that is under way has ended. */
  | { readonly verdict: "wait"; readonly untilMs: number | null };

/** Whether one more attempt may begin. @param running attempts under way */
export function mayBegin(circuit: Circuit, running: number, nowMs: number): CircuitVerdict {
  if (isWaiting(circuit, nowMs)) return { verdict: "wait", untilMs: circuit.notBeforeMs };
  return circuit.probing && running > 0 ? { verdict: "wait", untilMs: null } : { verdict: "pass" };
}

/** Whether nothing may begin now. A time further ahead than any that is set was left by a clock that stepped back. */
export function isWaiting(circuit: Circuit, nowMs: number): boolean {
  const leftMs = circuit.notBeforeMs - nowMs;
  return leftMs > 0 && leftMs <= HOLD_MS_MAX;
}

/** The upstream has answered, with a yes or with a no of its own. @param beganMs when that attempt began */
export function afterAnswer(circuit: Circuit, beganMs: number): Circuit {
  // One that was under way when the upstream said "not now" says nothing about how it is since.
  return isOlder(circuit, beganMs) ? { ...circuit, failures: 0 } : CLOSED;
}

/** The upstream has said "not now". @param waitMs for so long; null: it did not say */
export function afterHold(
  circuit: Circuit,
  waitMs: number | null,
  beganMs: number,
  nowMs: number,
  random: number,
  { backoff }: CircuitOptions,
): Circuit {
  // Several that were under way together are one "not now".
  const holds = isOlder(circuit, beganMs) ? Math.max(1, circuit.holds) : circuit.holds + 1;
  // At least half of the ceiling: a wait of nothing would ask again at once.
  const unknownMs = (backoffCeilingMs(holds, backoff) + backoffMs(holds, backoff, random)) / 2;
  const toldMs = waitMs !== null && waitMs >= HOLD_MS_MIN ? waitMs : Math.ceil(unknownMs);
  const untilMs = nowMs + Math.min(HOLD_MS_MAX, toldMs);
  return { ...circuit, holds, notBeforeMs: laterOf(circuit, untilMs, nowMs), probing: true };
}

/** An attempt has failed: no answer, or none that says anything. */
export function afterFailure(
  circuit: Circuit,
  beganMs: number,
  nowMs: number,
  random: number,
  { failuresMax, backoff }: CircuitOptions,
): Circuit {
  if (isOlder(circuit, beganMs)) return circuit;
  const failures = circuit.failures + 1;
  if (failures < failuresMax && !circuit.probing) return { ...circuit, failures };
  const opened = Math.max(1, failures - failuresMax + 1);
  const openMs = (backoffCeilingMs(opened, backoff) + backoffMs(opened, backoff, random)) / 2;
  const untilMs = nowMs + Math.min(HOLD_MS_MAX, Math.ceil(openMs));
  return { ...circuit, failures, notBeforeMs: laterOf(circuit, untilMs, nowMs), probing: true };
}

/** Whether an attempt began before the present wait was set. */
function isOlder({ notBeforeMs, probing }: Circuit, beganMs: number): boolean {
  return probing && beganMs < notBeforeMs;
}

function laterOf(circuit: Circuit, untilMs: number, nowMs: number): number {
  return isWaiting(circuit, nowMs) ? Math.max(circuit.notBeforeMs, untilMs) : untilMs;
}
