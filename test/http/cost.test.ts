import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { callerKey } from "../../src/identity/caller.ts";
import { type Ask, appOf, tenantWithKey } from "./admin-support.ts";

// What requests cost, counted and not timed: calls of objects and rows that they write, because those are what is paid.

const T0 = Date.parse("2026-10-01T12:00:00.000Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The Worker's bindings, with every call of an object counted. */
function counting() {
  const calls = { limiter: 0, engine: 0 };
  const counted = <T extends Rpc.DurableObjectBranded>(
    namespace: DurableObjectNamespace<T>,
    which: keyof typeof calls,
  ): DurableObjectNamespace<T> =>
    new Proxy(namespace, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (name !== "get") return typeof value === "function" ? value.bind(target) : value;
        return (id: DurableObjectId) =>
          new Proxy(target.get(id), {
            get: (stub, method) => {
              calls[which] += 1;
              return Reflect.get(stub, method);
            },
          });
      },
    });
  const TENANT_LIMITER = counted(env.TENANT_LIMITER, "limiter");
  const COMMAND_ENGINE = counted(env.COMMAND_ENGINE, "engine");
  return { env: { ...env, TENANT_LIMITER, COMMAND_ENGINE }, calls };
}

type Namespace = "TENANT_LIMITER" | "COMMAND_ENGINE";

/** Rows that an object has written so far in this life. */
async function rowsOf(namespace: Namespace, name: string): Promise<number> {
  const objects = env[namespace] as DurableObjectNamespace<never>;
  return await runInDurableObject(objects.get(objects.idFromName(name)), (_object, { storage: { sql } }) =>
    Number(sql.exec("SELECT total_changes() AS n").one().n),
  );
}

/** Counts the rows that the engine writes from now on as they are billed: entries of its indexes are rows, too. */
async function countBilled(): Promise<() => Promise<number>> {
  const inEngine = <T>(act: (sql: SqlStorage) => T) =>
    runInDurableObject(env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.idFromName("engine:0")), (_engine, { storage }) =>
      act(storage.sql),
    );
  const cursors: { readonly rowsWritten: number }[] = [];
  await inEngine((sql) => {
    const exec = sql.exec.bind(sql);
    const counted: typeof exec = (query, ...values) => {
      const cursor = exec<never>(query, ...values);
      cursors.push(cursor);
      return cursor;
    };
    Object.defineProperty(sql, "exec", { value: counted });
  });
  return () => inEngine(() => cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0));
}

function limiterRows(tenant: string): Promise<number> {
  return rowsOf("TENANT_LIMITER", callerKey({ kind: "tenant", tenant }));
}

async function tenantOf(tier: string, name: string): Promise<string> {
  const ask = appOf();
  const { key } = await tenantWithKey(ask, name);
  await ask("PUT", `/admin/tenants/${name}`, { body: { tier } });
  return key;
}

function checker(ask: Ask, key: string, bindings: Env) {
  return async (cost = 1) => {
    const headers = { Authorization: `Bearer ${key}` };
    const { body } = await ask("POST", "/v1/check", { headers, body: { cost }, env: bindings, leaveBehind: true });
    return (body as { allowed: boolean }).allowed;
  };
}

describe("a check", () => {
  test("that is decided exactly is one call, and a row now and then", async () => {
    const key = await tenantOf("premium", "cost-exact");
    const { env: bindings, calls } = counting();
    const check = checker(appOf({ LIMITER_MODE: "exact" }), key, bindings);
    const before = await limiterRows("cost-exact");
    for (let n = 0; n < 300; n++) {
      vi.setSystemTime(T0 + n * 2);
      expect(await check()).toBe(true);
    }
    expect(calls.limiter).toBe(300);
    expect((await limiterRows("cost-exact")) - before).toBeLessThan(0.05 * 300);
  });

  test("in steady traffic that is leased is at most 0.05 calls and 0.01 rows", async () => {
    const key = await tenantOf("premium", "cost-leased");
    const { env: bindings, calls } = counting();
    const check = checker(appOf({ LIMITER_MODE: "leased" }), key, bindings);
    const before = await limiterRows("cost-leased");
    for (let n = 0; n < 2_000; n++) {
      vi.setSystemTime(T0 + n * 2);
      expect(await check()).toBe(true);
    }
    expect(calls.limiter).toBeLessThanOrEqual(0.05 * 2_000);
    expect((await limiterRows("cost-leased")) - before).toBeLessThanOrEqual(0.01 * 2_000);
  });

  test("of a tier that asks for exact is one call", async () => {
    const ask = appOf();
    await ask("PUT", "/admin/tiers/strict", {
      body: { requestsPerSecond: 1_000, burstSize: 2_000, limiterMode: "exact" },
    });
    const key = await tenantOf("strict", "cost-strict");
    const { env: bindings, calls } = counting();
    const check = checker(appOf(), key, bindings);
    for (let n = 0; n < 50; n++) expect(await check()).toBe(true);
    expect(calls.limiter).toBe(50);
  });

  test.each(["leased", "exact"])("that is refused at the edge is no call and no row (%s)", async (mode) => {
    const name = `cost-refused-${mode}`;
    const key = await tenantOf("free", name);
    const { env: bindings, calls } = counting();
    const check = checker(appOf({ LIMITER_MODE: mode }), key, bindings);
    expect(await check(100)).toBe(true);
    expect(await check(5)).toBe(false);
    const [callsBefore, rowsBefore] = [calls.limiter, await limiterRows(name)];
    // Five tokens of 50 a second take a tenth of one.
    for (let n = 0; n < 99; n++) {
      vi.setSystemTime(T0 + n);
      expect(await check(5)).toBe(false);
    }
    expect(calls.limiter).toBe(callsBefore);
    expect(await limiterRows(name)).toBe(rowsBefore);
    vi.setSystemTime(T0 + 100);
    expect(await check(5)).toBe(true);
  });
});

describe("a command", () => {
  const command = (ask: Ask, key: string, bindings: Env, intent: string, payload: object) =>
    ask("POST", "/v1/commands", {
      headers: { Authorization: `Bearer ${key}`, Prefer: "wait=5" },
      body: { intent, payload },
      env: bindings,
      leaveBehind: true,
    });

  test("is one call of the engine and at most three rows of its tables, whatever it does", async () => {
    const key = await tenantOf("premium", "cost-command");
    const { env: bindings, calls } = counting();
    const ask = appOf();
    const run = (intent: string, payload: object) => command(ask, key, bindings, intent, payload);
    await run("DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t" }] });
    const [rows, engineCalls] = [await rowsOf("COMMAND_ENGINE", "engine:0"), calls.engine];
    const billed = await countBilled();
    const N = 50;
    for (let n = 0; n < N; n++) {
      expect(await run("PROCESS_INSTANCE:CREATE", { processId: "p" })).toMatchObject({ status: 200 });
      const activated = await run("JOB:ACTIVATE", { type: "t" });
      const [job] = (activated.body as { result: { jobs: { jobKey: string }[] } }).result.jobs;
      expect(await run("JOB:COMPLETE", { jobKey: job?.jobKey })).toMatchObject({ status: 200 });
    }
    expect((calls.engine - engineCalls) / (3 * N)).toBe(1);
    expect(((await rowsOf("COMMAND_ENGINE", "engine:0")) - rows) / (3 * N)).toBeLessThanOrEqual(3);
    // Created 4, activated 3, completed 4: two of them are entries of the jobs' index, and one of the ended instances'.
    expect((await billed()) / N).toBeCloseTo(4 + 3 + 4, 0);
  });

  test("that is refused because the engine is full is no call of anything", async () => {
    const key = await tenantOf("premium", "cost-full");
    const { env: bindings, calls } = counting();
    const ask = appOf();
    await ask("PATCH", "/admin/flow-control", { body: { bound: 1, enqueueWaitMs: 0 } });
    await ask("POST", "/admin/engine/pause", { body: {} });
    const create = () => command(ask, key, bindings, "PROCESS_INSTANCE:CREATE", { processId: "p" });
    const send = () =>
      ask("POST", "/v1/commands", {
        headers: { Authorization: `Bearer ${key}` },
        body: { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } },
        env: bindings,
        leaveBehind: true,
      });
    expect(await send()).toMatchObject({ status: 202 });
    expect(await create()).toMatchObject({ status: 503 });
    await send();
    const before = { ...calls };
    for (let n = 0; n < 100; n++) expect(await send()).toMatchObject({ status: 503, body: { code: "queue_full" } });
    expect(calls).toEqual(before);
  });
});
