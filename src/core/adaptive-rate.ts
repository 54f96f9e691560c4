import type { Limits, TokenBucketPolicy } from "./policy.ts";

/**
 * A tenant's rate that follows how long its commands take: slow ones lower it, fast ones raise it again, never over what
 * the tier gives. Off by default. It changes how fast a bucket refills and never what is owed, so switching it on or off
 * mints nothing.
 */

/** Latencies that are looked at together: enough for a 99th. */
export const LATENCIES = 100;
const SLOW_MS = 1_000;
const FAST_MS = 200;
const DOWN = 0.9;
const UP = 1.05;
/** Tokens per second under which it is not lowered; a tier that gives less is left alone. */
const RATE_MIN = 10;

export interface AdaptiveRate {
  /** What share of the tier's rate the tenant has now, 0 < share ≤ 1. */
  readonly share: number;
  /** Latencies since the share was last looked at, in milliseconds. */
  readonly latenciesMs: readonly number[];
}

export const FULL_RATE: AdaptiveRate = { share: 1, latenciesMs: [] };

/**
 * The rate after some more latencies; it moves once per hundred of them.
 *
 * @param tierRate what the tier gives, in tokens per second
 */
export function observe(rate: AdaptiveRate, latenciesMs: readonly number[], tierRate: number): AdaptiveRate {
  let { share } = rate;
  let pending = [...rate.latenciesMs, ...latenciesMs];
  while (pending.length >= LATENCIES) {
    share = moved(share, p99(pending.slice(0, LATENCIES)), tierRate);
    pending = pending.slice(LATENCIES);
  }
  return { share, latenciesMs: pending };
}

/** The rate that a tenant's limits give it as a whole, in tokens per second; null when no bucket limits it. */
export function tierRateOf(limits: Limits): number | null {
  const rates = limits.policies.filter(isTenantBucket).map(({ rate }) => rate.tokens / rate.perSeconds);
  return rates.length === 0 ? null : Math.min(...rates);
}

/** The limits with a share of their rate: buckets of the whole tenant refill more slowly, and hold as much. */
export function withShare(limits: Limits, share: number): Limits {
  if (share >= 1) return limits;
  const policies = limits.policies.map((policy) =>
    isTenantBucket(policy) ? { ...policy, rate: slowed(policy.rate, share) } : policy,
  );
  return { version: limits.version, policies };
}

function isTenantBucket(policy: Limits["policies"][number]): policy is TokenBucketPolicy {
  return policy.type === "token-bucket" && policy.scope === "tenant";
}

/** In thousandths of a token, downward: whole numbers that any bucket can be counted in. */
function slowed({ tokens, perSeconds }: TokenBucketPolicy["rate"], share: number): TokenBucketPolicy["rate"] {
  return { tokens: Math.floor((tokens / perSeconds) * share * THOUSANDTHS), perSeconds: THOUSANDTHS };
}

const THOUSANDTHS = 1000;

function moved(share: number, p99Ms: number, tierRate: number): number {
  if (p99Ms > SLOW_MS) return Math.min(1, Math.max(share * DOWN, RATE_MIN / tierRate));
  return p99Ms < FAST_MS ? Math.min(1, share * UP) : share;
}

/** The 99th of a hundred, by size. */
function p99(latenciesMs: readonly number[]): number {
  return [...latenciesMs].sort((a, b) => a - b)[Math.ceil(latenciesMs.length * 0.99) - 1] ?? 0;
}
