import { type JWK, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { forget } from "../../src/identity/directory.ts";
import { forgetIssuerKeys } from "../../src/identity/jwks.ts";
import { verifyToken } from "../../src/identity/jwt.ts";
import { resolve } from "../../src/identity/resolver.ts";
import {
  AUDIENCE,
  type Claims,
  config,
  ISSUER,
  NOW_MS,
  NOW_SECONDS,
  type Signer,
  newSigner as signer,
  signToken as token,
} from "./issuer.ts";
import { askingAt, bearer, Deferred, tenantWithKey, WatchedD1 } from "./support.ts";

let signers: { first: Signer; second: Signer; rsa: Signer; ed: Signer };
beforeAll(async () => {
  signers = {
    first: await signer("first"),
    second: await signer("second"),
    rsa: await signer("rsa", "RS256"),
    ed: await signer("ed", "EdDSA"),
  };
});

/** What the issuer publishes: keys, or an answer of its own making. */
let published: JWK[] | (() => Response);
let fetches = 0;

beforeEach(() => {
  forgetIssuerKeys();
  forget("everything");
  fetches = 0;
  published = Object.values(signers).map(({ jwk }) => jwk);
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => {
    fetches++;
    return Array.isArray(published) ? Response.json({ keys: published }) : published();
  });
});
afterEach(() => vi.restoreAllMocks());

const at = (nowMs: number) => ({ nowMs, defer: new Deferred().add });
const kindAt = async (text: string, nowMs = NOW_MS) => (await verifyToken(config, text, at(nowMs))).kind;

const ACME = { kind: "tenant", tenant: "acme", subject: null };

describe("a token", () => {
  test.for<[string, keyof typeof signers]>([
    ["ES256", "first"],
    ["RS256", "rsa"],
    ["EdDSA", "ed"],
  ])("signed with %s names its tenant", async ([, name]) => {
    expect(await verifyToken(config, await token(signers[name]), at(NOW_MS))).toEqual(ACME);
  });

  test.for<[string, Claims, string]>([
    ["still valid within the tolerance", { exp: NOW_SECONDS - 4 }, "tenant"],
    ["expired", { exp: NOW_SECONDS - 6 }, "refused"],
    ["without an end", { exp: null }, "refused"],
    ["not yet valid", { nbf: NOW_SECONDS + 60 }, "refused"],
    ["of another issuer", { iss: "https://other.example/" }, "refused"],
    ["for another audience", { aud: "other" }, "refused"],
    ["without a tenant", { tenant: undefined }, "refused"],
    ["with a tenant that is a number", { tenant: 7 }, "refused"],
    ["with a tenant that is a list", { tenant: ["acme"] }, "refused"],
    ["with a blank tenant", { tenant: " " }, "refused"],
    ["with a tenant that is too long", { tenant: "a".repeat(129) }, "refused"],
  ])("%s", async ([, claims, kind]) => {
    expect(await kindAt(await token(signers.first, claims))).toBe(kind);
  });

  test("takes its tenant from the claim that is configured, and only from one of its own", async () => {
    const by = (claim: string) => ({ ...config, JWT_TENANT_CLAIM: claim });
    const text = await new SignJWT({ "https://example.com/org": "acme" })
      .setProtectedHeader({ alg: "ES256", kid: "first" })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setExpirationTime(NOW_SECONDS + 60)
      .sign(signers.first.privateKey);
    expect(await verifyToken(by("https://example.com/org"), text, at(NOW_MS))).toEqual(ACME);
    expect((await verifyToken(by("toString"), text, at(NOW_MS))).kind).toBe("refused");
  });

  test("without a signature, or signed with what is public, proves nothing", async () => {
    const claims = { tenant: "acme" };
    const unsigned = new UnsecuredJWT(claims)
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setExpirationTime(NOW_SECONDS + 60);
    expect(await kindAt(unsigned.encode())).toBe("refused");
    const secret = new TextEncoder().encode("a shared secret of thirty-two bytes");
    published = [
      { kty: "oct", kid: "shared", alg: "HS256", k: btoa("a shared secret of thirty-two bytes").replace(/=+$/, "") },
    ];
    const symmetric = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", kid: "shared" })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setExpirationTime(NOW_SECONDS + 60)
      .sign(secret);
    forgetIssuerKeys();
    expect(await kindAt(symmetric)).toBe("refused");
  });

  test("signed by another key under a known name is refused", async () => {
    const forger = await signer("first");
    expect(await kindAt(await token(forger))).toBe("refused");
  });

  test.for(["a.b.c", "..", "eyJ.eyJ.x"])("nonsense (%s) is refused", async (text) => {
    expect(await kindAt(text)).toBe("refused");
  });
});

describe("the issuer's keys", () => {
  test("are fetched once in ten minutes", async () => {
    const text = await token(signers.first, { exp: NOW_SECONDS + 3600 });
    for (const late of [0, 1, 599_999]) await kindAt(text, NOW_MS + late);
    expect(fetches).toBe(1);
    await kindAt(text, NOW_MS + 600_000);
    expect(fetches).toBe(2);
  });

  test("are fetched again for an unknown one at once, and then at most every 30 s", async () => {
    published = [signers.first.jwk];
    await kindAt(await token(signers.first));
    published = [signers.first.jwk, signers.second.jwk];
    const rotated = await token(signers.second);
    expect(await kindAt(rotated, NOW_MS + 1)).toBe("tenant");
    expect(fetches).toBe(2);
    for (const kid of ["x1", "x2", "x3"]) await kindAt(await token(signers.first, {}, { kid }), NOW_MS + 30_000);
    expect(fetches).toBe(2);
    await kindAt(await token(signers.first, {}, { kid: "x4" }), NOW_MS + 30_001);
    expect(fetches).toBe(3);
  });

  test("that cannot be fetched are used as they were, for a day", async () => {
    const text = await token(signers.first, { exp: NOW_SECONDS + 7 * 24 * 3600 });
    await kindAt(text);
    published = () => new Response("down", { status: 503 });
    expect(await kindAt(text, NOW_MS + 12 * 3_600_000)).toBe("tenant");
    expect(await kindAt(text, NOW_MS + 24 * 3_600_000)).toBe("unavailable");
  });

  test.for<[string, () => Response]>([
    ["an error", () => new Response("down", { status: 500 })],
    ["no JSON", () => new Response("<html>")],
    ["no key set", () => Response.json({ keys: "none" })],
    ["more than 64 KiB", () => Response.json({ keys: [], padding: "x".repeat(64 * 1024) })],
    [
      "a broken connection",
      () => {
        throw new TypeError("connection lost");
      },
    ],
  ])("that were never had (%s) make tokens unavailable, and are asked for again a second later", async ([, answer]) => {
    const text = await token(signers.first);
    const good = published;
    published = answer;
    expect(await kindAt(text)).toBe("unavailable");
    expect(await kindAt(text, NOW_MS + 999)).toBe("unavailable");
    expect(fetches).toBe(1);
    published = good;
    expect(await kindAt(text, NOW_MS + 1000)).toBe("tenant");
  });
});

describe("a caller with a token", () => {
  const d1 = new WatchedD1();
  const ask = async (claims: Claims) => {
    const headers = bearer(await token(signers.first, claims));
    return resolve(config, askingAt(NOW_MS, d1), headers);
  };

  test("has the limits of its row, or the default tier's", async () => {
    await tenantWithKey("listed", { tier: "premium" });
    expect(await ask({ tenant: "listed" })).toMatchObject({
      caller: { tenant: "listed", tier: "premium", weight: 10 },
    });
    expect(await ask({ tenant: "unlisted" })).toMatchObject({
      caller: { tenant: "unlisted", tier: "standard", weight: 2 },
    });
  });

  test("while D1 fails is who it is, with limits that only its object knows", async () => {
    d1.mood = "fails";
    const account = {
      tenant: "during-outage",
      kind: "tenant",
      tier: null,
      limits: null,
      weight: 1,
      limiterMode: "leased",
    };
    const caller = { ...account, credential: null, address: "unknown" };
    expect(await ask({ tenant: "during-outage" })).toEqual({ kind: "caller", caller });
  });

  test.for<[string, Claims, string | null]>([
    ["its subject", { sub: "user-7" }, "sub:user-7"],
    ["a subject that is spelt as a key's id", { sub: "key_abc" }, "sub:key_abc"],
    ["nothing, without a subject", {}, null],
    ["nothing, with an empty subject", { sub: "" }, null],
  ])("goes by %s within its tenant", async ([, claims, credential]) => {
    expect(await ask(claims)).toMatchObject({ caller: { tenant: "acme", credential } });
  });

  test("with a very long subject goes by its hash, which no other subject has", async () => {
    const named = async (sub: string) => {
      const resolution = await ask({ sub });
      return resolution.kind === "caller" ? resolution.caller.credential : null;
    };
    const [one, other] = [await named(`${"x".repeat(3_000)}1`), await named(`${"x".repeat(3_000)}2`)];
    expect(one).toMatch(/^sub-sha256:[0-9a-f]{64}$/);
    expect(other).not.toBe(one);
  });

  test("is unauthenticated with a bad one, and unavailable while its issuer is", async () => {
    expect(await ask({ aud: "other" })).toMatchObject({ problem: { code: "unauthenticated" } });
    forgetIssuerKeys();
    published = () => new Response("down", { status: 500 });
    expect(await ask({})).toMatchObject({ problem: { code: "unavailable" } });
  });
});
