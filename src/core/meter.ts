import { ageBucket, type Bucket, bucketClearAtMs, bucketOwesAtLeast, tokenBucketRule } from "./bucket.ts";
import {
  ageFixedWindow,
  type FixedWindow,
  fixedWindowClearAtMs,
  fixedWindowOwesAtLeast,
  fixedWindowRule,
} from "./fixed-window.ts";
import type { Policy } from "./policy.ts";
import {
  ageSlidingWindow,
  type SlidingWindow,
  slidingWindowClearAtMs,
  slidingWindowOwesAtLeast,
  slidingWindowRule,
} from "./sliding-window.ts";

/**
 * A meter is what one policy has counted of one subject: plain data, aged by what it carries itself. A rule is a policy
 * with its arithmetic worked out: it says what a meter admits. Each kind of limit is one file that has both.
 */

export type Meter = Bucket | FixedWindow | SlidingWindow;

/** What a meter says to a cost. */
export type Verdict =
  | { readonly verdict: "fits" }
  /** It fits after this wait if nothing else comes, and not a millisecond earlier. */
  | { readonly verdict: "later"; readonly waitMs: number }
  /** It can never fit under these limits. */
  | { readonly verdict: "never" };

/**
 * What a policy makes of its meters. Time is Unix milliseconds, once per event; costs are whole and ≥ 0. A rule is only
 * ever given meters of its own kind: they are kept by policy name and type. (That is why its members are methods, which
 * let the rule of one kind stand for a rule of any.)
 */
export interface Rule<M extends Meter = Meter> {
  /** The most that can be spent at once. */
  readonly limit: number;
  /** Seconds in which the whole limit comes back, rounded up; null when it never does. */
  readonly windowSeconds: number | null;
  /** A meter that owes nothing. */
  start(nowMs: number): M;
  /** The same meter at this time, from now on under this rule. Twice is once. All below take settled ones. */
  settle(meter: M, nowMs: number): M;
  weigh(meter: M, cost: number): Verdict;
  /** The meter after a cost that fits. */
  charge(meter: M, cost: number): M;
  /** The meter after a cost that is counted but never refused: it uses the limit up and goes no further. */
  chargeUpToLimit(meter: M, cost: number): M;
  /**
   * The meter after a cost is given back that it was charged before `since` more tokens were: it paid for what somebody
   * else refused. What time forgives it forgives in the order of charging, so of that cost as much is still owed as what
   * is owed exceeds all that was charged since; never more is given back.
   */
  refund(meter: M, cost: number, since: number): M;
  /** The largest whole cost that fits. */
  remaining(meter: M): number;
  /** Milliseconds until nothing is owed; null when that never comes. */
  resetMs(meter: M): number | null;
  /**
   * What to write of it after a charge of this cost: it owes up to about a second's worth more, so that the next charges
   * need no row. A bucket owes no more where such a charge takes longer than a second to come back, and a window where
   * one count does: one that waits for it is told the true time after a crash, too.
   */
  ahead(meter: M, cost: number): M;
}

/** @throws when the policy cannot be counted exactly: that is checked where limits are configured */
export function ruleOf(policy: Policy): Rule {
  const rule = uncheckedRuleOf(policy);
  if (rule === null) throw new Error(`policy ${policy.name} cannot be counted exactly`);
  return rule;
}

function uncheckedRuleOf(policy: Policy): Rule | null {
  switch (policy.type) {
    case "token-bucket":
      return tokenBucketRule(policy);
    case "fixed-window":
      return fixedWindowRule(policy);
    case "sliding-window":
      return slidingWindowRule(policy);
  }
}

/** The same meter at this time. It needs no policy: one whose policy was taken away goes on forgetting as before. */
export function age(meter: Meter, nowMs: number): Meter {
  switch (meter.type) {
    case "token-bucket":
      return ageBucket(meter, nowMs);
    case "fixed-window":
      return ageFixedWindow(meter, nowMs);
    case "sliding-window":
      return ageSlidingWindow(meter, nowMs);
  }
}

/** When a meter owes nothing any more (it may be forgotten then); infinite when that never comes. */
export function clearAtMs(meter: Meter): number {
  switch (meter.type) {
    case "token-bucket":
      return bucketClearAtMs(meter);
    case "fixed-window":
      return fixedWindowClearAtMs(meter);
    case "sliding-window":
      return slidingWindowClearAtMs(meter);
  }
}

/** Whether a meter owes nothing at its own time. */
export function owesNothing(meter: Meter): boolean {
  return clearAtMs(meter) <= meter.atMs;
}

/** Whether a meter owes at least what the other does, now and at any later time. Both must be of one time. */
export function owesAtLeast(meter: Meter, other: Meter): boolean {
  switch (meter.type) {
    case "token-bucket":
      return other.type === meter.type && bucketOwesAtLeast(meter, other);
    case "fixed-window":
      return other.type === meter.type && fixedWindowOwesAtLeast(meter, other);
    case "sliding-window":
      return other.type === meter.type && slidingWindowOwesAtLeast(meter, other);
  }
}
