import { z } from "zod";
import { LIMITER_MODES } from "../core/lease.ts";
import {
  isCountable,
  type Limits,
  type Policy,
  rateFromNumber,
  SCOPES,
  tokenBucketPolicy,
  WINDOW_TYPES,
} from "../core/policy.ts";
import { WEIGHT_MAX, WEIGHT_MIN } from "../core/weight.ts";
import { BadRow, checkRow, parseJson } from "./database.ts";

/**
 * From stored columns to limits: a tenant goes by its own two numbers where it has them, else by its tier's policies,
 * under the newer of both versions. Every query that yields limits selects {@link LIMITS_COLUMNS} and reads them here.
 */

const named = { name: z.string().min(1), scope: z.enum(SCOPES).default("tenant") };
const storedPolicy = z.discriminatedUnion("type", [
  z.object({
    ...named,
    type: z.literal("token-bucket"),
    rate: z.object({ tokens: z.int().nonnegative(), perSeconds: z.int().positive() }),
    burst: z.int().nonnegative(),
  }),
  z.object({
    ...named,
    type: z.enum(WINDOW_TYPES),
    limit: z.int().nonnegative(),
    windowSeconds: z.int().positive(),
  }),
]);
const storedPolicies = z.array(storedPolicy).min(1);

/** The weight in a tier's column. */
export const storedWeight = z.int().min(WEIGHT_MIN).max(WEIGHT_MAX);

/** Whether a tier's tenants may be decided by leases. */
export const storedMode = z.enum(LIMITER_MODES);

/** The policies in a tier's column. @throws BadRow */
export function readPolicies(text: string): Policy[] {
  const policies = checkRow("tiers", storedPolicies, parseJson("tiers", text));
  return policies.map((policy) => counted("tiers", policy));
}

/** The columns of {@link limitsRow}, where `tenants` is t, `tiers` is r and `tenant_limits` is l. */
export const LIMITS_COLUMNS = `r.policies AS policies, r.version AS tier_version, t.version AS tenant_version,
  l.requests_per_second AS requests_per_second, l.burst_size AS burst_size`;

export const limitsRow = z.object({
  policies: z.string(),
  tier_version: z.int(),
  /** Null for a tenant that has no row. */
  tenant_version: z.int().nullable(),
  requests_per_second: z.number().nullable(),
  burst_size: z.int().nonnegative().nullable(),
});

/** @throws BadRow */
export function readLimits(row: z.infer<typeof limitsRow>): Limits {
  const version = Math.max(row.tier_version, row.tenant_version ?? 0);
  const { requests_per_second: perSecond, burst_size: burst } = row;
  if (perSecond === null || burst === null) return { version, policies: readPolicies(row.policies) };
  const rate = perSecond >= 0 ? rateFromNumber(perSecond) : null;
  if (rate === null) throw new BadRow("tenant_limits", `${perSecond} is not a rate`);
  return { version, policies: [counted("tenant_limits", tokenBucketPolicy(rate, burst))] };
}

/** Found here and not in the object that would have to count by it. */
function counted(table: string, policy: Policy): Policy {
  if (!isCountable(policy)) throw new BadRow(table, `policy ${policy.name} cannot be counted exactly`);
  return policy;
}
