import { CRITICAL_POLICY_NAME, DEFAULT_LIMITS, type Limits, type Policy } from "./policy.ts";

/**
 * What bounds critical commands, which no limit of the tenant's own refuses: a flood of them by one tenant must still
 * end somewhere.
 */

/** How far a tenant's critical commands may exceed its tier: a ceiling against a caller that floods them. */
const CRITICAL_CEILING_FACTOR = 10;
/** A tenant whose limits are (nearly) zero must still be able to end the work that it has. */
const CRITICAL_RATE_MIN = 10;
const CRITICAL_BURST_MIN = 20;

/**
 * The one limit that critical commands have: ten times the tightest rate and size of the tenant's own limits. Those of
 * single subjects say nothing of the whole; a tenant that has only such gets the default tier's ceiling.
 *
 * @returns limits with that single policy; its meter lies beside the tenant's own
 */
export function criticalCeiling(limits: Limits): Limits {
  const own = limits.policies.filter(({ scope }) => scope === "tenant");
  const sizes = (own.length > 0 ? own : DEFAULT_LIMITS.policies).map(sizeOf);
  const tightestRate = Math.min(...sizes.map(({ perSecond }) => perSecond));
  const smallest = Math.min(...sizes.map(({ atOnce }) => atOnce));
  const rate = Math.max(CRITICAL_RATE_MIN, Math.floor(tightestRate * CRITICAL_CEILING_FACTOR));
  const burst = Math.max(CRITICAL_BURST_MIN, smallest * CRITICAL_CEILING_FACTOR);
  const name = CRITICAL_POLICY_NAME;
  const policy: Policy = { type: "token-bucket", name, scope: "tenant", rate: { tokens: rate, perSeconds: 1 }, burst };
  return { version: limits.version, policies: [policy] };
}

function sizeOf(policy: Policy): { perSecond: number; atOnce: number } {
  return policy.type === "token-bucket"
    ? { perSecond: policy.rate.tokens / policy.rate.perSeconds, atOnce: policy.burst }
    : { perSecond: policy.limit / policy.windowSeconds, atOnce: policy.limit };
}
