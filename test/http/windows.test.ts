import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ADMIN, call, newTenant } from "../support/http.ts";

/** A minute's start. */
const T0 = Date.UTC(2027, 0, 1, 12);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: T0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tenant on a tier of its own with these policies; gives its credential. */
async function tenantOn(name: string, policies: unknown[]): Promise<Record<string, string>> {
  expect(await call("PUT", `/admin/tiers/${name}`, ADMIN, { policies })).toMatchObject({ status: 201 });
  const tenant = await newTenant(name);
  await call("DELETE", `/admin/tenants/${name}/limits`, ADMIN);
  expect(await call("PUT", `/admin/tenants/${name}`, ADMIN, { tier: name })).toMatchObject({ status: 200 });
  return tenant;
}

const MINUTE = { name: "minute", type: "fixed-window", limit: 30, windowSeconds: 60 };
const USER = { name: "user", type: "sliding-window", scope: "key", limit: 5, windowSeconds: 10 };
const ADDRESS = { name: "address", type: "token-bucket", scope: "ip", rate: 1, burst: 3 };

describe("a tier of windows and scopes", () => {
  test("is shown as it was given, with the scope that was meant", async () => {
    await tenantOn("shown", [MINUTE, USER, ADDRESS]);
    const policies = [{ ...MINUTE, scope: "tenant" }, USER, { ...ADDRESS, rate: { tokens: 1, perSeconds: 1 } }];
    const shown = await call("GET", "/admin/tiers/shown", ADMIN);
    expect(shown.body).toMatchObject({ name: "shown", policies });
    expect(shown.body).not.toHaveProperty("requestsPerSecond");
    expect((await call("GET", "/admin/tenants/shown", ADMIN)).body).toMatchObject({ policies });
    const { body } = await call<{ entries: { detail: unknown }[] }>("GET", "/admin/audit?limit=20", ADMIN);
    expect(body.entries.map(({ detail }) => detail)).toContainEqual({ policies });
  });

  test("a check tells of every policy that applies to it, in its body and its headers", async () => {
    const tenant = await tenantOn("told", [MINUTE, USER, ADDRESS]);
    vi.setSystemTime(T0 + 2_000);
    const { body, headers } = await call("POST", "/v1/check", tenant, { cost: 2, key: "ann" });
    expect(body).toEqual({
      allowed: true,
      remaining: 1,
      resetSeconds: 2,
      policies: [
        { name: "minute", type: "fixed-window", limit: 30, windowSeconds: 60, remaining: 28, resetSeconds: 58 },
        { name: "user", type: "sliding-window", limit: 5, windowSeconds: 10, remaining: 3, resetSeconds: 18 },
        { name: "address", type: "token-bucket", limit: 3, windowSeconds: 3, remaining: 1, resetSeconds: 2 },
      ],
    });
    expect(headers.get("RateLimit-Policy")).toBe('"minute";q=30;w=60, "user";q=5;w=10, "address";q=3;w=3');
    expect(headers.get("RateLimit")).toBe('"minute";r=28;t=58, "user";r=3;t=18, "address";r=1;t=2');
    const plain = await call("POST", "/v1/check", tenant, { cost: 0 });
    expect(plain.headers.get("RateLimit-Policy")).toBe('"minute";q=30;w=60, "address";q=3;w=3');
  });

  test("the 31st request of a minute, 2 s into it, is told to come back in 58 s", async () => {
    const tenant = await tenantOn("minutes", [MINUTE]);
    vi.setSystemTime(T0 + 2_000);
    await call("POST", "/v1/check", tenant, { cost: 30 });
    const refused = await call("POST", "/v1/commands", tenant, { intent: "JOB:ACTIVATE", payload: { type: "t" } });
    expect(refused).toMatchObject({ status: 429, body: { "violated-policies": ["minute"], retryAfterSeconds: 58 } });
    expect(refused.headers.get("Retry-After")).toBe("58");
    expect(refused.headers.get("X-RateLimit-Reset")).toBe(String(T0 / 1000 + 60));
  });

  test("keys, addresses and credentials are each counted apart", async () => {
    const perCredential = { ...MINUTE, name: "credential", scope: "credential", limit: 2 };
    const tenant = await tenantOn("apart", [{ ...USER, limit: 1 }, { ...ADDRESS, burst: 2 }, perCredential]);
    const made = await call<{ key: string }>("POST", "/admin/tenants/apart/keys", ADMIN, {});
    const second = { Authorization: `Bearer ${made.body.key}` };
    const ask = async (headers: Record<string, string>, address: string, key: string) => {
      const from = { ...headers, "CF-Connecting-IP": address };
      return (await call<{ allowed: boolean }>("POST", "/v1/check", from, { key })).body.allowed;
    };
    expect(await ask(tenant, "192.0.2.1", "a")).toBe(true);
    expect(await ask(tenant, "192.0.2.1", "a")).toBe(false);
    expect(await ask(tenant, "192.0.2.1", "b")).toBe(true);
    expect(await ask(tenant, "192.0.2.2", "c")).toBe(false);
    expect(await ask(second, "192.0.2.1", "c")).toBe(false);
    expect(await ask(second, "192.0.2.2", "c")).toBe(true);
  });

  test("a window that cannot be counted is refused by the name of its field", async () => {
    const policies = [{ ...MINUTE, limit: 1e9, windowSeconds: 31_536_000 }];
    const answer = await call<{ errors: { path: string }[] }>("PUT", "/admin/tiers/bad", ADMIN, { policies });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: "policies.0.limit" }] } });
  });

  test("the API document knows the types and the scopes", async () => {
    const document = JSON.stringify((await call("GET", "/openapi.json")).body);
    for (const word of ["fixed-window", "sliding-window", "windowSeconds", '"credential"']) {
      expect(document).toContain(word);
    }
  });
});
