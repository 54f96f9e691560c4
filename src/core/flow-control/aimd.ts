import type { LimitSample } from "./sample.ts";

/**
 * Additive increase, multiplicative decrease, in Zeebe's stabilizing variant: a slow or lost command cuts the limit only
 * while what is in flight is within the limit. Commands that were admitted before a cut then cannot cut it again and
 * again, so the limit settles instead of falling to its floor.
 */

export interface AimdParams {
  readonly initialLimit: number;
  readonly minLimit: number;
  readonly maxLimit: number;
  /** What a cut leaves, 0 < ratio < 1. */
  readonly backoffRatio: number;
  /** A command that took longer counts as lost. */
  readonly requestTimeoutMs: number;
}

/** What a workflow engine bears: commands of milliseconds, and none worth waiting for after ten seconds. */
export const AIMD_DEFAULTS: AimdParams = {
  initialLimit: 200,
  minLimit: 1,
  maxLimit: 1000,
  backoffRatio: 0.9,
  requestTimeoutMs: 10_000,
};

/** @returns the limit after a sample; whole, like the one before */
export function aimd(limit: number, params: AimdParams, sample: LimitSample): number {
  return Math.min(params.maxLimit, Math.max(params.minLimit, moved(limit, params, sample)));
}

function moved(limit: number, params: AimdParams, { rttMs, inFlight, dropped }: LimitSample): number {
  if (dropped || rttMs > params.requestTimeoutMs) {
    return inFlight <= limit ? Math.trunc(limit * params.backoffRatio) : limit;
  }
  return 2 * inFlight >= limit ? limit + 1 : limit;
}
