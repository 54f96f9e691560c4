/**
 * An embedded engine in the SQLite of a fresh object, on virtual time: each command says what time it is.
 *
 * Contract: the engine starts empty, whatever the object has made of its storage already. What a test reads from the
 * tables it reads through `rows`; what a caller can see it reads from outcomes.
 */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { expect } from "vitest";
import type { Intent } from "../../src/core/intents.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { formatKey, type KeySource, parseKey } from "../../src/core/keys.ts";
import { TenantHoldings } from "../../src/core/tenant-holdings.ts";
import { EmbeddedExecutor } from "../../src/executor/embedded/executor.ts";
import { EMBEDDED_SCHEMA } from "../../src/executor/embedded/schema.ts";
import type { SearchQuery } from "../../src/executor/embedded/search.ts";
import type { SearchKind } from "../../src/executor/embedded/search-kinds.ts";
import type { Outcome } from "../../src/executor/port.ts";

/** When tests begin: some whole second, long after 1970. */
export const T0 = 1_800_000_000_000;
export const SECOND = 1000;
/** How long the engines of these tests keep ended instances. */
export const KEEP_MS = 3600 * SECOND;
/** A well-formed key that no test ever gives out. */
export const UNKNOWN_KEY = formatKey(0, 999_999_999);

export const TABLES = ["process_definitions", "process_instances", "process_jobs", "process_incidents"] as const;

const activated = z.object({
  jobs: z.array(
    z.strictObject({
      jobKey: z.string(),
      type: z.string(),
      processInstanceKey: z.string(),
      retries: z.number(),
      deadline: z.string(),
      variables: z.custom<JsonObject>(),
    }),
  ),
});
export type ActivatedJob = z.output<typeof activated>["jobs"][number];

export class Engine {
  readonly sql: SqlStorage;
  readonly executor: EmbeddedExecutor;
  readonly keys: KeySource;
  readonly holdings = new TenantHoldings();
  #commands = 0;

  constructor(sql: SqlStorage) {
    let last = 0;
    this.keys = {
      next: () => ++last,
      format: (sequence) => formatKey(0, sequence),
      parse: (key) => {
        const parts = parseKey(key);
        return parts?.partition === 0 ? parts.sequence : null;
      },
    };
    this.sql = sql;
    this.executor = new EmbeddedExecutor(sql, this.keys, KEEP_MS, this.holdings);
  }

  run(tenant: string, intent: Intent, payload: JsonObject, nowMs = T0): Outcome {
    return this.executor.execute({ id: formatKey(8, ++this.#commands), tenant, intent, payload }, nowMs);
  }

  /** Runs a command that must succeed, and returns its result. */
  ok(tenant: string, intent: Intent, payload: JsonObject, nowMs = T0): JsonObject {
    const outcome = this.run(tenant, intent, payload, nowMs);
    if (outcome.state === "failed") throw new Error(`${intent} failed: ${outcome.error.message}`);
    return outcome.result;
  }

  /** Deploys a process whose tasks have these types. */
  deploy(tenant: string, processId: string, types: readonly string[], retries = 3): void {
    this.ok(tenant, "DEPLOYMENT:CREATE", { processId, tasks: types.map((type) => ({ type, retries })) });
  }

  /** Starts an instance and returns its key. */
  start(tenant: string, processId: string, variables: JsonObject = {}, nowMs = T0): string {
    const result = this.ok(tenant, "PROCESS_INSTANCE:CREATE", { processId, variables }, nowMs);
    return z.string().parse(result.processInstanceKey);
  }

  activate(tenant: string, type: string, nowMs = T0, options: JsonObject = {}): ActivatedJob[] {
    return activated.parse(this.ok(tenant, "JOB:ACTIVATE", { type, ...options }, nowMs)).jobs;
  }

  /** Activates the one job that must be there. */
  activateOne(tenant: string, type: string, nowMs = T0, options: JsonObject = {}): ActivatedJob {
    const [job] = this.activate(tenant, type, nowMs, options);
    if (job === undefined) throw new Error(`no job of type ${type} is available`);
    return job;
  }

  /** Fails a job for good, and returns the key of its incident. */
  break(tenant: string, jobKey: string, nowMs = T0): string {
    return z.string().parse(this.ok(tenant, "JOB:FAIL", { jobKey, retries: 0 }, nowMs).incidentKey);
  }

  /** Searches to the end. */
  search(tenant: string, kind: SearchKind, query: SearchQuery, nowMs: number) {
    const search = this.executor.search(tenant, kind, query, nowMs);
    if ("fault" in search) return search;
    while (!search.isDone) search.step();
    const { items, total } = search.result();
    return { items, total };
  }

  /** Lets every timer go off that is due. */
  fire(nowMs: number): void {
    for (const due of this.executor.dueTimers(nowMs, 1000, [])) this.executor.fireTimers(due, nowMs);
  }

  rows(query: string, ...bindings: SqlStorageValue[]): Record<string, SqlStorageValue>[] {
    return this.sql.exec(query, ...bindings).toArray();
  }

  /** Every row of the engine, or of one tenant. */
  dump(tenant?: string): Record<string, Record<string, SqlStorageValue>[]> {
    const dumpTable = (table: string) =>
      tenant === undefined
        ? this.rows(`SELECT * FROM ${table} ORDER BY seq`)
        : this.rows(`SELECT * FROM ${table} WHERE tenant = ? ORDER BY seq`, tenant);
    return Object.fromEntries(TABLES.map((table) => [table, dumpTable(table)]));
  }
}

/** Drops what the object may have made of the engine already. */
export function dropSchema(sql: SqlStorage): void {
  const existing = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
  for (const { name } of existing) {
    if (TABLES.some((table) => table === name)) sql.exec(`DROP TABLE ${name}`);
  }
}

/** Drops what the object may have made of the engine already, then runs the schema steps in order. */
export function freshSchema(sql: SqlStorage): void {
  dropSchema(sql);
  for (const step of EMBEDDED_SCHEMA) sql.exec(step);
}

/** Runs a test's body with an engine of its own. */
export async function withEngine(body: (engine: Engine) => void): Promise<void> {
  const object = env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.newUniqueId());
  await runInDurableObject(object, (_instance, state) => {
    freshSchema(state.storage.sql);
    body(new Engine(state.storage.sql));
  });
}

/** The storage, counting what the statements that go through it read and write. */
export function countingSql(sql: SqlStorage): { sql: SqlStorage; rowsRead(): number; rowsWritten(): number } {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  const counting = new Proxy(sql, {
    get(target, member) {
      if (member !== "exec") return Reflect.get(target, member, target);
      return (query: string, ...bindings: SqlStorageValue[]) => {
        const cursor = target.exec(query, ...bindings);
        cursors.push(cursor);
        return cursor;
      };
    },
  });
  const sum = (of: (cursor: SqlStorageCursor<Record<string, SqlStorageValue>>) => number) =>
    cursors.reduce((total, cursor) => total + of(cursor), 0);
  return { sql: counting, rowsRead: () => sum((c) => c.rowsRead), rowsWritten: () => sum((c) => c.rowsWritten) };
}

export function failed(code: "not_found" | "invalid_state" | "already_exists" | "invalid_argument", naming: string) {
  return { state: "failed", error: { code, message: expect.stringContaining(naming) } };
}
