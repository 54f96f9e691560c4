import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { D1Database } from "@cloudflare/workers-types";
import { unstable_splitSqlQuery } from "wrangler";

/**
 * The local database: the same migrations that are deployed, kept in the table that wrangler keeps them in, and demo
 * tenants whose keys are known to everybody, which is why they exist nowhere else.
 */

/** Tenants of a local gateway, by tier. Their key is `hg_dev_<tier>`. */
const DEMO_TIERS = ["free", "standard", "premium"] as const;

/** Applies what has not been applied yet, in the order of the file names, each file as one transaction. */
export async function migrateLocal(database: D1Database, folder: string): Promise<void> {
  await database
    .prepare(
      `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
         applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
    )
    .run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  for (const name of files) {
    if (applied.has(name)) continue;
    const statements = unstable_splitSqlQuery(await readFile(path.join(folder, name), "utf8"));
    await database.batch([
      ...statements.map((sql) => database.prepare(sql)),
      database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ]);
  }
}

/**
 * Puts the demo tenants and their keys in, unless they are there; one whose tier was deleted stays away. What was changed
 * about a tenant stays, but a demo key that was revoked is back with the next start.
 */
export async function seedDemoTenants(database: D1Database, nowMs: number): Promise<void> {
  await database.batch(
    DEMO_TIERS.flatMap((tier) => [
      database
        .prepare(
          `INSERT OR IGNORE INTO tenants (id, tier, status, version, created_at, updated_at)
           SELECT ?, name, 'active', (SELECT version FROM limits_clock), ?, ? FROM tiers WHERE name = ?`,
        )
        .bind(`demo-${tier}`, nowMs, nowMs, tier),
      database
        .prepare(
          `INSERT OR IGNORE INTO api_keys (id, tenant_id, hash, name, created_at)
           SELECT ?1, id, ?2, 'demo', ?3 FROM tenants WHERE id = ?1`,
        )
        .bind(`demo-${tier}`, sha256(`hg_dev_${tier}`), nowMs),
    ]),
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** @throws Error with one line for people, when there is no such tenant */
export async function assertTenant(database: D1Database, id: string): Promise<void> {
  const { results } = await database.prepare("SELECT id FROM tenants ORDER BY id LIMIT 20").all<{ id: string }>();
  const found = await database.prepare("SELECT 1 FROM tenants WHERE id = ?").bind(id).first();
  if (found !== null) return;
  throw new Error(`LOCAL_TENANT: there is no tenant ${id}; known are ${results.map((row) => row.id).join(", ")}`);
}
