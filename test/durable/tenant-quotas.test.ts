import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ROW_BYTES, TENANT_QUOTAS } from "../../src/core/tenant-quotas.ts";
import { accepted, again, CREATE, calls, DEPLOY, deployed, type Engine, read, submit } from "./support.ts";

// A tenant that tries to hold more than the table says, for each line of it. What would take long to send is put on disk
// first, and counted by the object's next life.

const TENANT = "tenant:t";

async function sql<T extends Record<string, SqlStorageValue>>(
  engine: Engine,
  statement: string,
  ...values: SqlStorageValue[]
): Promise<T[]> {
  return await runInDurableObject(engine, (_object, { storage }) =>
    storage.sql.exec<T>(statement, ...values).toArray(),
  );
}

async function one(engine: Engine, statement: string): Promise<number> {
  const [row] = await sql<{ n: number }>(engine, `SELECT ${statement} AS n`);
  return row?.n ?? 0;
}

/** Rows 1 to n, for an INSERT from SELECT. */
const upTo = (n: number) =>
  `(WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ${n}) SELECT n FROM up)`;

/** The object's next life counts what is on disk. */
async function restarted(engine: Engine): Promise<Engine> {
  await evictDurableObject(engine);
  return again(engine);
}

describe("kept answers of idempotency keys", () => {
  test("two jobs of 240 kB, activated again and again under fresh keys, are kept once, up to the tenant's quota", async () => {
    const engine = await deployed();
    for (let n = 0; n < 2; n++) {
      await accepted(engine, "PROCESS_INSTANCE:CREATE", { ...CREATE, variables: { text: "x".repeat(240_000) } });
    }
    const activate = { type: "pay", maxJobs: 2, timeoutSeconds: 0.001 };
    for (let n = 0; n < 200; n++) {
      const idempotency = { key: `k${n}`, fingerprint: "f" };
      await submit(engine, "JOB:ACTIVATE", activate, TENANT, 1, { idempotency, waitMs: 5_000 });
    }
    const kept = "coalesce(sum(octet_length(result)), 0)";
    expect(await one(engine, `(SELECT sum(octet_length(answer)) FROM idempotency_keys)`)).toBeLessThan(200 * 200);
    const bytes = await one(engine, `(SELECT ${kept} FROM commands)`);
    expect(bytes).toBeGreaterThan(TENANT_QUOTAS.results.value / 2);
    // What lies above the mark goes with its next move.
    expect(bytes).toBeLessThan(TENANT_QUOTAS.results.value + 16 * 1024 ** 2);
  });

  test("past the quota the oldest go, and another tenant's stay", async () => {
    const engine = await deployed();
    const rows = Math.floor(TENANT_QUOTAS.keys.value / (ROW_BYTES + 8));
    const fill = `INSERT INTO idempotency_keys (tenant, key, fingerprint, used_at, answer)
      SELECT ?, printf('%08d', n), 'f', n, '{}' FROM ${upTo(rows)}`;
    await sql(engine, fill, TENANT);
    await sql(engine, fill.replace(upTo(rows), upTo(10)), "tenant:other");
    const later = await restarted(engine);
    for (const key of ["new-key-", "new-key2"]) {
      await submit(later, "PROCESS_INSTANCE:CREATE", CREATE, TENANT, 1, { idempotency: { key, fingerprint: "f" } });
    }
    const oldest = await one(later, `(SELECT min(used_at) FROM idempotency_keys WHERE tenant = '${TENANT}')`);
    expect(oldest).toBeGreaterThan(1_000);
    expect(await one(later, `(SELECT count(*) FROM idempotency_keys WHERE tenant = '${TENANT}')`)).toBeLessThan(rows);
    expect(await one(later, "(SELECT count(*) FROM idempotency_keys WHERE key LIKE 'new-key%')")).toBe(2);
    expect(await one(later, "(SELECT count(*) FROM idempotency_keys WHERE tenant = 'tenant:other')")).toBe(10);
  });
});

describe("definitions", () => {
  test("past the quota a new version fails and names the limit; the newest again succeeds", async () => {
    const engine = await deployed();
    await sql(
      engine,
      `INSERT INTO process_definitions (seq, tenant, process_id, version, tasks)
       SELECT n, ?, 'old', n, hex(zeroblob(500000)) FROM ${upTo(68)}`,
      TENANT,
    );
    const later = await restarted(engine);
    const { commandId } = await accepted(later, "DEPLOYMENT:CREATE", { ...DEPLOY, processId: "another" });
    expect(await read(later, commandId)).toMatchObject({
      state: "failed",
      error: { code: "quota_exceeded", message: expect.stringContaining("TENANT_DEFINITION_BYTES_MAX") },
    });
    expect(await accepted(later, "DEPLOYMENT:CREATE", DEPLOY)).toMatchObject({ state: "succeeded" });
    const other = await accepted(later, "DEPLOYMENT:CREATE", DEPLOY, "tenant:other");
    expect(other).toMatchObject({ state: "succeeded" });
  });
});

describe("dead letters", () => {
  test("past the quota the oldest go, those of another tenant stay", async () => {
    const engine = await deployed();
    const size = 256 * 1024;
    const rows = TENANT_QUOTAS.deadLetters.value / size + 3;
    // Their bodies are told of, and not there: what counts is what their rows say.
    const fill = (tenant: string, from: number, n: number) =>
      sql(
        engine,
        `INSERT INTO commands (sequence, tenant, intent, bytes, weight, state, accepted_at, finished_at, payload)
         SELECT n + ${from}, ?, 'PROCESS_INSTANCE:CREATE', ${size}, 1, 'dead', 1, 1, '{"processId":1}' FROM ${upTo(n)}`,
        tenant,
      );
    await fill("tenant:other", 0, 5);
    await fill(TENANT, 5, rows);
    await sql(engine, "INSERT INTO dead_letters SELECT sequence FROM commands WHERE state = 'dead'");
    // A command that its payload's schema does not take is dead after three attempts.
    const later = await restarted(engine);
    await submit(later, "PROCESS_INSTANCE:CREATE", { processId: 1 });
    const left = await sql<{ tenant: string; n: number }>(
      later,
      `SELECT tenant, count(*) AS n FROM commands WHERE sequence IN dead_letters GROUP BY tenant ORDER BY tenant`,
    );
    expect(left[0]).toEqual({ tenant: "tenant:other", n: 5 });
    expect(left[1]?.n).toBeLessThanOrEqual(TENANT_QUOTAS.deadLetters.value / size + 1);
  });
});

describe("a deleted tenant", () => {
  test("frees all that the engine keeps of it, and nothing of another; what it does later is its own again", async () => {
    const engine = await deployed();
    const use = (tenant: string, key: string) =>
      submit(engine, "PROCESS_INSTANCE:CREATE", CREATE, tenant, 1, { idempotency: { key, fingerprint: "f" } });
    await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY, "tenant:other");
    for (let n = 0; n < 20; n++) await use(TENANT, `k${n}`);
    await use("tenant:other", "k");
    await engine.pause(true);
    const { commandId } = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    await engine.forgetTenant(TENANT);
    await engine.resume();
    await runDurableObjectAlarm(engine);
    const tables = ["commands", "idempotency_keys", "process_definitions", "process_instances", "process_jobs"];
    const left = async (tenant: string) =>
      Promise.all(tables.map((table) => one(engine, `(SELECT count(*) FROM ${table} WHERE tenant = '${tenant}')`)));
    expect(await left("tenant:other")).toEqual([2, 1, 1, 1, 1]);
    expect((await left(TENANT)).slice(1)).toEqual([0, 0, 0, 0]);
    expect(await read(engine, commandId)).toBeNull();
    expect((await calls(engine).status({})).inFlight).toBe(0);

    await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY);
    const anew = await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE);
    expect(anew).toMatchObject({ state: "succeeded" });
    await runDurableObjectAlarm(engine);
    expect((await left(TENANT)).slice(2)).toEqual([1, 1, 1]);
  });
});
