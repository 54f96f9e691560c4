import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { appOf, bearer, envWithout, tenantWithKey } from "./admin-support.ts";

// Pages of other origins: those of CORS_ORIGINS may call and read, the others may not, and nobody may administer.

const APP = "https://app.example";
const ask = appOf({ CORS_ORIGINS: `${APP}, http://localhost:3000` });
const fromPage = (origin: string, more: Record<string, string> = {}) => ({ Origin: origin, ...more });
const preflight = (method: string, headers = "authorization, content-type") => ({
  "Access-Control-Request-Method": method,
  "Access-Control-Request-Headers": headers,
});
const list = (value: string | null) => (value ?? "").toLowerCase().split(/,\s*/);

describe("a preflight", () => {
  test("of an origin that is listed says what its pages may send; it needs no credential and is not charged", async () => {
    for (const origin of [APP, "http://localhost:3000"]) {
      const { status, headers } = await ask("OPTIONS", "/v1/check", { headers: fromPage(origin, preflight("POST")) });
      expect([status, headers.get("Access-Control-Allow-Origin")]).toEqual([204, origin]);
      expect(list(headers.get("Access-Control-Allow-Methods"))).toEqual(["post", "options"]);
      const sent = ["authorization", "content-type", "x-api-key", "idempotency-key", "prefer", "x-request-id"];
      expect(list(headers.get("Access-Control-Allow-Headers"))).toEqual(expect.arrayContaining(sent));
      expect(headers.get("Access-Control-Max-Age")).toBe("600");
      expect(headers.get("Vary")).toBe("Origin");
      expect(headers.has("RateLimit")).toBe(false);
    }
  });

  test.each([
    ["of an origin that is not listed", "/v1/check", fromPage("https://evil.example", preflight("POST"))],
    ["of an origin that is like a listed one", "/v1/check", fromPage(`${APP}.evil.example`, preflight("POST"))],
    ["of a page without an origin", "/v1/check", fromPage("null", preflight("POST"))],
    ["to an admin route", "/admin/tiers", fromPage(APP, preflight("GET"))],
  ])("%s is told nothing", async (_label, path, headers) => {
    const answer = await ask("OPTIONS", path, { headers });
    expect(answer.status).toBe(204);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("an answer", () => {
  const readable = (headers: Headers) => {
    expect(headers.get("Access-Control-Allow-Origin")).toBe(APP);
    expect(list(headers.get("Vary"))).toContain("origin");
    const named = ["ratelimit", "ratelimit-policy", "retry-after", "x-request-id", "etag", "x-headgate-degraded"];
    const older = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    const exposed = list(headers.get("Access-Control-Expose-Headers"));
    expect(exposed).toEqual(expect.arrayContaining([...named, ...older]));
  };

  test("can be read by a listed origin, refusals and errors as well", async () => {
    await ask("PUT", "/admin/tiers/once", { body: { requestsPerSecond: 0.01, burstSize: 1 } });
    const { key } = await tenantWithKey(ask, "page", "once");
    const own = { ...bearer(key), ...fromPage(APP) };
    const answers = [
      [200, await ask("POST", "/v1/check", { headers: own, body: {} })],
      [401, await ask("POST", "/v1/check", { headers: fromPage(APP), body: {} })],
      [404, await ask("GET", "/nowhere", { headers: fromPage(APP) })],
      [400, await ask("POST", "/v1/check", { headers: own, raw: "{" })],
      [405, await ask("PUT", "/v1/check", { headers: own, body: {} })],
      [200, await ask("GET", "/readyz", { headers: fromPage(APP) })],
      [200, await ask("GET", "/openapi.json", { headers: fromPage(APP) })],
      [200, await ask("GET", "/metrics", { headers: fromPage(APP), asText: true })],
      [
        429,
        await ask("POST", "/v1/commands", {
          headers: own,
          body: { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } },
        }),
      ],
    ] as const;
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status);
      readable(answer.headers);
    }
    const scraped = await ask("GET", "/metrics", { headers: fromPage(APP), asText: true });
    expect(list(scraped.headers.get("Vary"))).toEqual(["origin", "accept", "authorization"]);
    const broken = appOf({ CORS_ORIGINS: APP, LIMITER_FAILURE: "closed" });
    const closed = await broken("GET", "/v1/limits", { headers: own, env: envWithout("TENANT_LIMITER") });
    expect(closed.status).toBe(503);
    readable(closed.headers);
  });

  test("to another origin, or on an admin route, or where the setting is empty, cannot be read", async () => {
    const answers = [
      await ask("GET", "/healthz", { headers: fromPage("https://evil.example") }),
      await ask("GET", "/admin/tiers", { headers: { Authorization: "Bearer test-admin", ...fromPage(APP) } }),
      await appOf()("GET", "/healthz", { headers: fromPage(APP) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers.get("Access-Control-Allow-Origin"))).toEqual([null, null, null]);
    expect(answers.map(({ headers }) => headers.get("Vary"))).toEqual(["Origin", null, null]);
  });
});

test.each([
  ["*"],
  ["null"],
  ["app.example"],
  ["https://app.example/"],
  ["https://app.example/path"],
  ["https://App.example"],
  ["https://app.example:443"],
  ["https://user@app.example"],
  ["ftp://app.example"],
  ["https://good.example, https://*.example"],
])("CORS_ORIGINS=%s stops the start and is named", (given) => {
  expect(() => parseConfig({ CORS_ORIGINS: given })).toThrow(/CORS_ORIGINS: .* is not an origin/);
});

test("origins may have a port, and be repeated", () => {
  const given = "https://app.example,http://127.0.0.1:5173 ,https://app.example,";
  expect(parseConfig({ CORS_ORIGINS: given }).CORS_ORIGINS).toEqual(["https://app.example", "http://127.0.0.1:5173"]);
});
