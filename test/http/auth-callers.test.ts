import { beforeEach, describe, expect, test, vi } from "vitest";
import { forget } from "../../src/identity/directory.ts";
import { type Answer, appOf, bearer, envWithout, tenantWithKey } from "./admin-support.ts";

const ask = appOf();
const open = appOf({ ANONYMOUS: "allow" });
/** What the anonymous tier of the first migration gives one address at once. */
const ANONYMOUS_BURST = 20;

beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 9, 1, 12) });
  forget("everything");
});

let addresses = 0;
/** An address that no test had before. */
const newAddress = () => `198.51.100.${++addresses}`;
const from = (address: string, more: Record<string, string> = {}) => ({
  headers: { "CF-Connecting-IP": address, ...more },
});
const remainingOf = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

describe("/v1 without a good credential", () => {
  test.for<[string, Record<string, string>]>([
    ["no credential", {}],
    ["a wrong key", { Authorization: "Bearer hg_wrong" }],
    ["a wrong X-API-Key", { "X-API-Key": "hg_wrong" }],
    ["a malformed one", { Authorization: "Digest x" }],
    ["one that is too long", { "X-API-Key": "x".repeat(513) }],
  ])("%s is 401, charged to the address, until it has used up its tier: then 429", async ([, headers]) => {
    const address = newAddress();
    for (let left = ANONYMOUS_BURST - 1; left >= 0; left--) {
      const answer = await ask("GET", "/v1/limits", from(address, headers));
      expect(answer).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
      expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
      expect(answer.headers.get("RateLimit-Policy")).toBe('"requests";q=20;w=2');
      expect(remainingOf(answer)).toBe(left);
    }
    const refused = await ask("GET", "/v1/limits", from(address, headers));
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", "violated-policies": ["requests"] } });
    expect(refused.headers.get("Retry-After")).toBe("1");
    expect(refused.headers.get("Cache-Control")).toBe("no-store");
    expect((await ask("GET", "/v1/limits", from(newAddress(), headers))).status).toBe(401);
  });

  test("a credential that was seen before works from an address that has used up its tries", async () => {
    const { key } = await tenantWithKey(ask, "patient");
    const address = newAddress();
    await ask("GET", "/v1/limits", { headers: bearer(key, newAddress()) });
    for (let tries = 0; tries <= ANONYMOUS_BURST; tries++) await ask("GET", "/v1/limits", from(address));
    expect((await ask("GET", "/v1/limits", from(address))).status).toBe(429);
    expect((await ask("GET", "/v1/limits", { headers: bearer(key, address) })).status).toBe(200);
  });

  test("OPTIONS is neither asked nor charged", async () => {
    const address = newAddress();
    for (let tries = 0; tries <= ANONYMOUS_BURST; tries++) {
      expect((await ask("OPTIONS", "/v1/limits", from(address))).status).toBe(204);
    }
    expect(remainingOf(await ask("GET", "/v1/limits", from(address)))).toBe(ANONYMOUS_BURST - 1);
  });

  test("without D1 a key that was never seen is unavailable and not charged", async () => {
    const { key } = await tenantWithKey(ask, "outage");
    const answer = await ask("GET", "/v1/limits", { headers: bearer(key), env: envWithout("DB") });
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable", retryAfterSeconds: 5 } });
  });

  test("without D1 a key that was seen works, and without the limiter a stranger is still 401", async () => {
    const { key } = await tenantWithKey(ask, "steady-key");
    await ask("GET", "/v1/limits", { headers: bearer(key) });
    expect((await ask("GET", "/v1/limits", { headers: bearer(key), env: envWithout("DB") })).status).toBe(200);
    const stranger = await ask("GET", "/v1/limits", { ...from(newAddress()), env: envWithout("TENANT_LIMITER") });
    expect(stranger.status).toBe(401);
    expect(stranger.headers.get("X-Headgate-Degraded")).toBe("limiter");
  });

  test("on a tier without any burst a stranger is 401, for there is no time to come back at", async () => {
    await ask("PUT", "/admin/tiers/anonymous", { body: { requestsPerSecond: 0, burstSize: 0 } });
    expect((await ask("GET", "/v1/limits", from(newAddress()))).status).toBe(401);
    await ask("PUT", "/admin/tiers/anonymous", { body: { requestsPerSecond: 10, burstSize: ANONYMOUS_BURST } });
  });
});

describe("/v1 with ANONYMOUS=allow", () => {
  test("an address without a credential is a caller of its own on the anonymous tier", async () => {
    const [one, other] = [newAddress(), newAddress()];
    const look = await open("GET", "/v1/limits", from(one));
    expect(look).toMatchObject({ status: 200, body: { tenant: one, tier: "anonymous" } });
    await open("POST", "/v1/check", { ...from(one), body: { cost: 5 } });
    expect(remainingOf(await open("GET", "/v1/limits", from(one)))).toBe(ANONYMOUS_BURST - 5);
    expect(remainingOf(await open("GET", "/v1/limits", from(other)))).toBe(ANONYMOUS_BURST);
  });

  test("a wrong credential is still 401", async () => {
    expect((await open("GET", "/v1/limits", from(newAddress(), { "X-API-Key": "hg_wrong" }))).status).toBe(401);
    expect((await open("GET", "/v1/limits", from(newAddress(), { Authorization: "" }))).status).toBe(401);
  });

  test("a tenant that is named like an address shares nothing with it", async () => {
    const address = newAddress();
    const { key } = await tenantWithKey(ask, address);
    await ask("POST", "/v1/check", { headers: bearer(key, address), body: { cost: 100 } });
    expect(remainingOf(await open("GET", "/v1/limits", from(address)))).toBe(ANONYMOUS_BURST);
  });
});

describe("/admin", () => {
  const status = async (method: string, path: string, token: string | null, asking = ask) => {
    const address = newAddress();
    const headers = token === null ? from(address).headers : bearer(token, address);
    return (await asking(method, path, { headers, body: method === "PUT" ? { tier: "free" } : undefined })).status;
  };

  test.for<[string, string | null, number, number]>([
    ["admin", "test-admin", 200, 201],
    ["viewer", "test-viewer", 200, 403],
    ["a wrong token", "test-admim", 401, 401],
    ["a beginning of the token", "test-adm", 401, 401],
    ["more than the token", "test-admin1", 401, 401],
    ["one of 5000 characters", "x".repeat(5000), 401, 401],
    ["none", null, 401, 401],
  ])("%s", async ([name, token, reading, writing]) => {
    expect(await status("GET", "/admin/tiers", token)).toBe(reading);
    expect(await status("PUT", `/admin/tenants/${encodeURIComponent(`of ${name}`)}`, token)).toBe(writing);
  });

  test("a viewer may ask for the head of what it may read", async () => {
    expect(await status("HEAD", "/admin/tiers", "test-viewer")).toBe(200);
  });

  test("the token goes in Authorization: Bearer and nowhere else", async () => {
    for (const headers of [{ "X-API-Key": "test-admin" }, { Authorization: `Basic ${btoa("admin:test-admin")}` }]) {
      expect((await ask("GET", "/admin/tiers", from(newAddress(), headers))).status).toBe(401);
    }
  });

  test("a tenant's key opens nothing", async () => {
    const { key } = await tenantWithKey(ask, "curious");
    expect(await status("GET", "/admin/tiers", key)).toBe(401);
  });

  test("guessing tokens ends in 429", async () => {
    const headers = bearer("guess", newAddress());
    for (let tries = 0; tries < ANONYMOUS_BURST; tries++)
      expect((await ask("GET", "/admin/tiers", { headers })).status).toBe(401);
    const refused = await ask("GET", "/admin/tiers", { headers });
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  });

  test("without a configured token the routes are not there, as any other that is not", async () => {
    const off = appOf({ ADMIN_TOKEN: "", VIEWER_TOKEN: "" });
    for (const token of ["test-admin", null]) expect(await status("GET", "/admin/tiers", token, off)).toBe(404);
    const answer = await off("GET", "/admin/tiers", { headers: { Authorization: "Bearer " } });
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  test("an empty token beside a configured one matches nothing", async () => {
    const adminOnly = appOf({ VIEWER_TOKEN: "" });
    expect((await adminOnly("GET", "/admin/tiers", { headers: { Authorization: "Bearer " } })).status).toBe(401);
    expect((await adminOnly("GET", "/admin/tiers")).status).toBe(200);
  });
});
