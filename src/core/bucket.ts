import { ceilDiv } from "./arithmetic.ts";
import { steadyTime } from "./clock.ts";
import type { Rule, Verdict } from "./meter.ts";
import { type Grains, grainsOf, type TokenBucketPolicy } from "./policy.ts";
import { stillOwed } from "./receipts.ts";

/**
 * One token bucket, by debt: what it stores is burst minus tokens. So a raise frees exactly the difference, a lower
 * carries what was used, and applying the same limits again changes nothing.
 *
 * Every function is pure; time is Unix milliseconds as a whole number, once per event. A bucket ages by the rate that it
 * was last settled under, which it carries with it: it outlives its policy, and forgets nothing by the absence of one.
 */

export interface Bucket {
  readonly type: "token-bucket";
  /** Whole grains owed, ≥ 0. More than the burst after a lower. */
  readonly debt: number;
  /** The grains per token in which `debt` is counted: a stored debt outlives the limits that it was made under. */
  readonly perToken: number;
  /** Grains of debt that a millisecond forgives. */
  readonly perMs: number;
  /** When the debt was that. */
  readonly atMs: number;
}

export function fullBucket(grains: Grains, nowMs: number): Bucket {
  return { type: "token-bucket", debt: 0, perToken: grains.perToken, perMs: grains.perMs, atMs: nowMs };
}

/** The same bucket at this time, by its own rate. */
export function ageBucket(bucket: Bucket, nowMs: number): Bucket {
  const atMs = steadyTime(bucket.atMs, nowMs);
  const elapsedMs = Math.max(0, atMs - bucket.atMs);
  // A product past 2^53 is inexact, but then it is larger than any debt and the result is 0 all the same.
  const { type, perToken, perMs } = bucket;
  return { type, debt: Math.max(0, bucket.debt - elapsedMs * perMs), perToken, perMs, atMs };
}

/**
 * The same bucket as it stands now, from now on under these limits. Settling twice is settling once: it may be done at
 * any time, by anyone, without changing what is admitted.
 */
export function settle(bucket: Bucket, grains: Grains, nowMs: number): Bucket {
  const aged = ageBucket(bucket, nowMs);
  if (aged.perToken === grains.perToken && aged.perMs === grains.perMs) return aged;
  const debt = aged.perToken === grains.perToken ? aged.debt : regrain(aged, grains.perToken);
  return { ...aged, debt, perToken: grains.perToken, perMs: grains.perMs };
}

/** Debt in other grains, rounded up: a change of limits mints nothing. */
function regrain(bucket: Bucket, perToken: number): number {
  const from = BigInt(bucket.perToken);
  const exact = (BigInt(bucket.debt) * BigInt(perToken) + from - 1n) / from;
  return exact > DEBT_MAX ? Number(DEBT_MAX) : Number(exact);
}

/** Half of what a double counts exactly, so that a charge or a chunk on top of it is exact too. */
const DEBT_MAX = BigInt(Number.MAX_SAFE_INTEGER) / 2n;

/** Whole tokens that could be spent at once, for a settled bucket. Never negative. */
export function remainingTokens(bucket: Bucket, grains: Grains): number {
  return Math.max(0, Math.floor((grains.burst - bucket.debt) / grains.perToken));
}

/** Milliseconds until a settled bucket is full; null when it never will be. */
export function msUntilFull(bucket: Bucket, grains: Grains): number | null {
  return msUntilDebt(bucket, grains, 0);
}

/** What a settled bucket says to a cost in whole tokens, ≥ 0; 0 is a look and always fits. */
export function weigh(bucket: Bucket, grains: Grains, cost: number): Verdict {
  if (cost === 0) return { verdict: "fits" };
  const room = grains.burst - cost * grains.perToken;
  if (room < 0) return { verdict: "never" };
  if (bucket.debt <= room) return { verdict: "fits" };
  const waitMs = msUntilDebt(bucket, grains, room);
  return waitMs === null ? { verdict: "never" } : { verdict: "later", waitMs };
}

/** The bucket after a cost that {@link weigh} said fits. */
export function charge(bucket: Bucket, grains: Grains, cost: number): Bucket {
  const { type, debt, perToken, perMs, atMs } = bucket;
  return { type, debt: debt + cost * grains.perToken, perToken, perMs, atMs };
}

/** A settled bucket after as much of a cost is given back as is still owed of it (see `Rule.refund`). */
export function refund(bucket: Bucket, grains: Grains, cost: number, since: number): Bucket {
  const owed = stillOwed(cost * grains.perToken, bucket.debt, since * grains.perToken);
  return { ...bucket, debt: bucket.debt - owed };
}

/** The bucket after a cost that is counted but never refused: it empties the bucket and goes no further. */
export function chargeUpToBurst(bucket: Bucket, grains: Grains, cost: number): Bucket {
  const debt = Math.max(bucket.debt, Math.min(grains.burst, bucket.debt + cost * grains.perToken));
  return { ...bucket, debt };
}

function msUntilDebt(bucket: Bucket, grains: Grains, target: number): number | null {
  if (bucket.debt <= target) return 0;
  return grains.perMs === 0 ? null : ceilDiv(bucket.debt - target, grains.perMs);
}

/** Whether this bucket owes at least what the other does, now and at any later time. Both at one time. */
export function bucketOwesAtLeast(bucket: Bucket, other: Bucket): boolean {
  return bucket.perToken === other.perToken && bucket.perMs === other.perMs && bucket.debt >= other.debt;
}

/** When nothing is owed any more; infinite when that never comes. */
export function bucketClearAtMs({ debt, perMs, atMs }: Bucket): number {
  if (debt === 0) return atMs;
  return perMs === 0 ? Number.POSITIVE_INFINITY : atMs + ceilDiv(debt, perMs);
}

/**
 * How a bucket survives a crash: what to write when the disk no longer covers it. That is the debt and a second of
 * refill; after a charge that takes longer than a second to come back, which comes with a row in any case, the debt alone.
 */
export function bucketAhead(bucket: Bucket, grains: Grains, cost: number): Bucket {
  const oneSecond = grains.perMs * 1000;
  if (cost * grains.perToken > oneSecond) return bucket;
  return { ...bucket, debt: bucket.debt + Math.min(oneSecond, Math.max(grains.burst, grains.perToken)) };
}

/** @returns null when the policy cannot be counted exactly */
export function tokenBucketRule(policy: TokenBucketPolicy): Rule<Bucket> | null {
  const grains = grainsOf(policy);
  if (grains === null) return null;
  const { tokens, perSeconds } = policy.rate;
  return {
    limit: policy.burst,
    windowSeconds: tokens === 0 ? null : Math.max(1, Math.ceil((policy.burst * perSeconds) / tokens)),
    start: (nowMs) => fullBucket(grains, nowMs),
    settle: (bucket, nowMs) => settle(bucket, grains, nowMs),
    weigh: (bucket, cost) => weigh(bucket, grains, cost),
    charge: (bucket, cost) => charge(bucket, grains, cost),
    chargeUpToLimit: (bucket, cost) => chargeUpToBurst(bucket, grains, cost),
    refund: (bucket, cost, since) => refund(bucket, grains, cost, since),
    remaining: (bucket) => remainingTokens(bucket, grains),
    resetMs: (bucket) => msUntilFull(bucket, grains),
    ahead: (bucket, cost) => bucketAhead(bucket, grains, cost),
  };
}
