import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { D1Database } from "@cloudflare/workers-types";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { migrateLocal } from "../../src/cli/local-database.ts";
import { childrenOf, pin, SERVER_CORE } from "./machine.ts";
import { benchWorkers } from "./workers.ts";

/** One workerd with all sides in it, its database filled with tenants, on a core of its own. */

/** Tenants that nothing limits: `t0` is the hot one, `t0` to `t999` are the thousand. */
export const TENANTS = 10_000;
/** Tenants that nobody has asked about yet. */
const FRESH_TENANTS = 12_000;
/** Rows in one statement. */
const ROWS_A_STATEMENT = 1_000;

const bucket = (tokens: number, perSeconds: number, burst: number) =>
  JSON.stringify([{ name: "requests", type: "token-bucket", scope: "tenant", rate: { tokens, perSeconds }, burst }]);

/** Tiers by name. `tight` is the limit whose excess is counted, `spent` is over its limit from the second request on. */
const TIERS: Readonly<Record<string, string>> = {
  bench: bucket(1_000_000, 1, 1_000_000),
  tight: bucket(200, 1, 200),
  spent: bucket(1, 3_600, 1),
};

export interface Server {
  /** @returns the port that leads straight to this Worker */
  port(worker: string): Promise<number>;
  /** Of the workerd process. */
  readonly pid: number;
  /** Whether it is kept on a core of its own. */
  readonly pinned: boolean;
  /** Where a debugger finds the Workers; null unless asked for. */
  readonly inspector: URL | null;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Opens a port for a debugger, which costs a little. */
  readonly inspect?: boolean;
  /** These Workers and no others; the first of them has the database. */
  readonly only?: readonly string[];
  /** The folder in which all state is kept for so long; the system's own for such things unless given. */
  readonly parent?: string;
}

/** @param root where the product is taken from */
export async function startServer(root: string, options: ServerOptions = {}): Promise<Server> {
  const { inspect = false, only, parent = tmpdir() } = options;
  const workers = (await benchWorkers(root)).filter(({ name = "" }) => only?.includes(name) ?? true);
  const folder = await mkdtemp(path.join(parent, "headgate-bench-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      resourcePersistencePath: path.join(folder, "v3"),
      log: new Log(LogLevel.WARN),
      cf: false,
      ...(inspect ? { inspectorPort: 0 } : {}),
      workers,
    }),
  );
  const stop = () => miniflare.dispose().finally(remove);
  try {
    await miniflare.ready;
    await fill(await miniflare.getD1Database("DB", only?.[0] ?? "leased"), path.join(root, "migrations"));
    const workerd = childrenOf(process.pid).find(({ pid, command }) => !before.has(pid) && command.includes("workerd"));
    if (workerd === undefined) throw new Error("there is no workerd process among this one's children");
    return {
      port: async (worker) => Number((await miniflare.unsafeGetDirectURL(worker)).port),
      pid: workerd.pid,
      pinned: pin(workerd.pid, SERVER_CORE),
      inspector: inspect ? await miniflare.getInspectorURL() : null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export function keyOf(tenant: string): string {
  return `hg_bench_${tenant}`;
}

/** Names of tenants from one number up to another. */
export function tenants(prefix: "t" | "fresh" | "tight" | "spent", from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${from + n}`);
}

async function fill(database: D1Database, migrations: string): Promise<void> {
  await migrateLocal(database, migrations);
  await database.batch(
    Object.entries(TIERS).map(([name, policies]) =>
      database
        .prepare("INSERT INTO tiers (name, policies, version, updated_at) VALUES (?, ?, 1, 0)")
        .bind(name, policies),
    ),
  );
  const all = [
    ...tenants("t", 0, TENANTS).map((id) => [id, "bench"] as const),
    ...tenants("fresh", 0, FRESH_TENANTS).map((id) => [id, "bench"] as const),
    ...tenants("tight", 0, 1_000).map((id) => [id, "tight"] as const),
    ...tenants("spent", 0, 100).map((id) => [id, "spent"] as const),
  ];
  for (let from = 0; from < all.length; from += ROWS_A_STATEMENT) {
    const rows = JSON.stringify(
      all.slice(from, from + ROWS_A_STATEMENT).map(([id, tier]) => [id, tier, sha256(keyOf(id))]),
    );
    await database.batch([
      database
        .prepare(
          `INSERT INTO tenants (id, tier, status, version, created_at, updated_at)
           SELECT value ->> 0, value ->> 1, 'active', 1, 0, 0 FROM json_each(?)`,
        )
        .bind(rows),
      database
        .prepare(
          `INSERT INTO api_keys (id, tenant_id, hash, name, created_at)
           SELECT value ->> 0, value ->> 0, value ->> 2, 'bench', 0 FROM json_each(?)`,
        )
        .bind(rows),
    ]);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
