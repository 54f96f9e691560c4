import { type Bucket, charge, chargeUpToBurst, fullBucket, settle, weigh } from "../bucket.ts";
import { type Grains, grainsOf, tokenBucketPolicy } from "../policy.ts";

/**
 * The limit on writes per second: a token bucket over all commands, whoever sends them. Critical ones are counted and
 * never refused. With a warm-up the rate grows from nothing to its full value in a straight line after a start, so that
 * a cold engine is not met by a full burst.
 */

export interface WriteRate {
  /** Whole commands per second, ≥ 1. */
  readonly perSecond: number;
  /** Commands at once, ≥ 1. */
  readonly burst: number;
  /** 0: the full rate from the start. */
  readonly warmUpSeconds: number;
}

export interface WriteRateState {
  readonly bucket: Bucket;
  readonly startedAtMs: number;
}

export type WriteVerdict =
  | { readonly verdict: "fits"; readonly next: WriteRateState }
  | { readonly verdict: "later"; readonly waitMs: number };

/** A cold start begins with an empty bucket where there is a warm-up, else with a full one. */
export function startWriteRate(rate: WriteRate, nowMs: number): WriteRateState {
  const grains = grainsAt(rate, nowMs, nowMs);
  const full = fullBucket(grains, nowMs);
  return { startedAtMs: nowMs, bucket: rate.warmUpSeconds === 0 ? full : charge(full, grains, rate.burst) };
}

/** Counts one write, or says how long until one fits. A critical one always fits, and takes no more than there is. */
export function countWrite(state: WriteRateState, rate: WriteRate, critical: boolean, nowMs: number): WriteVerdict {
  const grains = grainsAt(rate, state.startedAtMs, nowMs);
  const bucket = settled(state, rate, nowMs);
  if (critical) return { verdict: "fits", next: { ...state, bucket: chargeUpToBurst(bucket, grains, 1) } };
  const weighed = weigh(bucket, grains, 1);
  switch (weighed.verdict) {
    case "fits":
      return { verdict: "fits", next: { ...state, bucket: charge(bucket, grains, 1) } };
    case "later":
      return weighed;
    case "never":
      throw new Error("a write rate always has room for one command in the end");
  }
}

/** The same debt under other limits: a change neither forgives nor adds. */
export function changeWriteRate(state: WriteRateState, from: WriteRate, to: WriteRate, nowMs: number): WriteRateState {
  const changed = { bucket: settled(state, from, nowMs), startedAtMs: state.startedAtMs };
  return { ...changed, bucket: settled(changed, to, nowMs) };
}

/** Commands per second at a moment: whole, ≥ 1, and the full rate once it is warm. */
export function writeRateAt({ perSecond, warmUpSeconds }: WriteRate, startedAtMs: number, nowMs: number): number {
  const warmth = warmUpSeconds === 0 ? 1 : Math.min(1, Math.max(0, (nowMs - startedAtMs) / (warmUpSeconds * 1000)));
  return Math.max(1, Math.floor(perSecond * warmth));
}

/** What refilled since the last look came at the rate of that look: while it warms up, a little less than it might. */
function settled({ bucket, startedAtMs }: WriteRateState, rate: WriteRate, nowMs: number): Bucket {
  const before = settle(bucket, grainsAt(rate, startedAtMs, bucket.atMs), nowMs);
  return settle(before, grainsAt(rate, startedAtMs, nowMs), nowMs);
}

function grainsAt(rate: WriteRate, startedAtMs: number, nowMs: number): Grains {
  const tokens = writeRateAt(rate, startedAtMs, nowMs);
  const grains = grainsOf(tokenBucketPolicy({ tokens, perSeconds: 1 }, rate.burst));
  if (grains === null) throw new Error("a whole number of commands a second can always be counted");
  return grains;
}
