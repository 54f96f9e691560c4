import { beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { appOf, bearer, envWithout, tenantWithKey } from "./admin-support.ts";

const lines: string[] = [];
const requestLine = z.object({
  event: z.literal("request"),
  requestId: z.string(),
  tenant: z.string().optional(),
  address: z.string().optional(),
  actor: z.string().optional(),
  method: z.string(),
  route: z.string(),
  decision: z.string(),
  status: z.int(),
  durationMs: z.number(),
});

beforeEach(() => {
  lines.length = 0;
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...said: unknown[]) => void lines.push(said.map(String).join(" ")));
  }
});

const requests = () =>
  lines.filter((line) => line.includes('"event":"request"')).map((line) => requestLine.parse(JSON.parse(line)));

describe("a line for each request that was decided", () => {
  const ask = appOf();

  test("says who was refused what, where, and under which request id", async () => {
    await ask("PUT", "/admin/tiers/tight", { body: { requestsPerSecond: 0.01, burstSize: 1 } });
    const { key } = await tenantWithKey(ask, "noisy", "tight");
    const command = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };
    lines.length = 0;
    await ask("POST", "/v1/check", { headers: bearer(key), body: {} });
    expect(requests()).toEqual([]);
    await ask("POST", "/v1/check", { headers: { ...bearer(key), "X-Request-Id": "check-1" }, body: {} });
    await ask("POST", "/v1/commands", { headers: { ...bearer(key), "X-Request-Id": "send-1" }, body: command });
    expect(requests()).toMatchObject([
      { requestId: "check-1", tenant: "noisy", route: "/v1/check", decision: "rate_limited", status: 200 },
      { requestId: "send-1", tenant: "noisy", route: "/v1/commands", decision: "rate_limited", status: 429 },
    ]);
  });

  test("names a tenant by its id in `tenant`, and an address in `address`, whichever event it is", async () => {
    const { key } = await tenantWithKey(ask, "address:of-a-tenant");
    const env = envWithout("TENANT_LIMITER");
    await ask("POST", "/v1/check", { headers: bearer(key), body: {}, env });
    await ask("GET", "/v1/limits", { headers: { "CF-Connecting-IP": "192.0.2.99" }, env });
    const degraded = lines.filter((line) => line.includes("limiter_degraded")).map((line) => JSON.parse(line));
    expect(degraded).toMatchObject([{ tenant: "address:of-a-tenant" }, { address: "192.0.2.99" }]);
    expect(degraded[1]).not.toHaveProperty("tenant");
    const refused = requests().findLast(({ status }) => status === 401);
    expect(refused).toMatchObject({ address: "192.0.2.99", decision: "unauthenticated" });
    expect(refused?.tenant).toBeUndefined();
  });

  test("shows patterns of paths, and nothing of a path that has none", async () => {
    await ask("GET", "/admin/tenants/no-such-tenant-here");
    await ask("GET", "/somewhere/else?token=secret-in-query");
    await ask("GET", "/%E0%A4%A");
    expect(requests()).toMatchObject([
      { actor: "admin", route: "/admin/tenants/:id", decision: "not_found", status: 404 },
      { route: "none", decision: "not_found", status: 404 },
      { route: "none", decision: "invalid_request", status: 400 },
    ]);
    expect(lines.join()).not.toMatch(/no-such-tenant-here|secret-in-query|somewhere/);
  });

  test("is there for a missing part too", async () => {
    await ask("GET", "/admin/tenants", { env: envWithout("DB") });
    expect(requests()).toMatchObject([{ route: "/admin/tenants", decision: "unavailable", status: 503 }]);
  });
});

test.each([
  ["off", 0, 0],
  ["refused", 0, 1],
  ["on", 1, 1],
])("LOG_REQUESTS=%s: %i lines for what was done, %i for what was not", async (LOG_REQUESTS, done, failed) => {
  const ask = appOf({ LOG_REQUESTS });
  await ask("GET", "/healthz");
  expect(requests()).toHaveLength(done);
  await ask("GET", "/nowhere");
  expect(requests()).toHaveLength(done + failed);
});

test("no credential, secret or body is in any line, whatever was sent and however it ended", async () => {
  const secrets = {
    OAUTH_SECRET: "oauth-secret-of-thirty-two-characters",
    ADMIN_TOKEN: "admin-token-in-clear",
    VIEWER_TOKEN: "viewer-token-in-clear",
  };
  const ask = appOf({ ...secrets, LOG_REQUESTS: "on" });
  const admin = { Authorization: `Bearer ${secrets.ADMIN_TOKEN}` };
  await ask("PUT", "/admin/tenants/discreet", { headers: admin, body: { tier: "free" } });
  const made = await ask("POST", "/admin/tenants/discreet/keys", { headers: admin, body: { name: "name-of-key" } });
  const { key } = z.object({ key: z.string() }).parse(made.body);
  const sent = {
    body: "word-in-a-body",
    header: "value-of-a-header",
    query: "value-in-a-query",
    guessed: "guessed-credential",
    password: "basic-password",
  };
  const headers = { ...bearer(key), Cookie: sent.header, "Idempotency-Key": sent.header };
  const payload = { processId: sent.body, variables: { [sent.body]: sent.body } };
  for (const env of [undefined, envWithout("DB"), envWithout("TENANT_LIMITER")]) {
    const given = env === undefined ? {} : { env };
    await ask("POST", `/v1/commands?q=${sent.query}`, {
      ...given,
      headers,
      body: { intent: "PROCESS_INSTANCE:CREATE", payload },
    });
    await ask("POST", "/v1/commands", { ...given, headers, raw: `{"broken": "${sent.body}` });
    await ask("POST", "/v1/check", { ...given, headers, body: { key: sent.body } });
    await ask("GET", "/v1/limits", { ...given, headers: bearer(sent.guessed) });
    await ask("GET", "/v1/limits", {
      ...given,
      headers: { Authorization: `Basic ${btoa(`discreet:${sent.password}`)}` },
    });
    await ask("POST", "/oauth/token", {
      ...given,
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      raw: `grant_type=client_credentials&client_id=discreet&client_secret=${sent.password}`,
    });
    await ask("GET", "/admin/usage", { ...given, headers: bearer(secrets.VIEWER_TOKEN) });
    await ask("GET", "/metrics", { ...given, headers: bearer(sent.guessed) });
  }
  const log = lines.join("\n");
  expect(requests().length).toBe(2 + 3 * 8);
  for (const secret of [key, "name-of-key", ...Object.values(secrets), ...Object.values(sent)]) {
    expect(log).not.toContain(secret);
    expect(log).not.toContain(btoa(`discreet:${secret}`));
  }
});
