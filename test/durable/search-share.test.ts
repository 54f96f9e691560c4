import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { Found } from "../../src/durable/engine-reads.ts";
import { accepted, again, CREATE, calls, DEPLOY, deployed, type Engine } from "./support.ts";

// Searches over many rows: they go in pieces, and at their tenant's expense.

const ALL = { filter: {}, sort: [], page: { limit: 1 } };

/** An engine in which a tenant has so many instances, made without commands. */
async function engineWith(instances: number, tenant = "tenant:t"): Promise<Engine> {
  const engine = await deployed();
  await runInDurableObject(engine, (_object, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ?)
       INSERT INTO process_instances (seq, tenant, definition, state, created_at, tokens, variables)
       SELECT n, ?, (SELECT seq FROM process_definitions), 'active', n, '[]', '{}' FROM up`,
      instances,
      tenant,
    );
  });
  await evictDurableObject(engine);
  return again(engine);
}

const search = (engine: Engine, tenant: string, query: object = {}): Promise<Found> =>
  calls(engine).search(tenant, "process-instances", { ...ALL, ...query });

describe("a search over 15 000 instances", () => {
  test("counts as many as anybody looks at, and says that there are more", async () => {
    const engine = await engineWith(15_000);
    const all = await search(engine, "tenant:t");
    expect(all).toMatchObject({ total: 10_000, hasMore: true });
    const { processInstanceKey } = ("items" in all ? all.items[0] : undefined) ?? {};
    const one = await search(engine, "tenant:t", { filter: { processInstanceKey } });
    expect(one).toMatchObject({ total: 1, hasMore: false, items: [{ processInstanceKey }] });
  });

  test("sorted downwards by time gives the newest, though not all are counted", async () => {
    const engine = await engineWith(15_000);
    const found = await search(engine, "tenant:t", { sort: [{ field: "startDate", order: "DESC" }] });
    expect(found).toMatchObject({ items: [{ startDate: new Date(15_000).toISOString() }] });
  });

  test("lets commands of others have their turn in between", async () => {
    const engine = await engineWith(15_000);
    await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY, "tenant:other");
    const order: string[] = [];
    const searching = search(engine, "tenant:t").then(() => order.push("search"));
    for (let n = 0; n < 3; n++) {
      await accepted(engine, "PROCESS_INSTANCE:CREATE", CREATE, "tenant:other");
      order.push("command");
    }
    await searching;
    expect(order).toEqual(["command", "command", "command", "search"]);
  });

  test("is at its tenant's expense: a flood of them is told to come back, another tenant's search is not", async () => {
    const engine = await engineWith(15_000);
    const flood = await Promise.all(Array.from({ length: 100 }, () => search(engine, "tenant:t")));
    const refused = flood.filter((found) => "retryAfterSeconds" in found);
    expect(refused.length).toBeGreaterThanOrEqual(90);
    for (const found of refused) expect(found).toEqual({ retryAfterSeconds: expect.any(Number) });
    expect(flood.filter((found) => "items" in found).length).toBeGreaterThan(0);
    expect(await search(engine, "tenant:other")).toMatchObject({ total: 0, items: [] });
  });
});
