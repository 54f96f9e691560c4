import { ceilDiv } from "./arithmetic.ts";
import type { Grains } from "./policy.ts";

/**
 * One token bucket, by debt: what it stores is burst minus tokens. So a raise frees exactly the difference, a lower
 * carries what was used, and applying the same limits again changes nothing.
 *
 * Every function is pure; time is Unix milliseconds as a whole number, once per event. The clock of a machine may step
 * back: a small step grants and charges nothing (the bucket keeps its later time), a step of more than
 * {@link CLOCK_REBASE_MS} moves the bucket to the new time without credit, so that nobody waits for the old one.
 */

export interface Bucket {
  /** Whole grains owed, ≥ 0. More than the burst after a lower. */
  readonly debt: number;
  /** The grains per token in which `debt` is counted: a stored debt outlives the limits that it was made under. */
  readonly perToken: number;
  /** When the debt was that. */
  readonly atMs: number;
}

/** How far back the clock may step before a bucket follows it. The longest that a step can hold refill up. */
export const CLOCK_REBASE_MS = 60_000;

export function fullBucket(grains: Grains, nowMs: number): Bucket {
  return { debt: 0, perToken: grains.perToken, atMs: nowMs };
}

/**
 * The same bucket as it stands now, under these limits. Settling twice is settling once: it may be done at any time,
 * by anyone, without changing what is admitted.
 */
export function settle(bucket: Bucket, grains: Grains, nowMs: number): Bucket {
  const rebased = bucket.atMs - nowMs > CLOCK_REBASE_MS;
  const atMs = rebased ? nowMs : Math.max(nowMs, bucket.atMs);
  const elapsedMs = rebased ? 0 : atMs - bucket.atMs;
  const owed = bucket.perToken === grains.perToken ? bucket.debt : regrain(bucket, grains.perToken);
  // A product past 2^53 is inexact, but then it is larger than any debt and the result is 0 all the same.
  return { debt: Math.max(0, owed - elapsedMs * grains.perMs), perToken: grains.perToken, atMs };
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

/** What a bucket says to a cost, for a settled bucket. */
export type BucketVerdict =
  | { readonly verdict: "fits" }
  /** It fits after this wait, and not a millisecond earlier. */
  | { readonly verdict: "later"; readonly waitMs: number }
  /** It can never fit under these limits. */
  | { readonly verdict: "never" };

/** @param cost whole tokens, ≥ 0; 0 is a look and always fits */
export function weigh(bucket: Bucket, grains: Grains, cost: number): BucketVerdict {
  if (cost === 0) return { verdict: "fits" };
  const room = grains.burst - cost * grains.perToken;
  if (room < 0) return { verdict: "never" };
  if (bucket.debt <= room) return { verdict: "fits" };
  const waitMs = msUntilDebt(bucket, grains, room);
  return waitMs === null ? { verdict: "never" } : { verdict: "later", waitMs };
}

/** The bucket after a cost that {@link weigh} said fits. */
export function charge(bucket: Bucket, grains: Grains, cost: number): Bucket {
  return { ...bucket, debt: bucket.debt + cost * grains.perToken };
}

/** A settled bucket after a cost that was charged is given back: what it paid for was refused by somebody else. */
export function refund(bucket: Bucket, grains: Grains, cost: number): Bucket {
  return { ...bucket, debt: Math.max(0, bucket.debt - cost * grains.perToken) };
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
