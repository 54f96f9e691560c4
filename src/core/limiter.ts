import { ceilDiv } from "./arithmetic.ts";
import {
  type Bucket,
  type BucketVerdict,
  charge,
  chargeUpToBurst,
  fullBucket,
  msUntilFull,
  refund,
  remainingTokens,
  settle,
  weigh,
} from "./bucket.ts";
import { CRITICAL_POLICY_NAME, type Grains, grainsOf, type Limits, type Policy } from "./policy.ts";

/**
 * Layer 1's decision: all policies of a tenant are checked and charged together, or not at all.
 *
 * A step takes the buckets and gives the next ones with a verdict; who calls it decides what to write. A refusal
 * returns the buckets merely settled, which is the same state at a later time.
 */

/** Buckets by policy name. A bucket whose policy is gone is kept: bringing the policy back must mint nothing. */
export type Buckets = ReadonlyMap<string, Bucket>;

/** How a policy stands after the decision. One entry of the RateLimit headers and of `policies` in an answer. */
export interface PolicyReport {
  readonly name: string;
  readonly type: Policy["type"];
  /** Tokens that can be spent at once. */
  readonly limit: number;
  /** Seconds in which the whole limit comes back, rounded up; null when it never does. */
  readonly windowSeconds: number | null;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until nothing is owed, rounded up; null when that never comes. */
  readonly resetSeconds: number | null;
}

export type Decision =
  | { readonly outcome: "allowed"; readonly reports: readonly PolicyReport[] }
  | {
      readonly outcome: "rate_limited";
      /** Whole seconds, ≥ 1: enough for this cost under every policy that refused. */
      readonly retryAfterSeconds: number;
      readonly violated: readonly string[];
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
  readonly grains: Grains;
}

/** @throws when a policy cannot be counted exactly: that is checked where limits are configured */
export function compileLimits(limits: Limits): CompiledLimits {
  const policies = limits.policies.map((policy) => {
    const grains = grainsOf(policy);
    if (grains === null) throw new Error(`policy ${policy.name} cannot be counted exactly`);
    return { policy, grains };
  });
  return { version: limits.version, policies };
}

/**
 * Checks a cost against every policy and charges all of them, or none.
 *
 * @param cost whole tokens, ≥ 0; 0 is a look that is answered as allowed
 * @param nowMs the time of this event, Unix milliseconds
 */
export function decide(
  buckets: Buckets,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
): { decision: Decision; next: Buckets } {
  const settled = settleAll(buckets, limits, nowMs);
  const refusals = limits.policies
    .map(({ policy, grains }) => ({
      name: policy.name,
      ...weigh(bucketOf(settled, policy, grains, nowMs), grains, cost),
    }))
    .filter(({ verdict }) => verdict !== "fits");
  if (refusals.length > 0) return { decision: refuse(refusals, settled, limits, nowMs), next: settled };
  const next = chargeAll(settled, limits, cost, nowMs, charge);
  return { decision: { outcome: "allowed", reports: reportAll(next, limits, nowMs) }, next };
}

/** Counts a cost that is never refused (a critical command): each bucket is emptied at most. */
export function count(
  buckets: Buckets,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
): { decision: Decision; next: Buckets } {
  const next = chargeAll(settleAll(buckets, limits, nowMs), limits, cost, nowMs, chargeUpToBurst);
  return { decision: { outcome: "allowed", reports: reportAll(next, limits, nowMs) }, next };
}

/**
 * What {@link decide} would say to a cost, charging nothing: for a caller that is refused anyway, further on, and must
 * hear of its own limit first.
 */
export function judge(buckets: Buckets, limits: CompiledLimits, cost: number, nowMs: number): Decision {
  const { decision } = decide(buckets, limits, cost, nowMs);
  if (decision.outcome !== "allowed") return decision;
  return { outcome: "allowed", reports: reportAll(settleAll(buckets, limits, nowMs), limits, nowMs) };
}

/** Gives back what {@link decide} or {@link count} charged. Never more than is owed. */
export function giveBack(
  buckets: Buckets,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
): { reports: readonly PolicyReport[]; next: Buckets } {
  const next = chargeAll(settleAll(buckets, limits, nowMs), limits, cost, nowMs, refund);
  return { reports: reportAll(next, limits, nowMs), next };
}

function refuse(
  refusals: ReadonlyArray<{ name: string } & BucketVerdict>,
  settled: Buckets,
  limits: CompiledLimits,
  nowMs: number,
): Decision {
  const reports = reportAll(settled, limits, nowMs);
  const never = refusals.filter(({ verdict }) => verdict === "never").map(({ name }) => name);
  if (never.length > 0) return { outcome: "cost_exceeds_capacity", violated: never, reports };
  const waitMs = Math.max(...refusals.map((refusal) => (refusal.verdict === "later" ? refusal.waitMs : 0)));
  return {
    outcome: "rate_limited",
    retryAfterSeconds: Math.max(1, ceilDiv(waitMs, 1000)),
    violated: refusals.map(({ name }) => name),
    reports,
  };
}

function settleAll(buckets: Buckets, limits: CompiledLimits, nowMs: number): Buckets {
  const next = new Map(buckets);
  for (const { policy, grains } of limits.policies) {
    next.set(policy.name, settle(bucketOf(buckets, policy, grains, nowMs), grains, nowMs));
  }
  return next;
}

function chargeAll(
  settled: Buckets,
  limits: CompiledLimits,
  cost: number,
  nowMs: number,
  how: (bucket: Bucket, grains: Grains, cost: number) => Bucket,
): Buckets {
  const next = new Map(settled);
  for (const { policy, grains } of limits.policies) {
    next.set(policy.name, how(bucketOf(settled, policy, grains, nowMs), grains, cost));
  }
  return next;
}

function bucketOf(buckets: Buckets, policy: Policy, grains: Grains, nowMs: number): Bucket {
  return buckets.get(policy.name) ?? fullBucket(grains, nowMs);
}

function reportAll(settled: Buckets, limits: CompiledLimits, nowMs: number): PolicyReport[] {
  return limits.policies.map(({ policy, grains }) => {
    const bucket = bucketOf(settled, policy, grains, nowMs);
    const untilFull = msUntilFull(bucket, grains);
    return {
      name: policy.name,
      type: policy.type,
      limit: policy.burst,
      windowSeconds: windowSeconds(policy),
      remaining: remainingTokens(bucket, grains),
      resetSeconds: untilFull === null ? null : ceilDiv(untilFull, 1000),
    };
  });
}

function windowSeconds(policy: Policy): number | null {
  const { tokens, perSeconds } = policy.rate;
  if (tokens === 0) return null;
  return Math.max(1, Math.ceil((policy.burst * perSeconds) / tokens));
}

/** The report that tells a caller most: the one with the least left, and of those the one that takes longest. */
export function tightest(reports: readonly PolicyReport[]): PolicyReport | undefined {
  const resetOf = (report: PolicyReport) => report.resetSeconds ?? Number.POSITIVE_INFINITY;
  return reports.reduce<PolicyReport | undefined>((best, report) => {
    if (best === undefined || report.remaining < best.remaining) return report;
    return report.remaining === best.remaining && resetOf(report) > resetOf(best) ? report : best;
  }, undefined);
}

/** How far a tenant's critical commands may exceed its tier: a ceiling against a caller that floods them. */
const CRITICAL_CEILING_FACTOR = 10;
/** A tenant whose limits are (nearly) zero must still be able to end the work that it has. */
const CRITICAL_RATE_MIN = 10;
const CRITICAL_BURST_MIN = 20;

/**
 * The one limit that critical commands have: ten times the tenant's tightest rate and burst.
 *
 * @returns limits with that single policy; its bucket lies beside the tenant's own
 */
export function criticalCeiling(limits: Limits): Limits {
  const rates = limits.policies.map(({ rate }) => rate.tokens / rate.perSeconds);
  const bursts = limits.policies.map(({ burst }) => burst);
  const rate = Math.max(CRITICAL_RATE_MIN, Math.floor(Math.min(...rates) * CRITICAL_CEILING_FACTOR));
  const burst = Math.max(CRITICAL_BURST_MIN, Math.min(...bursts) * CRITICAL_CEILING_FACTOR);
  const name = CRITICAL_POLICY_NAME;
  const policy: Policy = { type: "token-bucket", name, scope: "tenant", rate: { tokens: rate, perSeconds: 1 }, burst };
  return { version: limits.version, policies: [policy] };
}
