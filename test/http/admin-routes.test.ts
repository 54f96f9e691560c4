import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { forget } from "../../src/identity/directory.ts";
import { type Answer, appOf, bearer, envWithout, tenantWithKey } from "./admin-support.ts";

const ask = appOf();
const START_MS = Date.UTC(2026, 9, 1, 12);

beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
  vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
  forget("everything");
});

const tenantUrl = (id: string) => `/admin/tenants/${encodeURIComponent(id)}`;
const limitOf = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Limit"));
const remainingOf = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));
const check = (key: string, cost = 1) => ask("POST", "/v1/check", { headers: bearer(key), body: { cost } });

describe("tiers", () => {
  test("a tier is made, shown, replaced and taken away", async () => {
    const made = await ask("PUT", "/admin/tiers/gold", { body: { requestsPerSecond: 5, burstSize: 7 } });
    expect(made).toMatchObject({
      status: 201,
      body: { name: "gold", requestsPerSecond: 5, burstSize: 7, tenantsUpdated: 0, tenantsPending: 0 },
    });
    const policies = [
      { name: "requests", type: "token-bucket", scope: "tenant", rate: { tokens: 5, perSeconds: 1 }, burst: 7 },
    ];
    expect(await ask("GET", "/admin/tiers/gold")).toMatchObject({
      status: 200,
      body: { policies, updatedAt: "2026-10-01T12:00:00.000Z" },
    });
    expect((await ask("PUT", "/admin/tiers/gold", { body: { policies } })).status).toBe(200);
    expect(await ask("GET", "/admin/tiers")).toMatchObject({
      body: { tiers: ["anonymous", "free", "gold", "premium", "standard"].map((name) => ({ name })) },
    });
    expect((await ask("DELETE", "/admin/tiers/gold")).status).toBe(204);
    expect((await ask("GET", "/admin/tiers/gold")).status).toBe(404);
    expect((await ask("DELETE", "/admin/tiers/gold")).status).toBe(404);
  });

  test("a tier's weight is shown, kept when a change does not name it, and nothing that a tenant can set", async () => {
    const limits = { requestsPerSecond: 5, burstSize: 7 };
    const weightOf = async (body: object) => (await ask("PUT", "/admin/tiers/silver", { body })).body;
    expect(await weightOf(limits)).toMatchObject({ weight: 1 });
    expect(await weightOf({ ...limits, weight: 7 })).toMatchObject({ weight: 7 });
    expect(await weightOf(limits)).toMatchObject({ weight: 7 });
    expect(await ask("GET", "/admin/tiers/silver")).toMatchObject({ body: { weight: 7 } });
    for (const path of [tenantUrl("silver-1"), `${tenantUrl("silver-1")}/limits`]) {
      const body = path.endsWith("limits") ? { ...limits, weight: 9 } : { tier: "silver", weight: 9 };
      expect(await ask("PUT", path, { body })).toMatchObject({ status: 400, body: { errors: [{ path: "weight" }] } });
    }
  });

  test("a tier that is in use or needed stays", async () => {
    await ask("PUT", tenantUrl("in-free"), { body: { tier: "free" } });
    for (const name of ["free", "standard", "anonymous"]) {
      expect(await ask("DELETE", `/admin/tiers/${name}`)).toMatchObject({ status: 409, body: { code: "conflict" } });
    }
  });

  test("new limits hold for every tenant of the tier when the change is answered", async () => {
    await ask("PUT", "/admin/tiers/crew", { body: { requestsPerSecond: 1, burstSize: 10 } });
    const keys = await Promise.all(["crew-1", "crew-2"].map((id) => tenantWithKey(ask, id, "crew")));
    const own = await tenantWithKey(ask, "crew-own", "crew");
    await ask("PUT", `${tenantUrl("crew-own")}/limits`, { body: { requestsPerSecond: 1, burstSize: 3 } });
    for (const { key } of keys) expect(remainingOf(await check(key))).toBe(9);
    const changed = await ask("PUT", "/admin/tiers/crew", { body: { requestsPerSecond: 1, burstSize: 20 } });
    expect(changed).toMatchObject({ status: 200, body: { tenantsUpdated: 2, tenantsPending: 0 } });
    for (const { key } of keys) expect(remainingOf(await check(key))).toBe(18);
    expect(limitOf(await check(own.key))).toBe(3);
  });

  test.for<[string, string, string, string]>([
    ["a name with a space", "/admin/tiers/a%20b", '{"requestsPerSecond":1,"burstSize":1}', "name"],
    ["a name in capitals", "/admin/tiers/Gold", '{"requestsPerSecond":1,"burstSize":1}', "name"],
    ["a fraction of a burst", "/admin/tiers/x", '{"requestsPerSecond":1,"burstSize":0.5}', "burstSize"],
    ["a weight of nothing", "/admin/tiers/x", '{"requestsPerSecond":1,"burstSize":1,"weight":0}', "weight"],
    ["an infinite rate", "/admin/tiers/x", '{"requestsPerSecond":1e400,"burstSize":1}', "requestsPerSecond"],
    ["a stray field", "/admin/tiers/x", '{"requestsPerSecond":1,"burstSize":1,"y":1}', "y"],
  ])("%s is refused by its name", async ([, path, raw, field]) => {
    expect(await ask("PUT", path, { raw })).toMatchObject({
      status: 400,
      body: { code: "invalid_request", errors: [{ path: field }] },
    });
  });
});

describe("tenants", () => {
  test.for<[string, string]>([
    ["quotes, backslash and line feed", '14" a\\b\n'],
    ["a slash", "a/b"],
    ["an emoji", "😀"],
    ["a percent sign", "50%25"],
    ["a question mark and a hash", "a?b#c"],
  ])("an id with %s is one id on every route", async ([, id]) => {
    const { key, keyId } = await tenantWithKey(ask, id);
    expect(await ask("GET", tenantUrl(id))).toMatchObject({ status: 200, body: { id, tier: "free", limits: null } });
    expect(limitOf(await check(key))).toBe(100);
    expect((await ask("PUT", `${tenantUrl(id)}/limits`, { body: { requestsPerSecond: 1, burstSize: 2 } })).status).toBe(
      200,
    );
    expect(limitOf(await check(key))).toBe(2);
    expect(await ask("GET", `${tenantUrl(id)}/usage`)).toMatchObject({ body: { tenant: id, admitted: 2, refused: 0 } });
    expect(await ask("GET", `${tenantUrl(id)}/keys`)).toMatchObject({ body: { keys: [{ keyId }] } });
    expect((await ask("DELETE", tenantUrl(id))).status).toBe(204);
    expect((await ask("GET", tenantUrl(id))).status).toBe(404);
    expect((await check(key)).status).toBe(401);
  });

  test.for<[string, string]>([
    ["blank", "%20"],
    ["too long", "a".repeat(129)],
  ])("an id that is %s is refused", async ([, id]) => {
    const answer = await ask("PUT", `/admin/tenants/${id}`, { body: { tier: "free" } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: "id" }] } });
  });

  test("an unknown tier is refused by its field", async () => {
    const answer = await ask("PUT", tenantUrl("x"), { body: { tier: "nope" } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: "tier" }] } });
  });

  test("whoever is nobody is not found", async () => {
    const calls: [string, string, unknown?][] = [
      ["GET", ""],
      ["DELETE", ""],
      ["PUT", "/limits", { requestsPerSecond: 1, burstSize: 1 }],
      ["DELETE", "/limits"],
      ["GET", "/keys"],
      ["POST", "/keys"],
      ["DELETE", "/keys/key_x"],
      ["POST", "/reset"],
      ["GET", "/usage"],
    ];
    for (const [method, path, body] of calls) {
      const answer = await ask(method, `${tenantUrl("nobody")}${path}`, body === undefined ? {} : { body });
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });

  test("another tier, own limits and their end hold when they are answered, and carry what was used", async () => {
    const { key } = await tenantWithKey(ask, "mover");
    expect(remainingOf(await check(key, 40))).toBe(60);
    await ask("PUT", tenantUrl("mover"), { body: { tier: "premium" } });
    expect(remainingOf(await check(key, 0))).toBe(1960);
    const put = await ask("PUT", `${tenantUrl("mover")}/limits`, { body: { requestsPerSecond: 0.1, burstSize: 50 } });
    const limits = { requestsPerSecond: 0.1, burstSize: 50, updatedAt: "2026-10-01T12:00:00.000Z" };
    expect(put).toMatchObject({ status: 200, body: { id: "mover", limits, policies: [{ burst: 50 }] } });
    expect(remainingOf(await check(key, 0))).toBe(10);
    expect((await ask("DELETE", `${tenantUrl("mover")}/limits`)).status).toBe(204);
    expect((await ask("DELETE", `${tenantUrl("mover")}/limits`)).status).toBe(204);
    expect(remainingOf(await check(key, 0))).toBe(1960);
  });

  test("a reset makes the bucket full again", async () => {
    const { key } = await tenantWithKey(ask, "debtor");
    await check(key, 100);
    expect((await check(key)).body).toMatchObject({ allowed: false });
    expect((await ask("POST", `${tenantUrl("debtor")}/reset`)).status).toBe(204);
    expect(remainingOf(await check(key))).toBe(99);
  });

  test("a suspended tenant is forbidden at once, and back when it is active again", async () => {
    const { key } = await tenantWithKey(ask, "sleeper");
    await check(key);
    await ask("PUT", tenantUrl("sleeper"), { body: { tier: "free", status: "suspended" } });
    expect(await check(key)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    await ask("PUT", tenantUrl("sleeper"), { body: { tier: "free", status: "active" } });
    expect((await check(key)).status).toBe(200);
  });

  test("pages meet every tenant once", async () => {
    for (const id of ["p1", "p2", "p3"]) await ask("PUT", tenantUrl(`page/${id}`), { body: { tier: "free" } });
    const first = await ask("GET", "/admin/tenants?limit=2&after=page%2F");
    expect(first.body).toMatchObject({ tenants: [{ id: "page/p1" }, { id: "page/p2" }], next: "page/p2" });
    const second = await ask("GET", "/admin/tenants?limit=1&after=page%2Fp2");
    expect(second.body).toMatchObject({ tenants: [{ id: "page/p3" }] });
    for (const limit of ["0", "501", "x", ""])
      expect((await ask("GET", `/admin/tenants?limit=${limit}`)).status).toBe(400);
  });
});

describe("keys", () => {
  test("a secret is shown once and never again", async () => {
    const { key, keyId } = await tenantWithKey(ask, "holder");
    const listed = await ask("GET", `${tenantUrl("holder")}/keys`);
    expect(listed.body).toEqual({
      keys: [{ keyId, name: null, createdAt: "2026-10-01T12:00:00.000Z", expiresAt: null }],
    });
    const audit = await ask("GET", "/admin/audit");
    for (const answer of [listed, audit]) expect(JSON.stringify(answer.body)).not.toContain(key);
    const stored = await env.DB.prepare("SELECT * FROM api_keys WHERE id = ?").bind(keyId).first();
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  test("a key has a name and an end, and a revoked one is refused at once", async () => {
    await ask("PUT", tenantUrl("named"), { body: { tier: "free" } });
    const body = { name: "ci", expiresAt: "2026-10-01T15:00:00+02:00" };
    const made = await ask("POST", `${tenantUrl("named")}/keys`, { body });
    expect(made).toMatchObject({ status: 201, body: { name: "ci", expiresAt: "2026-10-01T13:00:00.000Z" } });
    expect(made.headers.get("Cache-Control")).toBe("no-store");
    const { key, keyId } = await tenantWithKey(ask, "named");
    expect((await check(key)).status).toBe(200);
    expect((await ask("DELETE", `${tenantUrl("named")}/keys/${keyId}`)).status).toBe(204);
    expect((await check(key)).status).toBe(401);
    expect((await ask("DELETE", `${tenantUrl("named")}/keys/${keyId}`)).status).toBe(404);
  });

  test.for<[string, unknown, string]>([
    ["an end that has passed", { expiresAt: "2026-10-01T12:00:00Z" }, "expiresAt"],
    ["an end that is no time", { expiresAt: "tomorrow" }, "expiresAt"],
    ["an end without its offset", { expiresAt: "2027-01-01T00:00:00" }, "expiresAt"],
    ["an empty name", { name: "" }, "name"],
    ["a stray field", { secret: "mine" }, "secret"],
  ])("%s is refused by its field", async ([, body, path]) => {
    await ask("PUT", tenantUrl("strict"), { body: { tier: "free" } });
    const answer = await ask("POST", `${tenantUrl("strict")}/keys`, { body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });
});

describe("the audit", () => {
  test("tells every change with its actor, newest first, a page at a time", async () => {
    await tenantWithKey(ask, "watched");
    await ask("POST", `${tenantUrl("watched")}/reset`);
    const first = await ask("GET", "/admin/audit?limit=2");
    const at = "2026-10-01T12:00:00.000Z";
    expect(first.body).toMatchObject({
      entries: [
        { at, actor: "admin", action: "tenant.reset", target: "tenant:watched", detail: {} },
        { action: "key.create", target: "tenant:watched" },
      ],
      next: expect.any(Number),
    });
    const { next } = Object(first.body);
    const second = await ask("GET", `/admin/audit?limit=1&before=${next}`);
    expect(second.body).toMatchObject({ entries: [{ action: "tenant.put", detail: { tier: "free" } }] });
  });
});

describe("when a part is missing", () => {
  const writes: [string, string, unknown?][] = [
    ["PUT", "/admin/tiers/free", { requestsPerSecond: 1, burstSize: 1 }],
    ["DELETE", "/admin/tiers/free"],
    ["PUT", "/admin/tenants/steady", { tier: "premium" }],
    ["DELETE", "/admin/tenants/steady"],
    ["PUT", "/admin/tenants/steady/limits", { requestsPerSecond: 1, burstSize: 1 }],
    ["DELETE", "/admin/tenants/steady/limits"],
    ["POST", "/admin/tenants/steady/keys"],
    ["POST", "/admin/tenants/steady/reset"],
  ];

  test.for(writes)("without D1, %s %s is unavailable, and nothing is half done", async ([method, path, body]) => {
    const { key } = await tenantWithKey(ask, "steady");
    const before = await check(key, 10);
    const answer = await ask(method, path, { ...(body === undefined ? {} : { body }), env: envWithout("DB") });
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable", retryAfterSeconds: 5 } });
    expect(answer.headers.get("Retry-After")).toBe("5");
    const after = await check(key, 0);
    expect(remainingOf(after)).toBe(remainingOf(before));
    expect(limitOf(after)).toBe(100);
    await ask("DELETE", tenantUrl("steady"));
    await ask("PUT", "/admin/tenants/steady", { body: { tier: "free" } });
    await ask("POST", "/admin/tenants/steady/reset");
  });

  test("a push that fails is told: it is saved, and repeating it is safe", async () => {
    const { key } = await tenantWithKey(ask, "lonely");
    const url = `${tenantUrl("lonely")}/limits`;
    const body = { requestsPerSecond: 1, burstSize: 6 };
    const answer = await ask("PUT", url, { body, env: envWithout("TENANT_LIMITER") });
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(Object(answer.body).detail).toMatch(/saved.*within 10 s.*Repeating the request is safe/);
    expect(await ask("GET", tenantUrl("lonely"))).toMatchObject({ body: { limits: { burstSize: 6 } } });
    // The next request brings the newer version with it.
    expect(limitOf(await check(key))).toBe(6);
    expect((await ask("PUT", url, { body })).status).toBe(200);
  });

  test("a limiter that cannot be asked makes reset and usage unavailable", async () => {
    await tenantWithKey(ask, "silent");
    for (const [method, path] of [
      ["POST", "reset"],
      ["GET", "usage"],
    ] as const) {
      const answer = await ask(method, `${tenantUrl("silent")}/${path}`, { env: envWithout("TENANT_LIMITER") });
      expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    }
  });

  test("a row that is not as written is a bug, and tells nothing of itself", async () => {
    await env.DB.prepare(
      "INSERT INTO tiers (name, policies, version, updated_at) VALUES ('broken', 'secret nonsense', 1, 0)",
    ).run();
    const answer = await ask("GET", "/admin/tiers/broken");
    expect(answer).toMatchObject({ status: 500, body: { code: "internal" } });
    expect(JSON.stringify(answer.body)).not.toContain("nonsense");
    await env.DB.prepare("DELETE FROM tiers WHERE name = 'broken'").run();
  });
});

test("a policy whose type changes under its name starts anew, and the answer says so", async () => {
  const window = { name: "requests", type: "fixed-window", limit: 10, windowSeconds: 60 };
  const daily = { name: "daily", type: "sliding-window", limit: 100, windowSeconds: 86_400 };
  const put = async (...policies: unknown[]) => (await ask("PUT", "/admin/tiers/turning", { body: { policies } })).body;
  expect(await put(window, daily)).not.toHaveProperty("restarted");
  expect(await put({ ...window, limit: 20 }, daily)).not.toHaveProperty("restarted");
  expect(await put({ ...window, type: "sliding-window" }, daily)).toMatchObject({ restarted: ["requests"] });
  const simple = await ask("PUT", "/admin/tiers/turning", { body: { requestsPerSecond: 1, burstSize: 10 } });
  expect(simple.body).toMatchObject({ restarted: ["requests"] });
});
