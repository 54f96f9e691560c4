import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";
import { listAudit, recordAudit } from "../../src/store/audit.ts";
import { findKeyHolder, findMembership, findTierMembership } from "../../src/store/credentials.ts";
import { type Act, BadRow, StoreUnavailable } from "../../src/store/database.ts";
import { createKey, deleteKey, listKeys } from "../../src/store/keys.ts";
import { deleteTenantLimits, noteReset, putTenantLimits } from "../../src/store/tenant-limits.ts";
import { deleteTenant, findTenant, listTenants, putTenant } from "../../src/store/tenants.ts";
import { deleteTier, findTier, listTiers, putTier } from "../../src/store/tiers.ts";

const { DB } = env;
const NOW_MS = Date.UTC(2026, 9, 1);
const act: Act = { actor: "admin", nowMs: NOW_MS };
const bucket = (tokens: number, burst: number): Policy[] => [tokenBucketPolicy({ tokens, perSeconds: 1 }, burst)];

async function clock(): Promise<number> {
  return (await DB.prepare("SELECT version FROM limits_clock").first<number>("version")) ?? 0;
}

/** Every row of every table, as one text: equal texts are equal databases. */
async function everything(): Promise<string> {
  const tables = ["limits_clock", "tiers", "tenants", "tenant_limits", "api_keys", "audit"];
  const results = await DB.batch(tables.map((table) => DB.prepare(`SELECT * FROM ${table} ORDER BY 1`)));
  return JSON.stringify(results.map(({ results: rows }) => rows));
}

async function makeTenant(id: string, tier = "free"): Promise<void> {
  expect(await putTenant(DB, id, { tier, status: null }, act)).toMatchObject({ kind: "saved" });
}

async function makeKey(tenant: string, keyId: string, hash: string, expiresAtMs: number | null = null) {
  return createKey(DB, tenant, { keyId, hash, name: null, createdAtMs: NOW_MS, expiresAtMs }, act);
}

describe("tiers", () => {
  test("the four tiers of the first migration are there, in order of name", async () => {
    expect((await listTiers(DB)).map(({ name }) => name)).toEqual(["anonymous", "free", "premium", "standard"]);
    expect((await findTier(DB, "standard"))?.policies).toEqual(bucket(100, 200));
    expect(await findTier(DB, "none")).toBeNull();
  });

  test("a put makes a tier, the next one replaces it, and each takes a new version of the one clock", async () => {
    const first = await putTier(DB, "gold", { policies: bucket(5, 10), weight: null, limiterMode: null }, act, 500);
    expect(first).toMatchObject({ created: true, tier: { policies: bucket(5, 10), updatedAtMs: NOW_MS } });
    expect(first.tier.version).toBe(await clock());
    const second = await putTier(DB, "gold", { policies: bucket(6, 10), weight: null, limiterMode: null }, act, 500);
    expect(second.created).toBe(false);
    expect(second.tier.version).toBe(first.tier.version + 1);
    expect(await findTier(DB, "gold")).toEqual(second.tier);
  });

  test("the first tiers have the weights of the second migration", async () => {
    const weights = Object.fromEntries((await listTiers(DB)).map(({ name, weight }) => [name, weight]));
    expect(weights).toMatchObject({ anonymous: 1, free: 1, standard: 2, premium: 10 });
  });

  test("a new tier has weight 1; a put that gives none keeps what there is, and one that does is in the audit", async () => {
    const policies = bucket(5, 10);
    const weightAfter = async (weight: number | null) =>
      (await putTier(DB, "heavy", { policies, weight, limiterMode: null }, act, 500)).tier.weight;
    expect([await weightAfter(null), await weightAfter(7), await weightAfter(null)]).toEqual([1, 7, 7]);
    expect((await findTier(DB, "heavy"))?.weight).toBe(7);
    const details = (await listAudit(DB, 3, null)).entries.map(({ detail }) => detail);
    expect(details).toMatchObject([{}, { weight: 7 }, {}]);
    await deleteTier(DB, "heavy", act);
  });

  test("a put names the tenants that follow the tier, not those with limits of their own", async () => {
    await putTier(DB, "crew", { policies: bucket(5, 10), weight: null, limiterMode: null }, act, 500);
    for (const id of ["crew-a", "crew-b", "crew-c", "crew-d"]) await makeTenant(id, "crew");
    await putTenantLimits(DB, "crew-b", { requestsPerSecond: 1, burstSize: 1 }, act);
    const saved = await putTier(DB, "crew", { policies: bucket(7, 10), weight: null, limiterMode: null }, act, 2);
    expect(saved).toMatchObject({ followers: ["crew-a", "crew-c"], followersTotal: 3 });
  });

  test("a tier goes only when no tenant is in it, and a refused delete changes no row", async () => {
    await putTier(DB, "busy", { policies: bucket(5, 10), weight: null, limiterMode: null }, act, 500);
    await makeTenant("in-busy", "busy");
    const before = await everything();
    expect(await deleteTier(DB, "busy", act)).toBe("in_use");
    expect(await deleteTier(DB, "never-was", act)).toBe("unknown");
    expect(await everything()).toBe(before);
    await makeTenant("in-busy", "free");
    expect(await deleteTier(DB, "busy", act)).toBe("deleted");
    expect(await findTier(DB, "busy")).toBeNull();
  });
});

describe("tenants", () => {
  test("a new tenant is active; a later put keeps its status unless it gives one", async () => {
    await makeTenant("t1");
    expect(await findTenant(DB, "t1")).toMatchObject({ tier: "free", status: "active", ownLimits: null });
    await putTenant(DB, "t1", { tier: "free", status: "suspended" }, act);
    const moved = await putTenant(DB, "t1", { tier: "premium", status: null }, { ...act, nowMs: NOW_MS + 5 });
    expect(moved).toMatchObject({
      created: false,
      tenant: { tier: "premium", status: "suspended", createdAtMs: NOW_MS, updatedAtMs: NOW_MS + 5 },
    });
  });

  test("an unknown tier changes no row", async () => {
    await makeTenant("t2");
    const before = await everything();
    expect(await putTenant(DB, "t2", { tier: "nope", status: null }, act)).toEqual({ kind: "unknown_tier" });
    expect(await putTenant(DB, "t2-new", { tier: "nope", status: null }, act)).toEqual({ kind: "unknown_tier" });
    expect(await everything()).toBe(before);
  });

  test("moving to a tier that changed long ago is still a newer version", async () => {
    await putTenant(DB, "t3", { tier: "premium", status: null }, act);
    const before = (await findTenant(DB, "t3"))?.limits.version ?? 0;
    await putTenant(DB, "t3", { tier: "free", status: null }, act);
    const after = await findTenant(DB, "t3");
    expect(after?.limits.policies).toEqual(bucket(50, 100));
    expect(after?.limits.version).toBeGreaterThan(before);
  });

  test("own limits take the tier's place, and taking them away brings the tier's back under a newer version", async () => {
    await makeTenant("t4");
    const own = await putTenantLimits(DB, "t4", { requestsPerSecond: 0.1, burstSize: 3 }, act);
    expect(own?.ownLimits).toEqual({ requestsPerSecond: 0.1, burstSize: 3, updatedAtMs: NOW_MS });
    expect(own?.limits.policies).toEqual([tokenBucketPolicy({ tokens: 1, perSeconds: 10 }, 3)]);
    const back = await deleteTenantLimits(DB, "t4", act);
    expect(back?.ownLimits).toBeNull();
    expect(back?.limits.policies).toEqual(bucket(50, 100));
    expect(back?.limits.version).toBeGreaterThan(own?.limits.version ?? 0);
  });

  test("limits of nobody, and taking away what is not there, change no row", async () => {
    await makeTenant("t5");
    const before = await everything();
    expect(await putTenantLimits(DB, "nobody", { requestsPerSecond: 1, burstSize: 1 }, act)).toBeNull();
    expect(await deleteTenantLimits(DB, "nobody", act)).toBeNull();
    expect(await deleteTenantLimits(DB, "t5", act)).toMatchObject({ id: "t5" });
    expect(await deleteTenant(DB, "nobody", act)).toBeNull();
    expect(await noteReset(DB, "nobody", act)).toBe(false);
    expect(await makeKey("nobody", "key_nobody", "00")).toBe("unknown_tenant");
    expect(await deleteKey(DB, "t5", "key_nobody", act)).toBe(false);
    expect(await everything()).toBe(before);
  });

  test("a tenant takes its keys and limits with it; its id then goes by the default tier, newer than before", async () => {
    await makeTenant("t6");
    await putTenantLimits(DB, "t6", { requestsPerSecond: 1, burstSize: 1 }, act);
    await makeKey("t6", "key_t6", "t6-hash");
    const before = (await findTenant(DB, "t6"))?.limits.version ?? 0;
    const limits = await deleteTenant(DB, "t6", act);
    expect(limits?.policies).toEqual(bucket(100, 200));
    expect(limits?.version).toBeGreaterThan(before);
    expect(await findTenant(DB, "t6")).toBeNull();
    expect(await findKeyHolder(DB, { hash: "t6-hash" })).toBeNull();
    expect(await DB.prepare("SELECT 1 FROM tenant_limits WHERE tenant_id = 't6'").first()).toBeNull();
    expect((await findMembership(DB, "t6")).limits.version).toBeGreaterThanOrEqual(limits?.version ?? 0);
  });

  test.for<[string, string]>([
    ["quotes, backslash and line feed", '14" a\\b\n'],
    ["a slash", "a/b"],
    ["an emoji", "😀"],
    ["SQL", "'; DROP TABLE tenants; --"],
    ["NUL", "a\u0000b"],
    ["128 characters of four bytes", "𝄞".repeat(128)],
  ])("an id with %s is kept as it is", async ([, id]) => {
    await makeTenant(id);
    expect((await findTenant(DB, id))?.id).toBe(id);
    expect((await findMembership(DB, id)).tier).toBe("free");
  });

  test("pages meet every tenant once, by id", async () => {
    for (const id of ["page-1", "page-2", "page-3", "page-4", "page-5"]) await makeTenant(id);
    const first = await listTenants(DB, 2, "page-");
    expect(first.tenants.map(({ id }) => id)).toEqual(["page-1", "page-2"]);
    expect(first.next).toBe("page-2");
    const rest = await listTenants(DB, 500, first.next ?? "");
    expect(rest.tenants.map(({ id }) => id).filter((id) => id.startsWith("page-"))).toEqual([
      "page-3",
      "page-4",
      "page-5",
    ]);
    expect(rest.next).toBeNull();
  });
});

describe("keys and the query of identity", () => {
  test("a key leads to its tenant, tier and limits in one answer", async () => {
    await makeTenant("k1");
    expect(await makeKey("k1", "key_1", "hash-1", NOW_MS + 1)).toBe("created");
    const holder = await findKeyHolder(DB, { hash: "hash-1" });
    const limits = (await findTenant(DB, "k1"))?.limits;
    const expected = {
      keyId: "key_1",
      tenant: "k1",
      tier: "free",
      standing: "active",
      expiresAtMs: NOW_MS + 1,
      limits,
    };
    expect(holder).toEqual({ ...expected, weight: 1, limiterMode: "leased" });
    expect(await findKeyHolder(DB, { hash: "hash-none" })).toBeNull();
  });

  test("a key goes by its own tenant only, and is listed without its hash", async () => {
    await makeTenant("k2");
    await makeTenant("k3");
    await makeKey("k2", "key_2", "hash-2");
    expect(await deleteKey(DB, "k3", "key_2", act)).toBe(false);
    expect(await listKeys(DB, "k2")).toEqual([{ keyId: "key_2", name: null, createdAtMs: NOW_MS, expiresAtMs: null }]);
    expect(await deleteKey(DB, "k2", "key_2", act)).toBe(true);
    expect(await listKeys(DB, "k2")).toEqual([]);
    expect(await listKeys(DB, "nobody")).toBeNull();
  });

  test("a tenant that nobody listed is in the default tier, under the version of the latest change of all", async () => {
    const before = await findMembership(DB, "unlisted");
    expect(before).toMatchObject({ tier: "standard", standing: "unlisted", limits: { policies: bucket(100, 200) } });
    expect(before.limits.version).toBe(await clock());
    expect(await findTierMembership(DB, "anonymous")).toMatchObject({ tier: "anonymous", standing: "active" });
  });
});

describe("the audit", () => {
  test("each change has its entry, newest first, a page at a time", async () => {
    await makeTenant("a1");
    await putTenantLimits(DB, "a1", { requestsPerSecond: 2, burstSize: 4 }, act);
    await recordAudit(DB, act, { action: "engine.pause", target: "engine", detail: { accept: false } });
    const first = await listAudit(DB, 2, null);
    expect(first.entries).toEqual([
      expect.objectContaining({ action: "engine.pause", atMs: NOW_MS, actor: "admin", detail: { accept: false } }),
      expect.objectContaining({
        action: "limits.put",
        target: "tenant:a1",
        detail: { requestsPerSecond: 2, burstSize: 4 },
      }),
    ]);
    const second = await listAudit(DB, 1, first.next);
    expect(second.entries).toEqual([expect.objectContaining({ action: "tenant.put", detail: { tier: "free" } })]);
  });

  test("no entry holds a key's secret or hash", async () => {
    await makeTenant("a2");
    await makeKey("a2", "key_a2", "hash-of-a2");
    expect(JSON.stringify((await listAudit(DB, 5, null)).entries)).not.toContain("hash-of-a2");
  });
});

describe("policies in a tier's row", () => {
  test("are read in every shape that was ever written, those without a scope as the tenant's", async () => {
    const stored = [
      { name: "a", type: "token-bucket", rate: { tokens: 1, perSeconds: 1 }, burst: 5 },
      { name: "b", type: "fixed-window", scope: "key", limit: 30, windowSeconds: 60 },
      { name: "c", type: "sliding-window", limit: 5, windowSeconds: 1 },
    ];
    await DB.prepare("INSERT INTO tiers (name, policies, version, updated_at) VALUES ('shapes', ?, 1, 0)")
      .bind(JSON.stringify(stored))
      .run();
    const policies = stored.map((policy) => ({ scope: "tenant", ...policy }));
    expect((await findTier(DB, "shapes"))?.policies).toEqual(policies);
  });
});

describe("what fails", () => {
  test.for<[string, string]>([
    ["not JSON", "nonsense"],
    ["no policy", "[]"],
    ["another type", '[{"name":"a","type":"leaky","scope":"tenant","rate":{"tokens":1,"perSeconds":1},"burst":1}]'],
    ["another scope", '[{"name":"a","type":"fixed-window","scope":"planet","limit":1,"windowSeconds":1}]'],
    [
      "a window that cannot be counted",
      '[{"name":"a","type":"fixed-window","scope":"ip","limit":1000000000,"windowSeconds":31536000}]',
    ],
    [
      "a policy that cannot be counted",
      '[{"name":"a","type":"token-bucket","scope":"tenant","rate":{"tokens":1,"perSeconds":999999937},"burst":1000000000}]',
    ],
  ])("a tier row with %s is named by its table", async ([, policies]) => {
    await DB.prepare("INSERT OR REPLACE INTO tiers (name, policies, version, updated_at) VALUES ('bad', ?, 1, 0)")
      .bind(policies)
      .run();
    await expect(findTier(DB, "bad")).rejects.toThrow(BadRow);
    await expect(findTier(DB, "bad")).rejects.toThrow("tiers");
  });

  test("a batch that fails in its last statement keeps nothing of the first", async () => {
    await makeTenant("f1");
    await makeKey("f1", "key_f1", "hash-f1");
    const before = await everything();
    // The same hash again: the audit entry comes before the row that breaks the rule.
    await expect(makeKey("f1", "key_f1b", "hash-f1")).rejects.toThrow(StoreUnavailable);
    expect(await everything()).toBe(before);
  });
});
