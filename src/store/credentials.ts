import { z } from "zod";
import type { LimiterMode } from "../core/lease.ts";
import type { Limits } from "../core/policy.ts";
import { checkRow, queryRows } from "./database.ts";
import { LIMITS_COLUMNS, limitsRow, readLimits, storedMode, storedWeight } from "./limits.ts";
import { standingStatement, type TenantStanding } from "./tenants.ts";
import { findTier } from "./tiers.ts";

/**
 * The one query of a request's identity: credential → tenant → tier → limits. All of it in one statement, because it
 * stands in the way of a first request; answers are kept by `identity/`.
 */

export interface Membership {
  readonly tier: string;
  readonly standing: TenantStanding;
  readonly limits: Limits;
  /** The tier's weight in the command queue. */
  readonly weight: number;
  /** Whether the tier's tenants may be decided by leases. */
  readonly limiterMode: LimiterMode;
}

export interface KeyHolder extends Membership {
  readonly keyId: string;
  readonly tenant: string;
  /** Unix milliseconds; null: never. */
  readonly expiresAtMs: number | null;
}

const memberRow = limitsRow.extend({
  tier: z.string(),
  standing: z.enum(["active", "suspended", "deleted", "unlisted"]),
  weight: storedWeight,
  limiter_mode: storedMode,
});
const keyRow = memberRow.extend({ key_id: z.string(), tenant_id: z.string(), expires_at: z.int().nullable() });

/** What a key is found by: the SHA-256 of its secret in hex, or its public id. */
export type KeyName = { readonly hash: string } | { readonly id: string };

/** Who holds a key, expired or not; null when there is no such key. @throws StoreUnavailable, BadRow */
export async function findKeyHolder(db: D1Database, name: KeyName): Promise<KeyHolder | null> {
  const [column, value] = "hash" in name ? ["k.hash", name.hash] : ["k.id", name.id];
  const [found] = await queryRows(
    db
      .prepare(
        `SELECT k.id AS key_id, k.tenant_id, k.expires_at, t.tier, t.status AS standing, r.weight AS weight,
           r.limiter_mode AS limiter_mode, ${LIMITS_COLUMNS}
         FROM api_keys k JOIN tenants t ON t.id = k.tenant_id JOIN tiers r ON r.name = t.tier
           LEFT JOIN tenant_limits l ON l.tenant_id = t.id
         WHERE ${column} = ?`,
      )
      .bind(value),
  );
  if (found === undefined) return null;
  const row = checkRow("api_keys", keyRow, found);
  return { keyId: row.key_id, tenant: row.tenant_id, expiresAtMs: row.expires_at, ...membership(row) };
}

/** What a tenant goes by that a token names, and how it stands; one without a row goes by the default tier. @throws StoreUnavailable, BadRow */
export async function findMembership(db: D1Database, tenant: string): Promise<Membership> {
  const [found] = await queryRows(standingStatement(db, tenant));
  return membership(checkRow("tenants", memberRow, found));
}

/** A tier as what its members go by; null when there is none of that name. @throws StoreUnavailable, BadRow */
export async function findTierMembership(db: D1Database, name: string): Promise<Membership | null> {
  const tier = await findTier(db, name);
  if (tier === null) return null;
  const { version, policies, weight, limiterMode } = tier;
  return { tier: tier.name, standing: "active", limits: { version, policies }, weight, limiterMode };
}

function membership(row: z.infer<typeof memberRow>): Membership {
  const { tier, standing, weight, limiter_mode: limiterMode } = row;
  return { tier, standing, limits: readLimits(row), weight, limiterMode };
}
