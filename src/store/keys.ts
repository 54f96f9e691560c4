import { z } from "zod";
import { auditStatement } from "./audit.ts";
import { type Act, type Condition, checkRow, runBatch } from "./database.ts";
import { tenantExists } from "./tenants.ts";

/** Table `api_keys`: which keys a tenant has. Only a key's hash is stored, and nothing here reads it back. */

export interface ApiKey {
  readonly keyId: string;
  readonly name: string | null;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** From then on it is refused; null: never. */
  readonly expiresAtMs: number | null;
}

/** Keys of one tenant: they are listed in one answer, and rotation needs two. */
export const KEYS_PER_TENANT_MAX = 1000;

const row = z.object({
  id: z.string(),
  name: z.string().nullable(),
  created_at: z.int(),
  expires_at: z.int().nullable(),
});

function readKey(given: unknown): ApiKey {
  const { id, name, created_at, expires_at } = checkRow("api_keys", row, given);
  return { keyId: id, name, createdAtMs: created_at, expiresAtMs: expires_at };
}

/** @param hash of the secret, in hex. @throws StoreUnavailable; nothing is written then */
export async function createKey(
  db: D1Database,
  tenant: string,
  key: ApiKey & { readonly hash: string },
  act: Act,
): Promise<"created" | "unknown_tenant" | "too_many"> {
  const { keyId, name, createdAtMs, expiresAtMs, hash } = key;
  const exists = tenantExists(tenant);
  const allowed: Condition = {
    sql: `${exists.sql} AND (SELECT count(*) FROM api_keys WHERE tenant_id = ?) < ${KEYS_PER_TENANT_MAX}`,
    args: [...exists.args, tenant],
  };
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  const deed = { action: "key.create", target: `tenant:${tenant}`, detail: { keyId, name, expiresAt } };
  const batch = await runBatch(db, [
    db.prepare("SELECT 1 FROM tenants WHERE id = ?").bind(tenant),
    auditStatement(db, act, deed, allowed),
    db
      .prepare(
        `INSERT INTO api_keys (id, tenant_id, hash, name, created_at, expires_at) SELECT ?, ?, ?, ?, ?, ?
         WHERE ${allowed.sql} RETURNING id`,
      )
      .bind(keyId, tenant, hash, name, createdAtMs, expiresAtMs, ...allowed.args),
  ]);
  if (!batch.found(0)) return "unknown_tenant";
  return batch.found(2) ? "created" : "too_many";
}

/** A tenant's keys, oldest first; null when there is no such tenant. @throws StoreUnavailable, BadRow */
export async function listKeys(db: D1Database, tenant: string): Promise<ApiKey[] | null> {
  const batch = await runBatch(db, [
    db.prepare("SELECT 1 FROM tenants WHERE id = ?").bind(tenant),
    db
      .prepare("SELECT id, name, created_at, expires_at FROM api_keys WHERE tenant_id = ? ORDER BY created_at, id")
      .bind(tenant),
  ]);
  return batch.found(0) ? batch.rows(1).map(readKey) : null;
}

/** @returns false when this tenant has no such key. @throws StoreUnavailable; nothing is written then */
export async function deleteKey(db: D1Database, tenant: string, keyId: string, act: Act): Promise<boolean> {
  const exists: Condition = {
    sql: "EXISTS (SELECT 1 FROM api_keys WHERE id = ? AND tenant_id = ?)",
    args: [keyId, tenant],
  };
  const deed = { action: "key.delete", target: `tenant:${tenant}`, detail: { keyId } };
  const batch = await runBatch(db, [
    auditStatement(db, act, deed, exists),
    db.prepare("DELETE FROM api_keys WHERE id = ? AND tenant_id = ? RETURNING id").bind(keyId, tenant),
  ]);
  return batch.found(1);
}
