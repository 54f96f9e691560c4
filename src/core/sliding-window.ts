import { floorDiv, mulDivCeil } from "./arithmetic.ts";
import { steadyTime } from "./clock.ts";
import { windowChunk, windowEndMs } from "./fixed-window.ts";
import type { Rule, Verdict } from "./meter.ts";
import { isCountable, type WindowPolicy } from "./policy.ts";
import { stillOwed } from "./receipts.ts";

/**
 * A sliding window by two counts: the present clock-aligned window's, and the one's before, weighed by the share of it
 * that still lies less than a window back. It takes the window before as evenly filled; in return it is two numbers.
 *
 * It is weighed in whole numbers, in units of 1 / window ms:
 *   previous × (windowMs − elapsed) + (present + cost) × windowMs ≤ limit × windowMs
 */

export interface SlidingWindow {
  readonly type: "sliding-window";
  /** Cost admitted in the window before. */
  readonly previous: number;
  /** Cost admitted in the window that `atMs` lies in. */
  readonly present: number;
  /** The length that the counts were last kept under. */
  readonly windowMs: number;
  /** When the counts were that. */
  readonly atMs: number;
}

/** Milliseconds of the present window that are still to come: so much of the window before still counts. */
function leftMs({ atMs, windowMs }: SlidingWindow): number {
  return windowEndMs(atMs, windowMs) - atMs;
}

/** The same counts at this time. */
export function ageSlidingWindow(window: SlidingWindow, nowMs: number): SlidingWindow {
  const { present, windowMs } = window;
  const atMs = steadyTime(window.atMs, nowMs);
  // A clock that steps far back may come out late in a window, where the window before weighs less: no credit for that.
  if (atMs < window.atMs) return { ...folded(window), atMs };
  const endMs = windowEndMs(window.atMs, windowMs);
  if (atMs < endMs) return { ...window, atMs };
  return { ...window, previous: atMs < endMs + windowMs ? present : 0, present: 0, atMs };
}

/** All that weighs now, as if it had been used in the present window: it weighs as much, and goes no sooner. */
function folded(window: SlidingWindow): SlidingWindow {
  const share = mulDivCeil(window.previous, leftMs(window), window.windowMs);
  return { ...window, previous: 0, present: window.present + share };
}

/** Whether this window owes at least what the other does, now and at any later time. Both at one time. */
export function slidingWindowOwesAtLeast(window: SlidingWindow, other: SlidingWindow): boolean {
  if (window.windowMs !== other.windowMs) return false;
  return window.previous >= other.previous && window.present >= other.present;
}

/** When nothing is owed any more. */
export function slidingWindowClearAtMs({ previous, present, windowMs, atMs }: SlidingWindow): number {
  const endMs = windowEndMs(atMs, windowMs);
  if (present > 0) return endMs + windowMs;
  return previous > 0 ? endMs : atMs;
}

/** @returns null when the policy cannot be counted exactly */
export function slidingWindowRule(policy: WindowPolicy): Rule<SlidingWindow> | null {
  if (!isCountable(policy)) return null;
  const { limit, windowSeconds } = policy;
  const windowMs = windowSeconds * 1000;
  const chunk = windowChunk(limit, windowSeconds);
  return {
    limit,
    windowSeconds,
    start: (nowMs) => ({ type: "sliding-window", previous: 0, present: 0, windowMs, atMs: nowMs }),
    settle: (window, nowMs) => {
      const aged = ageSlidingWindow(window, nowMs);
      return aged.windowMs === windowMs ? aged : { ...folded(aged), windowMs };
    },
    weigh: (window, cost) => weigh(window, limit, cost),
    charge: (window, cost) => ({ ...window, present: window.present + cost }),
    chargeUpToLimit: (window, cost) => ({
      ...window,
      present: window.present + Math.min(cost, remaining(window, limit)),
    }),
    refund,
    remaining: (window) => remaining(window, limit),
    resetMs: (window) => slidingWindowClearAtMs(window) - window.atMs,
    // No further than the limit: memory cannot owe more than that in this window, and a crash then costs less.
    ahead: (window) => ({ ...window, present: Math.max(window.present, Math.min(limit, window.present + chunk)) }),
  };
}

/** Taken out of the count that it went into: the present one, or by now the one before. */
function refund(window: SlidingWindow, cost: number, since: number): SlidingWindow {
  const { present, previous } = window;
  const inPresent = stillOwed(cost, present, since);
  const inPrevious = stillOwed(cost - inPresent, previous, Math.max(0, since - present));
  return { ...window, present: present - inPresent, previous: previous - inPrevious };
}

// Products of the limit are safe integers by `isCountable`. After a lower a count may be so large that its product is
// not; it is then rounded, but it stays larger than all that it is compared with.

function remaining(window: SlidingWindow, limit: number): number {
  const { previous, present, windowMs } = window;
  const room = (limit - present) * windowMs - previous * leftMs(window);
  return room <= 0 ? 0 : floorDiv(room, windowMs);
}

function weigh(window: SlidingWindow, limit: number, cost: number): Verdict {
  const { previous, present, windowMs } = window;
  if (cost === 0) return { verdict: "fits" };
  if (cost > limit) return { verdict: "never" };
  const left = leftMs(window);
  const room = limit - present - cost;
  if (previous * left <= room * windowMs) return { verdict: "fits" };
  // In this window the window before must weigh no more than the room: that leaves so many milliseconds of it.
  if (room >= 0) return { verdict: "later", waitMs: left - floorDiv(room * windowMs, previous) };
  // In the next one the present count is the window before, and weighs less with each millisecond.
  return { verdict: "later", waitMs: left + windowMs - floorDiv((limit - cost) * windowMs, present) };
}
