import { z } from "zod";
import type { LimiterMode } from "../core/lease.ts";
import { type Policy, restartedPolicies } from "../core/policy.ts";
import { WEIGHT_DEFAULT } from "../core/weight.ts";
import { auditStatement } from "./audit.ts";
import { type Act, ALWAYS, BadRow, type Condition, checkRow, queryRows, runBatch } from "./database.ts";
import { readPolicies, storedMode, storedWeight } from "./limits.ts";
import { bumpClock, CLOCK } from "./limits-clock.ts";

/** Table `tiers`: named sets of policies. Who is in a tier is told by `tenants`. */

export interface Tier {
  readonly name: string;
  readonly policies: readonly Policy[];
  /** In the command queue, against the other tiers' tenants. */
  readonly weight: number;
  readonly limiterMode: LimiterMode;
  readonly version: number;
  /** Unix milliseconds. */
  readonly updatedAtMs: number;
}

/** The tier of a tenant that nobody put into another. */
export const DEFAULT_TIER = "standard";
/** The tier of callers that are nobody. */
export const ANONYMOUS_TIER = "anonymous";

const row = z.object({
  name: z.string(),
  policies: z.string(),
  weight: storedWeight,
  limiter_mode: storedMode,
  version: z.int(),
  updated_at: z.int(),
});
const COLUMNS = "name, policies, weight, limiter_mode, version, updated_at";

function readTier(given: unknown): Tier {
  const { name, policies, weight, limiter_mode, version, updated_at } = checkRow("tiers", row, given);
  const settings = { policies: readPolicies(policies), weight, limiterMode: limiter_mode };
  return { name, ...settings, version, updatedAtMs: updated_at };
}

/** All tiers, by name. @throws StoreUnavailable, BadRow */
export async function listTiers(db: D1Database): Promise<Tier[]> {
  return (await queryRows(db.prepare(`SELECT ${COLUMNS} FROM tiers ORDER BY name`))).map(readTier);
}

/** @throws StoreUnavailable, BadRow */
export async function findTier(db: D1Database, name: string): Promise<Tier | null> {
  const [found] = await queryRows(db.prepare(`SELECT ${COLUMNS} FROM tiers WHERE name = ?`).bind(name));
  return found === undefined ? null : readTier(found);
}

export interface SavedTier {
  readonly tier: Tier;
  readonly created: boolean;
  /** Tenants that go by this tier's policies: the first of them by id, as many as were asked for. */
  readonly followers: readonly string[];
  readonly followersTotal: number;
  /** The policies that begin anew, since their type is another one now. */
  readonly restarted: readonly string[];
}

/** A tier as an admin gives it. */
export interface TierSettings {
  readonly policies: readonly Policy[];
  /** Null keeps what it has; a new tier has 1. */
  readonly weight: number | null;
  /** Null keeps what it has; a new tier is leased. */
  readonly limiterMode: LimiterMode | null;
}

/**
 * Makes a tier, or replaces its policies and, where they are given, its weight and its limiter mode.
 *
 * @param followersMax how many of the tier's tenants to name
 * @throws StoreUnavailable, BadRow; nothing is written then
 */
export async function putTier(
  db: D1Database,
  name: string,
  given: TierSettings,
  act: Act,
  followersMax: number,
): Promise<SavedTier> {
  const { policies, weight, limiterMode } = given;
  const following = "FROM tenants WHERE tier = ?1 AND id NOT IN (SELECT tenant_id FROM tenant_limits)";
  const batch = await runBatch(db, [
    db.prepare("SELECT policies FROM tiers WHERE name = ?").bind(name),
    bumpClock(db, ALWAYS),
    db
      .prepare(
        `INSERT INTO tiers (name, policies, weight, limiter_mode, version, updated_at)
         VALUES (?1, ?2, COALESCE(?4, ${WEIGHT_DEFAULT}), COALESCE(?5, 'leased'), ${CLOCK}, ?3)
         ON CONFLICT (name) DO UPDATE SET policies = ?2, weight = COALESCE(?4, weight),
           limiter_mode = COALESCE(?5, limiter_mode), version = ${CLOCK}, updated_at = ?3
         RETURNING ${COLUMNS}`,
      )
      .bind(name, JSON.stringify(policies), act.nowMs, weight, limiterMode),
    auditStatement(db, act, { action: "tier.put", target: `tier:${name}`, detail: jsonOf(given) }, ALWAYS),
    db.prepare(`SELECT id ${following} ORDER BY id LIMIT ?2`).bind(name, followersMax),
    db.prepare(`SELECT count(*) AS total ${following}`).bind(name),
  ]);
  const [saved] = batch.rows(2);
  if (saved === undefined) throw new BadRow("tiers", "a row that was just written is not there");
  return {
    tier: readTier(saved),
    created: !batch.found(0),
    restarted: batch.rows(0).flatMap((before) => restartedPolicies(policiesOf(before), policies)),
    followers: batch.rows(4).map((follower) => checkRow("tenants", z.object({ id: z.string() }), follower).id),
    followersTotal: checkRow("tenants", z.object({ total: z.int() }), batch.rows(5)[0]).total,
  };
}

function policiesOf(row: unknown): Policy[] {
  return readPolicies(checkRow("tiers", z.object({ policies: z.string() }), row).policies);
}

/** Takes a tier away, unless a tenant is in it. @throws StoreUnavailable; nothing is written then */
export async function deleteTier(db: D1Database, name: string, act: Act): Promise<"deleted" | "in_use" | "unknown"> {
  const free: Condition = {
    sql: `EXISTS (SELECT 1 FROM tiers WHERE name = ?) AND NOT EXISTS (SELECT 1 FROM tenants WHERE tier = ?)`,
    args: [name, name],
  };
  const batch = await runBatch(db, [
    db.prepare("SELECT 1 FROM tiers WHERE name = ?").bind(name),
    auditStatement(db, act, { action: "tier.delete", target: `tier:${name}`, detail: {} }, free),
    db.prepare(`DELETE FROM tiers WHERE name = ? AND ${free.sql} RETURNING name`).bind(name, ...free.args),
  ]);
  if (!batch.found(0)) return "unknown";
  return batch.found(2) ? "deleted" : "in_use";
}

/** What was given as plain JSON, for the audit. */
function jsonOf({ policies, weight, limiterMode }: TierSettings) {
  const plain = policies.map((policy) =>
    policy.type === "token-bucket" ? { ...policy, rate: { ...policy.rate } } : { ...policy },
  );
  return { policies: plain, ...(weight !== null && { weight }), ...(limiterMode !== null && { limiterMode }) };
}
