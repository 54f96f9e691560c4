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
  /** When the present wait was set, and until when nothing is started, Unix milliseconds. */
  readonly setMs: number;
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
export const HOLD_MS_MIN = 200;

/** Everything passes. */
export const CLOSED: Circuit = { failures: 0, holds: 0, setMs: 0, notBeforeMs: 0, probing: false };

export type CircuitVerdict =
  | { readonly verdict: "pass" }
  /** Null: when the attempt that is under way has ended. */
  | { readonly verdict: "wait"; readonly untilMs: number | null };

/**
 * Whether one more attempt may begin.
 *
 * @param beganMs when the attempts began that are under way
 */
export function mayBegin(circuit: Circuit, beganMs: Iterable<number>, nowMs: number): CircuitVerdict {
  if (isWaiting(circuit, nowMs)) return { verdict: "wait", untilMs: circuit.notBeforeMs };
  if (!circuit.probing) return { verdict: "pass" };
  // What was under way before the wait is no probe, and may take its time.
  const { notBeforeMs } = steady(circuit, nowMs);
  for (const began of beganMs) if (began >= notBeforeMs) return { verdict: "wait", untilMs: null };
  return { verdict: "pass" };
}

/** Whether nothing may begin now. */
export function isWaiting(circuit: Circuit, nowMs: number): boolean {
  return nowMs < steady(circuit, nowMs).notBeforeMs;
}

/** The upstream has answered, with a yes or with a no of its own. @param beganMs when that attempt began */
export function afterAnswer(circuit: Circuit, beganMs: number, nowMs: number): Circuit {
  // One that was under way when the upstream said "not now" says nothing about how it is since.
  return isOlder(circuit, beganMs, nowMs) ? { ...circuit, failures: 0 } : CLOSED;
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
  const holds = isOlder(circuit, beganMs, nowMs) ? Math.max(1, circuit.holds) : circuit.holds + 1;
  const toldMs = waitMs !== null && waitMs >= HOLD_MS_MIN ? waitMs : unknownMs(holds, backoff, random);
  return wait({ ...circuit, holds }, toldMs, nowMs);
}

/** An attempt has failed: no answer, or none that says anything. */
export function afterFailure(
  circuit: Circuit,
  beganMs: number,
  nowMs: number,
  random: number,
  { failuresMax, backoff }: CircuitOptions,
): Circuit {
  if (isOlder(circuit, beganMs, nowMs)) return circuit;
  const failures = circuit.failures + 1;
  if (failures < failuresMax && !circuit.probing) return { ...circuit, failures };
  return wait({ ...circuit, failures }, unknownMs(Math.max(1, failures - failuresMax + 1), backoff, random), nowMs);
}

/** An operator says that it is worth asking again: the next attempt is a probe. */
export function released(circuit: Circuit, nowMs: number): Circuit {
  return isWaiting(circuit, nowMs) ? { ...circuit, setMs: nowMs, notBeforeMs: nowMs } : circuit;
}

function wait(circuit: Circuit, waitMs: number, nowMs: number): Circuit {
  const untilMs = nowMs + Math.min(HOLD_MS_MAX, waitMs);
  const notBeforeMs = isWaiting(circuit, nowMs) ? Math.max(circuit.notBeforeMs, untilMs) : untilMs;
  return { ...circuit, setMs: nowMs, notBeforeMs, probing: true };
}

/** Whether an attempt began before the present wait was over. */
function isOlder(circuit: Circuit, beganMs: number, nowMs: number): boolean {
  return circuit.probing && nowMs >= circuit.setMs && beganMs < circuit.notBeforeMs;
}

/** A wait that was set at a time that is yet to come is over: the clock has stepped back, and nobody is locked out by it. */
function steady(circuit: Circuit, nowMs: number): Circuit {
  return nowMs < circuit.setMs ? { ...circuit, setMs: nowMs, notBeforeMs: nowMs } : circuit;
}

/** At least half of the backoff's ceiling: a wait of nothing would ask again at once. */
function unknownMs(times: number, backoff: Backoff, random: number): number {
  return Math.ceil((backoffCeilingMs(times, backoff) + backoffMs(times, backoff, random)) / 2);
}
