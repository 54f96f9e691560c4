import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { forget } from "../../src/identity/directory.ts";
import { type Answer, appOf, bearer, tenantWithKey } from "./admin-support.ts";

// Who a client of the engine is: no credential, Basic, a token of our own; and the tenant in its path.

const SECRET = "a secret of more than thirty-two characters";
const ask = appOf({ OAUTH_SECRET: SECRET });
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const T0 = Date.UTC(2027, 0, 1, 12);

beforeEach(() => {
  vi.spyOn(console, "warn").mockReturnValue();
  vi.useFakeTimers({ toFake: ["Date"], now: T0 });
  forget("everything");
});

let addresses = 0;
const newAddress = () => ({ "CF-Connecting-IP": `203.0.113.${++addresses}` });

function tokenFor(form: Record<string, string>, headers: Record<string, string> = newAddress(), asked = ask) {
  const raw = new URLSearchParams({ grant_type: "client_credentials", ...form }).toString();
  return asked("POST", "/oauth/token", { headers: { ...FORM, ...headers }, raw }) as Promise<
    Answer & { body: { access_token: string } }
  >;
}

const topology = (headers: Record<string, string>, path = "/v2/topology", asked = ask) =>
  asked("GET", path, { headers: { ...newAddress(), ...headers } });

describe("POST /oauth/token", () => {
  test("gives a token for a tenant and its key, which opens /v2 and /v1", async () => {
    const { key } = await tenantWithKey(ask, "acme");
    const { status, body, headers } = await tokenFor({ client_id: "acme", client_secret: key, audience: "any" });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^hgt_/),
      token_type: "Bearer",
      expires_in: 300,
    });
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect((await topology(bearer(body.access_token))).status).toBe(200);
    const limits = await ask("GET", "/v1/limits", { headers: bearer(body.access_token) });
    expect(limits.body).toMatchObject({ tenant: "acme" });
  });

  test("takes the same as HTTP Basic", async () => {
    const { key } = await tenantWithKey(ask, "basic");
    const basic = { Authorization: `Basic ${btoa(`basic:${key}`)}` };
    expect((await tokenFor({}, { ...newAddress(), ...basic })).status).toBe(200);
    expect((await topology(basic)).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ["a wrong key", { client_id: "acme", client_secret: "hg_wrong" }],
    ["no key", { client_id: "acme" }],
    ["nothing", {}],
    ["a key of another tenant", { client_id: "acme", client_secret: "theirs" }],
    ["a blank tenant", { client_id: " ", client_secret: "hg_wrong" }],
  ])("%s is 401, and named as OAuth names it", async (_label, form) => {
    const { key } = await tenantWithKey(ask, "theirs");
    const given = form.client_secret === "theirs" ? { ...form, client_secret: key } : form;
    expect(await tokenFor(given)).toMatchObject({
      status: 401,
      body: { code: "unauthenticated", error: "invalid_client" },
    });
  });

  test("guessing ends in 429", async () => {
    const address = newAddress();
    const statuses = new Set<number>();
    for (let n = 0; n < 21; n++) {
      statuses.add((await tokenFor({ client_id: "acme", client_secret: `hg_${n}` }, address)).status);
    }
    expect([...statuses]).toEqual([401, 429]);
  });

  test("another grant, another form and a body too large are refused", async () => {
    expect((await tokenFor({ grant_type: "password" })).status).toBe(400);
    const json = await ask("POST", "/oauth/token", {
      headers: newAddress(),
      body: { grant_type: "client_credentials" },
    });
    expect(json.status).toBe(400);
    expect((await tokenFor({ client_id: "x".repeat(300_000) })).status).toBe(413);
  });

  test("without a secret the route is not there, and no token is taken", async () => {
    const { key } = await tenantWithKey(ask, "off");
    const { body } = await tokenFor({ client_id: "off", client_secret: key });
    const off = appOf();
    expect((await tokenFor({ client_id: "off", client_secret: key }, newAddress(), off)).status).toBe(404);
    expect((await topology(bearer(body.access_token), "/v2/topology", off)).status).toBe(401);
  });
});

describe("a token of our own", () => {
  test("ends after its time, and with its key at once", async () => {
    const { key, keyId } = await tenantWithKey(ask, "ends");
    const { body } = await tokenFor({ client_id: "ends", client_secret: key });
    vi.setSystemTime(T0 + 299_000);
    expect((await topology(bearer(body.access_token))).status).toBe(200);
    vi.setSystemTime(T0 + 301_000);
    expect((await topology(bearer(body.access_token))).status).toBe(401);
    vi.setSystemTime(T0);
    await ask("DELETE", `/admin/tenants/ends/keys/${keyId}`);
    expect((await topology(bearer(body.access_token))).status).toBe(401);
  });

  test("is taken from no other secret, and not when it was changed", async () => {
    const { key } = await tenantWithKey(ask, "forged");
    const { body } = await tokenFor({ client_id: "forged", client_secret: key });
    const other = appOf({ OAUTH_SECRET: `another ${SECRET}` });
    expect((await topology(bearer(body.access_token), "/v2/topology", other)).status).toBe(401);
    const [head, claims, signature] = body.access_token.split(".");
    const none = `hgt_${btoa('{"alg":"none"}')}.${claims}.`;
    for (const token of [none, `${head}.${claims}x.${signature}`, `${head}.${claims}.`, "hgt_", "hgt_a.b.c"]) {
      expect((await topology(bearer(token))).status).toBe(401);
    }
  });

  test("of a suspended tenant is 403", async () => {
    const { key } = await tenantWithKey(ask, "suspended");
    const { body } = await tokenFor({ client_id: "suspended", client_secret: key });
    await ask("PUT", "/admin/tenants/suspended", { body: { tier: "free", status: "suspended" } });
    expect(await topology(bearer(body.access_token))).toMatchObject({ status: 403, body: { title: "FORBIDDEN" } });
  });
});

describe("the tenant in the path", () => {
  test("must be the credential's", async () => {
    const { key } = await tenantWithKey(ask, "own/path");
    expect((await topology(bearer(key), "/t/own%2Fpath/v2/topology")).status).toBe(200);
    expect(await topology(bearer(key), "/t/others/v2/topology")).toMatchObject({
      status: 403,
      body: { title: "FORBIDDEN", instance: "/t/others/v2/topology" },
    });
    expect((await topology({}, "/t/own%2Fpath/v2/topology")).status).toBe(401);
  });
});

describe("a request without a credential", () => {
  const local = localApp();

  test("is refused unless the deployment names a tenant for it", async () => {
    expect(await topology({})).toMatchObject({ status: 401, body: { title: "UNAUTHORIZED" } });
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
      expect((await topology({ "CF-Connecting-IP": address }, "/v2/topology", local)).status).toBe(200);
      expect((await topology({ "CF-Connecting-IP": address }, "/t/here/v2/topology", local)).status).toBe(200);
      expect((await topology({ "CF-Connecting-IP": address }, "/t/there/v2/topology", local)).status).toBe(403);
    }
  });

  test("is that tenant's from this machine only, on /v2 only, and never with a wrong credential", async () => {
    expect((await topology({}, "/v2/topology", local)).status).toBe(401);
    expect((await topology({ "CF-Connecting-IP": "" }, "/v2/topology", local)).status).toBe(401);
    expect((await topology({ "CF-Connecting-IP": "127.0.0.1" }, "/v1/limits", local)).status).toBe(401);
    const wrong = { Authorization: "Bearer hg_wrong", "CF-Connecting-IP": "127.0.0.1" };
    expect((await topology(wrong, "/v2/topology", local)).status).toBe(401);
  });
});

describe("a page in a browser on this machine", () => {
  const from = (base: string, headers: Record<string, string> = {}) =>
    localApp(base)("GET", "/v2/topology", { headers: { "CF-Connecting-IP": "127.0.0.1", ...headers } });

  test.each(["http://localhost:8787", "http://127.0.0.1", "http://127.8.9.1:1", "http://[::1]:8787"])(
    "%s is this machine's own name",
    async (base) => {
      expect((await from(base)).status).toBe(200);
      expect((await from(base, { Origin: "http://localhost:3000", "Sec-Fetch-Site": "same-site" })).status).toBe(200);
    },
  );

  test.each(["http://evil.com", "http://127.0.0.1.evil.com:8787", "http://localhost.evil.com", "http://10.0.0.1"])(
    "%s is a name of somebody else, wherever it leads",
    async (base) => {
      expect((await from(base)).status).toBe(401);
      expect((await from("http://localhost:8787", { Origin: base })).status).toBe(401);
    },
  );

  test("is not taken for a program, if it is a page of somebody else", async () => {
    expect((await from("http://localhost:8787", { Origin: "null" })).status).toBe(401);
    expect((await from("http://localhost:8787", { "Sec-Fetch-Site": "cross-site" })).status).toBe(401);
  });

  test("is not taken for a program, if a proxy hands it on and says so", async () => {
    expect((await from("http://localhost:8787", { "X-Forwarded-For": "127.0.0.1" })).status).toBe(401);
    expect((await from("http://localhost:8787", { Via: "1.1 proxy" })).status).toBe(401);
  });
});

/** An app that lets programs on this machine go without a credential, asked under a name of the test's own. */
function localApp(base = "http://127.0.0.1:8787"): typeof ask {
  const app = createApp(parseConfig({ LOCAL_TENANT: "here" }));
  return async (method, path, { headers = {} } = {}) => {
    const context = createExecutionContext();
    const response = await app.fetch(new Request(base + path, { method, headers }), env, context);
    await waitOnExecutionContext(context);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}

describe("a bad variable", () => {
  test("stops the start, and a secret is not said", () => {
    expect(() => appOf({ OAUTH_SECRET: "short" })).toThrow(/OAUTH_SECRET(?!.*short)/);
    expect(() => appOf({ LOCAL_TENANT: " " })).toThrow(/LOCAL_TENANT/);
  });
});
