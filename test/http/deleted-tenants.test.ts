import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { forget } from "../../src/identity/directory.ts";
import { forgetIssuerKeys } from "../../src/identity/jwks.ts";
import { NOW_MS, newSigner, type Signer, signToken, VARS } from "../identity/issuer.ts";
import { appOf, bearer, envWithout, tenantWithKey } from "./admin-support.ts";

const ask = appOf(VARS);
const strict = appOf({ ...VARS, JWT_UNKNOWN_TENANT: "refuse" });
let signer: Signer;
beforeAll(async () => {
  signer = await newSigner("first");
});

beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ keys: [signer.jwk] }));
  forget("everything");
  forgetIssuerKeys();
});

const holderOf = async (tenant: string) => bearer(await signToken(signer, { tenant }));
const limitsOf = (headers: Record<string, string>, app = ask) => app("GET", "/v1/limits", { headers });

describe("a tenant that was deleted", () => {
  test("stays shut to holders of its tokens, and is let in again by a PUT", async () => {
    const headers = await holderOf("gone");
    await ask("PUT", "/admin/tenants/gone", { body: { tier: "free", status: "suspended" } });
    expect(await limitsOf(headers)).toMatchObject({ status: 403, body: { detail: "The tenant is suspended." } });
    expect((await ask("DELETE", "/admin/tenants/gone")).status).toBe(204);
    const refused = { status: 403, body: { code: "forbidden", detail: "The tenant was deleted." } };
    expect(await limitsOf(headers)).toMatchObject(refused);
    forget("everything");
    expect(await limitsOf(headers)).toMatchObject(refused);
    expect(await limitsOf(headers, strict)).toMatchObject(refused);
    expect((await ask("PUT", "/admin/tenants/gone", { body: { tier: "free" } })).status).toBe(201);
    expect(await limitsOf(headers)).toMatchObject({ status: 200, body: { tenant: "gone", tier: "free" } });
  });

  test("is not listed, not found, and not deleted twice; a PUT that is refused leaves it deleted", async () => {
    await ask("PUT", "/admin/tenants/unlisted-again", { body: { tier: "free" } });
    await ask("DELETE", "/admin/tenants/unlisted-again");
    expect(JSON.stringify((await ask("GET", "/admin/tenants?limit=500")).body)).not.toContain("unlisted-again");
    expect((await ask("GET", "/admin/tenants/unlisted-again")).status).toBe(404);
    expect((await ask("DELETE", "/admin/tenants/unlisted-again")).status).toBe(404);
    expect((await ask("PUT", "/admin/tenants/unlisted-again", { body: { tier: "none" } })).status).toBe(400);
    expect((await limitsOf(await holderOf("unlisted-again"))).status).toBe(403);
  });

  test("takes its keys with it, however they are shown, and they stay gone when it is made anew", async () => {
    const { key } = await tenantWithKey(ask, "keyed");
    const shown = [bearer(key), { "X-API-Key": key }, { Authorization: `Basic ${btoa(`keyed:${key}`)}` }];
    for (const headers of shown) expect((await limitsOf(headers)).status).toBe(200);
    await ask("DELETE", "/admin/tenants/keyed");
    for (const headers of shown) expect((await limitsOf(headers)).status).toBe(401);
    await ask("PUT", "/admin/tenants/keyed", { body: { tier: "free" } });
    for (const headers of shown) expect((await limitsOf(headers)).status).toBe(401);
  });

  test("begins anew when an operator makes it again: what its limiter kept went with it", async () => {
    const headers = await holderOf("indebted");
    // One token in a quarter of an hour: none comes back while this runs.
    await ask("PUT", "/admin/tiers/slow", { body: { requestsPerSecond: 0.001, burstSize: 5 } });
    await ask("PUT", "/admin/tenants/indebted", { body: { tier: "slow" } });
    await ask("POST", "/v1/check", { headers, body: { cost: 5 } });
    await ask("DELETE", "/admin/tenants/indebted");
    await ask("PUT", "/admin/tenants/indebted", { body: { tier: "slow" } });
    expect(await ask("POST", "/v1/check", { headers, body: { cost: 1 } })).toMatchObject({
      body: { allowed: true, remaining: 4 },
    });
  });
});

describe("a tenant that was never made", () => {
  test("goes by the default tier, unless JWT_UNKNOWN_TENANT refuses it", async () => {
    const headers = await holderOf("never-made");
    expect(await limitsOf(headers)).toMatchObject({ status: 200, body: { tier: "standard" } });
    const refused = { status: 403, body: { code: "forbidden", detail: "There is no such tenant here." } };
    expect(await limitsOf(headers, strict)).toMatchObject(refused);
    await ask("PUT", "/admin/tenants/never-made", { body: { tier: "free" } });
    expect(await limitsOf(headers, strict)).toMatchObject({ status: 200, body: { tier: "free" } });
  });

  test("cannot be told from one that was while D1 is away: then `refuse` lets nobody in", async () => {
    const headers = await holderOf("cannot-tell");
    const env = envWithout("DB");
    expect((await strict("GET", "/v1/limits", { headers, env })).status).toBe(503);
    expect((await ask("GET", "/v1/limits", { headers, env })).status).toBe(200);
  });
});
