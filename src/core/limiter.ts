import { ceilDiv } from "./arithmetic.ts";
import { steadyTime } from "./clock.ts";
import { type Meter, type Rule, ruleOf, type Verdict } from "./meter.ts";
import type { Meters } from "./meters.ts";
import type { Limits, Policy } from "./policy.ts";
import type { PolicyReport } from "./policy-report.ts";
import { NOBODY, overflowId, policyKey, type Subjects, subjectId, subjectOf } from "./subjects.ts";

/**
 * Layer 1's decision: all policies that apply to a request are checked and charged together, or not at all.
 *
 * A step takes the meters and gives the next state of those that it touched, with a verdict; who calls it decides what
 * to keep and to write. A refusal returns the meters merely settled, which is the same state at a later time. Meters of
 * policies that are gone are not touched: bringing a policy back must mint nothing.
 */

export type Decision =
  | { readonly outcome: "allowed"; readonly reports: readonly PolicyReport[] }
  | {
      readonly outcome: "rate_limited";
      /** Whole seconds, ≥ 1: enough for this cost under every policy that refused. */
      readonly retryAfterSeconds: number;
      readonly violated: readonly string[];
      /** Whole seconds, ≥ 1, until this cost fits, by the name of each policy that refused. The largest is `retryAfterSeconds`. */
      readonly fitsInSeconds: Readonly<Record<string, number>>;
      readonly reports: readonly PolicyReport[];
    }
  | {
      /** This cost can never fit; there is no time to come back. */
      readonly outcome: "cost_exceeds_capacity";
      readonly violated: readonly string[];
      readonly reports: readonly PolicyReport[];
    };

/** Limits with their arithmetic worked out once. */
export interface CompiledLimits {
  readonly version: number;
  readonly policies: readonly CompiledPolicy[];
}

interface CompiledPolicy {
  readonly policy: Policy;
  readonly rule: Rule;
  /** What the ids of its meters begin with. */
  readonly key: string;
}

/** @throws when a policy cannot be counted exactly: that is checked where limits are configured */
export function compileLimits(limits: Limits): CompiledLimits {
  const policies = limits.policies.map((policy) => ({ policy, rule: ruleOf(policy), key: policyKey(policy) }));
  return { version: limits.version, policies };
}

export interface Decided {
  readonly decision: Decision;
  /** The next state of every meter that was touched, by id, to be laid over the others. */
  readonly next: ReadonlyMap<string, Meter>;
}

/**
 * Checks a cost against every policy that applies and charges all of them, or none.
 *
 * @param cost whole tokens, ≥ 0; 0 is a look that is answered as allowed
 * @param nowMs the time of this event, Unix milliseconds
 * @param subjects whose use is counted, beside the tenant's
 */
export function decide(
  meters: Meters,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
  subjects: Subjects = NOBODY,
): Decided {
  const settled = settleAll(meters, limits, nowMs, subjects);
  const refusals: (Counted & Verdict)[] = [];
  for (const counted of settled) {
    const verdict = counted.rule.weigh(counted.meter, cost);
    if (verdict.verdict !== "fits") refusals.push({ ...counted, ...verdict });
  }
  if (refusals.length > 0) return { decision: refuse(refusals, settled, nowMs), next: statesOf(settled) };
  return allow(
    settled.map((counted) => charged(counted, counted.rule.charge(counted.meter, cost))),
    nowMs,
  );
}

function charged({ policy, rule, id }: Counted, meter: Meter): Counted {
  return { policy, rule, id, meter };
}

/**
 * Counts a cost that is never refused.
 *
 * @param how `limit` for a critical command: each limit is used up at most; `whole` for tokens that somebody holds
 */
export function count(
  meters: Meters,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
  subjects: Subjects = NOBODY,
  how: "limit" | "whole" = "limit",
): Decided {
  const charge = how === "limit" ? "chargeUpToLimit" : "charge";
  const settled = settleAll(meters, limits, nowMs, subjects);
  return allow(
    settled.map((counted) => charged(counted, counted.rule[charge](counted.meter, cost))),
    nowMs,
  );
}

/**
 * What {@link decide} would say to a cost, charging nothing: for a caller that is refused anyway, further on, and must
 * hear of its own limit first.
 */
export function judge(
  meters: Meters,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
  subjects: Subjects = NOBODY,
): Decision {
  const { decision } = decide(meters, limits, cost, nowMs, subjects);
  return decision.outcome === "allowed" ? decide(meters, limits, 0, nowMs, subjects).decision : decision;
}

/**
 * Gives back what {@link decide} charged, as far as it still counts. Never more than is owed of it, and nothing of what
 * was charged since.
 *
 * @param charged the ids of the meters that were charged
 * @param since how many tokens have been charged since, at most, to any of them
 */
export function giveBack(
  meters: Meters,
  limits: CompiledLimits,
  cost: number,
  charged: readonly string[],
  since: number,
  nowMs: number,
  subjects: Subjects = NOBODY,
): Decided {
  const settled = settleAll(meters, limits, nowMs, subjects);
  const given = settled.map((counted) =>
    charged.includes(counted.id) ? { ...counted, meter: counted.rule.refund(counted.meter, cost, since) } : counted,
  );
  return allow(given, nowMs);
}

/** A policy that applies to the request, with the meter that counts this subject, settled. */
interface Counted {
  readonly policy: Policy;
  readonly rule: Rule;
  readonly id: string;
  readonly meter: Meter;
}

function settleAll(meters: Meters, limits: CompiledLimits, nowMs: number, subjects: Subjects): Counted[] {
  const applying: (CompiledPolicy & { readonly subject: string })[] = [];
  let wanted = 0;
  for (const { policy, rule, key } of limits.policies) {
    const subject = subjectOf(policy.scope, subjects);
    if (subject === null) continue;
    applying.push({ policy, rule, key, subject });
    if (subject !== "") wanted += 1;
  }
  let places = wanted === 0 ? 0 : (meters.roomFor?.(wanted, nowMs) ?? wanted);
  const startMs = steadyTime(meters.latestMs ?? nowMs, nowMs);
  return applying.map(({ policy, rule, key, subject }) => {
    const found: Place =
      subject === "" ? { id: key, held: meters.get(key) } : placeOf(meters, key, subject, places > 0);
    if (found.takesPlace) places -= 1;
    return { policy, rule, id: found.id, meter: rule.settle(found.held ?? rule.start(startMs), nowMs) };
  });
}

/** Where a policy counts a request, and what it has counted there. */
interface Place {
  readonly id: string;
  readonly held: Meter | undefined;
  readonly takesPlace?: boolean;
}

/**
 * The meter of a single subject. Without room for another the policy's newcomers share one, which owes all that any of
 * them has spent. Whoever gets one of its own later begins with what the shared one owes then: it may have been all its.
 */
function placeOf(meters: Meters, key: string, subject: string, hasRoom: boolean): Place {
  const own = subjectId(key, subject);
  const held = meters.get(own);
  if (held !== undefined) return { id: own, held };
  const shared = overflowId(key);
  return { id: hasRoom ? own : shared, held: meters.get(shared), takesPlace: hasRoom };
}

function allow(charged: readonly Counted[], nowMs: number): Decided {
  return { decision: { outcome: "allowed", reports: reportAll(charged, nowMs) }, next: statesOf(charged) };
}

function refuse(refusals: readonly (Counted & Verdict)[], settled: readonly Counted[], nowMs: number): Decision {
  const reports = reportAll(settled, nowMs);
  const never = refusals.filter(({ verdict }) => verdict === "never").map(({ policy }) => policy.name);
  if (never.length > 0) return { outcome: "cost_exceeds_capacity", violated: never, reports };
  const waits = refusals.map((refusal) => secondsUntilFit(refusal, nowMs));
  const violated = refusals.map(({ policy }) => policy.name);
  return {
    outcome: "rate_limited",
    retryAfterSeconds: Math.max(...waits),
    violated,
    fitsInSeconds: Object.fromEntries(violated.map((name, n) => [name, waits[n] ?? 1])),
    reports,
  };
}

/** Never 0: a caller that comes back in the same second is refused again. */
function secondsUntilFit(refusal: Counted & Verdict, nowMs: number): number {
  return refusal.verdict === "later" ? Math.max(1, ceilDiv(fromNow(refusal, refusal.waitMs, nowMs), 1000)) : 1;
}

/** A time that a meter tells, from now. After a small step back of the clock the meter stands ahead of it, and waits. */
function fromNow({ meter }: Counted, ms: number, nowMs: number): number {
  return ms === 0 ? 0 : ms + meter.atMs - nowMs;
}

function statesOf(counted: readonly Counted[]): Map<string, Meter> {
  const states = new Map<string, Meter>();
  for (const { id, meter } of counted) states.set(id, meter);
  return states;
}

function reportAll(settled: readonly Counted[], nowMs: number): PolicyReport[] {
  return settled.map((counted) => {
    const { policy, rule, meter } = counted;
    const resetMs = rule.resetMs(meter);
    return {
      name: policy.name,
      type: policy.type,
      limit: rule.limit,
      windowSeconds: rule.windowSeconds,
      remaining: rule.remaining(meter),
      resetSeconds: resetMs === null ? null : ceilDiv(fromNow(counted, resetMs, nowMs), 1000),
    };
  });
}
