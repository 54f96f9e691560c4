import { gcd, simplestFraction } from "./arithmetic.ts";

/**
 * What a limit is, as configured. A tier is a list of policies; a tenant's limits are its tier's policies or its own,
 * under a version that orders every change.
 */

/** Tokens per seconds, as a ratio of whole numbers, so that a third of a token a second is exact. */
export interface Rate {
  readonly tokens: number;
  readonly perSeconds: number;
}

/**
 * Whose use one limit counts: the whole tenant's, each credential's (an API key, a token's subject), each address's, or
 * that of each key which the caller names with a check (its own user, say).
 */
export type Scope = "tenant" | "credential" | "ip" | "key";

export interface TokenBucketPolicy {
  readonly type: "token-bucket";
  /** Named in headers and problems. Printable ASCII. */
  readonly name: string;
  readonly scope: Scope;
  /** Zero: what is spent never comes back. */
  readonly rate: Rate;
  /** The most that can be spent at once, in tokens. Zero: nothing is ever admitted. */
  readonly burst: number;
}

/**
 * So much in a window of time. Fixed: the windows are aligned to the clock and each starts from nothing. Sliding: the
 * window before counts by the share of it that lies less than a window back.
 */
export interface WindowPolicy {
  readonly type: "fixed-window" | "sliding-window";
  readonly name: string;
  readonly scope: Scope;
  /** The most that is admitted in one window. Zero: nothing ever. */
  readonly limit: number;
  readonly windowSeconds: number;
}

export type Policy = TokenBucketPolicy | WindowPolicy;

export const POLICY_TYPES = ["token-bucket", "fixed-window", "sliding-window"] as const satisfies Policy["type"][];
export const WINDOW_TYPES = ["fixed-window", "sliding-window"] as const satisfies WindowPolicy["type"][];
export const SCOPES = ["tenant", "credential", "ip", "key"] as const satisfies Scope[];

export interface Limits {
  /** From one counter for all changes of limits; the higher of two is the newer. */
  readonly version: number;
  readonly policies: readonly Policy[];
}

/** The name that a policy has when limits are given as `{requestsPerSecond, burstSize}`. */
export const DEFAULT_POLICY_NAME = "requests";
/** Each policy is a row on disk and an entry in two headers. */
export const POLICIES_MAX = 16;
/** Header integers have 15 digits; burst and rate stay far below. */
export const BURST_MAX = 1_000_000_000;
export const RATE_MAX = 1_000_000_000;
export const LIMIT_MAX = 1_000_000_000;
/** A year: longer windows are contracts, not limits. */
export const WINDOW_SECONDS_MAX = 31_536_000;

/**
 * The rate that was meant by a number of tokens per second (0.1 is one in ten seconds).
 *
 * @returns null when no exact ratio fits; the caller then asks for `{tokens, perSeconds}`
 */
export function rateFromNumber(tokensPerSecond: number): Rate | null {
  const fraction = simplestFraction(tokensPerSecond);
  return fraction && { tokens: fraction.numerator, perSeconds: fraction.denominator };
}

/** The one policy of a tenant or tier whose limits are given as two numbers. Rate as in {@link rateFromNumber}. */
export function tokenBucketPolicy(rate: Rate, burst: number): TokenBucketPolicy {
  return { type: "token-bucket", name: DEFAULT_POLICY_NAME, scope: "tenant", rate, burst };
}

/**
 * A bucket's arithmetic in whole numbers. A *grain* is the part of a token for which refill is a whole number of
 * grains per millisecond; nothing is ever rounded while time passes.
 */
export interface Grains {
  readonly perToken: number;
  readonly perMs: number;
  /** The burst in grains. */
  readonly burst: number;
}

/**
 * @returns the grains of a policy, or null when they do not fit safe integers: then burst × precision of the rate is
 *   too large to be counted exactly, and the policy must be refused where it is configured
 */
export function grainsOf(policy: TokenBucketPolicy): Grains | null {
  const perSecondsMs = policy.rate.perSeconds * 1000;
  const divisor = gcd(policy.rate.tokens, perSecondsMs);
  const perToken = perSecondsMs / divisor;
  const perMs = policy.rate.tokens / divisor;
  // Twice the burst: a debt may be written one chunk (at most a burst) ahead of what was spent.
  const fits = Number.isSafeInteger(perToken) && Number.isSafeInteger(2 * policy.burst * perToken);
  return fits ? { perToken, perMs, burst: policy.burst * perToken } : null;
}

/** Whether a policy can be counted in safe integers. One that cannot is refused where it is configured. */
export function isCountable(policy: Policy): boolean {
  if (policy.type === "token-bucket") return grainsOf(policy) !== null;
  // Counts are weighed in units of 1 / window ms. Twice: a row may be written one chunk (at most a limit) ahead.
  return Number.isSafeInteger(2 * policy.limit * policy.windowSeconds * 1000);
}

/** The limits of a tenant of whom nothing was ever heard (D1 is away): those of the tier `standard`. */
export const DEFAULT_LIMITS: Limits = {
  version: 0,
  policies: [tokenBucketPolicy({ tokens: 100, perSeconds: 1 }, 200)],
};

/** Seconds that a rate may be given per: some thirty years, and its milliseconds are still exact. */
export const PER_SECONDS_MAX = 1_000_000_000;
/** Names in headers and problems stay readable. */
export const POLICY_NAME_LENGTH_MAX = 64;
/** The ceiling that critical commands have. Its bucket lies beside the configured ones. */
export const CRITICAL_POLICY_NAME = "critical-ceiling";
/** Names that the limiter gives to policies of its own. */
export const RESERVED_POLICY_NAMES: ReadonlySet<string> = new Set([CRITICAL_POLICY_NAME]);

/**
 * The policies that begin anew when `after` replaces `before`: what was used under another type cannot be counted on, so
 * a policy whose type changes under its name forgets it.
 */
export function restartedPolicies(before: readonly Policy[], after: readonly Policy[]): string[] {
  const types = new Map(before.map(({ name, type }) => [name, type]));
  return after.filter(({ name, type }) => (types.get(name) ?? type) !== type).map(({ name }) => name);
}
