import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { forget } from "../../src/identity/directory.ts";
import { forgetIssuerKeys } from "../../src/identity/jwks.ts";
import { WatchedD1 } from "../identity/support.ts";
import { appOf, bearer, tenantWithKey } from "./admin-support.ts";

const JWT = { JWT_JWKS_URL: "https://issuer.test/jwks", JWT_ISSUER: "https://issuer.test/", JWT_AUDIENCE: "headgate" };
const OAUTH = { OAUTH_SECRET: "a secret of thirty-two characters" };
const app = appOf({ ...JWT, ...OAUTH });
/** What goes on behind an answer is the end of a lease, a second later by the real clock: not waited for. */
const ask: typeof app = (method, path, given) => app(method, path, { ...given, leaveBehind: true });
/** What the anonymous tier of the first migration gives one address: at once, and a second. */
const BURST = 20;
const RATE = 10;
const NOW_MS = Date.UTC(2026, 9, 1, 12);

beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  forget("everything");
  forgetIssuerKeys();
});

let addresses = 0;
const newAddress = () => `203.0.113.${++addresses}`;
let guesses = 0;
const newGuess = () => `hg_guess-${++guesses}`;
const basic = (tenant: string, key: string) => ({ Authorization: `Basic ${btoa(`${tenant}:${key}`)}` });

/** Ways of showing a credential that is looked up. */
const WAYS: Record<string, (guess: string) => Record<string, string>> = {
  "keys as Bearer": (guess) => ({ Authorization: `Bearer ${guess}` }),
  "keys as X-API-Key": (guess) => ({ "X-API-Key": guess }),
  "tenants with keys as Basic": (guess) => basic(`tenant of ${guess}`, guess),
};

async function useUp(address: string): Promise<void> {
  for (let tries = 0; tries <= BURST; tries++) {
    await ask("GET", "/v1/limits", { headers: bearer(newGuess(), address) });
  }
}

describe("guesses past an address's limit read nothing", () => {
  test.for(Object.keys(WAYS))("%s, one after the other, at ten times its rate", async (way) => {
    const [d1, address] = [new WatchedD1(), newAddress()];
    const statuses = new Map<number, number>();
    const seconds = 5;
    for (let sent = 0; sent < 10 * RATE * seconds; sent++) {
      vi.setSystemTime(NOW_MS + (sent * 1000) / (10 * RATE));
      const headers = { "CF-Connecting-IP": address, ...WAYS[way]?.(newGuess()) };
      const { status } = await ask("GET", "/v1/limits", { headers, env: d1.env() });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    const paid = BURST + RATE * seconds;
    expect(statuses.get(401)).toBeLessThanOrEqual(paid);
    expect((statuses.get(401) ?? 0) + (statuses.get(429) ?? 0)).toBe(10 * RATE * seconds);
    // Of each second one more may be looked up before the object has refused it, and the tier is read again.
    expect(d1.queries).toBeLessThanOrEqual(paid + 2 * seconds + 1);
  });

  test("all at once", async () => {
    const [d1, address] = [new WatchedD1(), newAddress()];
    const env = d1.env();
    const answers = await Promise.all(
      Array.from({ length: 10 * BURST }, () => ask("GET", "/v1/limits", { headers: bearer(newGuess(), address), env })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(BURST);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9 * BURST);
    // Each try reads its key; those at once before the tier is known read that, too.
    expect(d1.queries).toBeLessThanOrEqual(BURST + 3 * 8);
  });

  test("for /oauth/token", async () => {
    const [d1, address] = [new WatchedD1(), newAddress()];
    await useUp(address);
    const raw = (secret: string) => `grant_type=client_credentials&client_id=acme&client_secret=${secret}`;
    const headers = { "CF-Connecting-IP": address, "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await ask("POST", "/oauth/token", { headers, raw: raw(newGuess()), env: d1.env() });
    expect(answer).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(d1.queries).toBe(0);
  });
});

describe("an address that has used up its tries", () => {
  test("is refused whatever key it shows that this isolate has not seen, and let in with one that it has", async () => {
    const [seen, unseen] = [await tenantWithKey(ask, "seen-before"), await tenantWithKey(ask, "never-seen")];
    const address = newAddress();
    expect((await ask("GET", "/v1/limits", { headers: bearer(seen.key, newAddress()) })).status).toBe(200);
    await useUp(address);
    const from = { "CF-Connecting-IP": address };
    const refused = await ask("GET", "/v1/limits", { headers: bearer(unseen.key, address) });
    expect(refused).toMatchObject({ status: 429, body: { "violated-policies": ["requests"] } });
    expect(refused.headers.get("Retry-After")).toBe("1");
    expect(refused.headers.get("RateLimit")).toMatch(/^"requests";r=0;/);
    for (const shown of [bearer(seen.key), { "X-API-Key": seen.key }, basic("seen-before", seen.key)]) {
      expect((await ask("GET", "/v1/limits", { headers: { ...shown, ...from } })).status).toBe(200);
    }
    vi.setSystemTime(NOW_MS + 1_000);
    expect((await ask("GET", "/v1/limits", { headers: bearer(unseen.key, address) })).status).toBe(200);
  });

  test.each(["test-admin", "test-viewer", "wrong-token"])("cannot tell whether %s is a token", async (token) => {
    const address = newAddress();
    await useUp(address);
    const compare = vi.spyOn(crypto.subtle, "timingSafeEqual");
    const answer = await ask("GET", "/admin/tiers", { headers: bearer(token, address) });
    expect(answer).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(compare).not.toHaveBeenCalled();
    compare.mockRestore();
  });

  test("is let in with a token that this isolate has verified, and asks no issuer about another", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = await exportJWK(publicKey);
    const fetching = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ keys: [jwk] }));
    const tokenOf = (tenant: string) =>
      new SignJWT({ tenant })
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(JWT.JWT_ISSUER)
        .setAudience(JWT.JWT_AUDIENCE)
        .setExpirationTime(NOW_MS / 1000 + 600)
        .sign(privateKey);
    const [known, unknown] = [await tokenOf("known"), await tokenOf("unknown")];
    const address = newAddress();
    expect((await ask("GET", "/v1/limits", { headers: bearer(known, newAddress()) })).status).toBe(200);
    await useUp(address);
    forgetIssuerKeys();
    fetching.mockClear();
    expect((await ask("GET", "/v1/limits", { headers: bearer(unknown, address) })).status).toBe(429);
    expect(fetching).not.toHaveBeenCalled();
    expect((await ask("GET", "/v1/limits", { headers: bearer(known, address) })).status).toBe(200);
    fetching.mockRestore();
  });
});

test("a stranger pays for a token whose issuer does not answer: its address is told 503, and in the end 429", async () => {
  const fetching = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("down", { status: 500 }));
  const header = btoa(JSON.stringify({ alg: "ES256", kid: "x" })).replace(/=+$/, "");
  const headers = bearer(`${header}.e30.AAAA`, newAddress());
  for (let tries = 0; tries < BURST; tries++) {
    expect(await ask("GET", "/v1/limits", { headers })).toMatchObject({ status: 503, body: { code: "unavailable" } });
  }
  expect(await ask("GET", "/v1/limits", { headers })).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect(fetching).toHaveBeenCalledTimes(1);
  fetching.mockRestore();
});

test("many new keys of one address at once are all let in: they wait for their turn to be looked up", async () => {
  const keys = await Promise.all(Array.from({ length: 40 }, (_, at) => tenantWithKey(ask, `fleet-${at}`)));
  const address = newAddress();
  const answers = await Promise.all(keys.map(({ key }) => ask("GET", "/v1/limits", { headers: bearer(key, address) })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});
