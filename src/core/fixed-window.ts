import { steadyTime } from "./clock.ts";
import type { Rule, Verdict } from "./meter.ts";
import { isCountable, type WindowPolicy } from "./policy.ts";
import { stillOwed } from "./receipts.ts";

/**
 * A fixed window: so much from one multiple of the window since the Unix epoch to the next. What is counted is forgotten
 * at the window's end, all at once. So it admits its limit in each window, and up to twice that around a border; who
 * minds takes a sliding window.
 */

export interface FixedWindow {
  readonly type: "fixed-window";
  /** Cost admitted in the window that `atMs` lies in. More than the limit after a lower. */
  readonly used: number;
  /** The length that the count was last kept under. */
  readonly windowMs: number;
  /** When the count was that. */
  readonly atMs: number;
}

/** When the window that `atMs` lies in ends. */
export function windowEndMs(atMs: number, windowMs: number): number {
  return (Math.floor(atMs / windowMs) + 1) * windowMs;
}

/** The same count at this time. A clock that steps far back brings it along into the window where it then is. */
export function ageFixedWindow(window: FixedWindow, nowMs: number): FixedWindow {
  const atMs = steadyTime(window.atMs, nowMs);
  const ended = atMs >= windowEndMs(window.atMs, window.windowMs);
  return { ...window, used: ended ? 0 : window.used, atMs };
}

/** Whether this window owes at least what the other does, now and at any later time. Both at one time. */
export function fixedWindowOwesAtLeast(window: FixedWindow, other: FixedWindow): boolean {
  return window.windowMs === other.windowMs && window.used >= other.used;
}

/** When nothing is owed any more. */
export function fixedWindowClearAtMs({ used, windowMs, atMs }: FixedWindow): number {
  return used === 0 ? atMs : windowEndMs(atMs, windowMs);
}

/**
 * Counts of one second at the limit's average rate: how far the disk is written ahead of memory, so that a long run at
 * the limit costs about one row a second. None where that is less than one count.
 */
export function windowChunk(limit: number, windowSeconds: number): number {
  return windowSeconds > limit ? 0 : Math.ceil(limit / windowSeconds);
}

/** @returns null when the policy cannot be counted exactly */
export function fixedWindowRule(policy: WindowPolicy): Rule<FixedWindow> | null {
  if (!isCountable(policy)) return null;
  const { limit, windowSeconds } = policy;
  const windowMs = windowSeconds * 1000;
  const chunk = windowChunk(limit, windowSeconds);
  const remaining = ({ used }: FixedWindow) => Math.max(0, limit - used);
  return {
    limit,
    windowSeconds,
    start: (nowMs) => ({ type: "fixed-window", used: 0, windowMs, atMs: nowMs }),
    // Under another length all that was used counts as used in the new window: a change mints nothing.
    settle: (window, nowMs) => ({ ...ageFixedWindow(window, nowMs), windowMs }),
    weigh: (window, cost) => weigh(window, limit, cost),
    charge: (window, cost) => ({ ...window, used: window.used + cost }),
    chargeUpToLimit: (window, cost) => ({ ...window, used: window.used + Math.min(cost, remaining(window)) }),
    // Of a window that has ended nothing is owed here any more: then all that is used was charged since.
    refund: (window, cost, since) => ({ ...window, used: window.used - stillOwed(cost, window.used, since) }),
    remaining,
    resetMs: (window) => fixedWindowClearAtMs(window) - window.atMs,
    // No further than the limit: memory cannot owe more than that in this window, and a crash then costs less.
    ahead: (window) => ({ ...window, used: Math.max(window.used, Math.min(limit, window.used + chunk)) }),
  };
}

function weigh({ used, windowMs, atMs }: FixedWindow, limit: number, cost: number): Verdict {
  if (cost === 0) return { verdict: "fits" };
  if (cost > limit) return { verdict: "never" };
  if (used + cost <= limit) return { verdict: "fits" };
  return { verdict: "later", waitMs: windowEndMs(atMs, windowMs) - atMs };
}
