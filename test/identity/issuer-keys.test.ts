import fc from "fast-check";
import { exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { forgetIssuerKeys } from "../../src/identity/jwks.ts";
import { verifyToken } from "../../src/identity/jwt.ts";
import { KEYS_MAX, readKeySet } from "../../src/identity/verification-keys.ts";
import { config, NOW_MS, newSigner, type Signer, signToken } from "./issuer.ts";
import { Deferred } from "./support.ts";

let good: Signer;
let other: Signer;
let rsa: Signer;
beforeAll(async () => {
  [good, other, rsa] = [await newSigner("good"), await newSigner("other"), await newSigner("rsa", "RS256")];
});

/** What the issuer answers. */
let answer: () => Response | Promise<Response>;
let fetches = 0;
const publish = (...keys: unknown[]) => {
  answer = () => Response.json({ keys });
};

beforeEach(() => {
  forgetIssuerKeys();
  fetches = 0;
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => {
    fetches++;
    return answer();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const judge = async (text: string, nowMs = NOW_MS) =>
  (await verifyToken(config, text, { nowMs, defer: new Deferred().add })).kind;

const modulusOf = (bits: number) => "8".repeat(Math.ceil(bits / 6));

/** Members that no token can be verified with, by what is odd about them. */
const ODD: Record<string, (of: { ec: JWK; rsa: JWK }) => unknown> = {
  "an empty object": () => ({}),
  null: () => null,
  "a text": () => "key",
  "a number": () => 7,
  "a list": () => [],
  "no kty": ({ ec: { kty: _kty, ...rest } }) => rest,
  "an unknown kty": ({ ec }) => ({ ...ec, kty: "LATTICE" }),
  "a kty that is a number": ({ ec }) => ({ ...ec, kty: 1 }),
  "an unknown curve": ({ ec }) => ({ ...ec, crv: "P-1" }),
  "a coordinate that is missing": ({ ec: { y: _y, ...rest } }) => rest,
  "a coordinate that is no text": ({ ec }) => ({ ...ec, x: 1 }),
  "use enc": ({ ec }) => ({ ...ec, use: "enc" }),
  "key_ops without verify": ({ ec }) => ({ ...ec, key_ops: ["encrypt"] }),
  "key_ops that are no list": ({ ec }) => ({ ...ec, key_ops: "verify" }),
  "alg none": ({ ec }) => ({ ...ec, alg: "none" }),
  "alg HS256": ({ ec }) => ({ ...ec, alg: "HS256" }),
  "an alg of another kty": ({ ec }) => ({ ...ec, alg: "RS256" }),
  "an encryption alg": ({ rsa }) => ({ ...rsa, alg: "RSA-OAEP" }),
  "a kid that is no text": ({ ec }) => ({ ...ec, kid: 7 }),
  "a private member": ({ ec }) => ({ ...ec, d: "AAAA" }),
  "a shared secret": () => ({ kty: "oct", k: "c2VjcmV0", kid: "good", alg: "HS256" }),
  "RSA of 1024 bits": ({ rsa }) => ({ ...rsa, n: modulusOf(1024) }),
  "RSA with leading zeros for bits": ({ rsa }) => ({ ...rsa, n: "A".repeat(200) + modulusOf(1024) }),
  "RSA with exponent 1": ({ rsa }) => ({ ...rsa, e: "AAAB" }),
};

describe("a member of the key set that cannot be used", () => {
  test.for(Object.keys(ODD))("is passed over, and the rest stays usable: %s", async (what) => {
    const odd = ODD[what]?.({ ec: other.jwk, rsa: rsa.jwk });
    publish(odd, good.jwk, odd);
    expect(await judge(await signToken(good))).toBe("tenant");
    expect(readKeySet({ keys: [odd] })).toEqual([]);
  });

  test("is one whose point is not on its curve: it is found out when it is tried", async () => {
    publish({ ...other.jwk, kid: "good", x: other.jwk.y }, good.jwk);
    expect(await judge(await signToken(good))).toBe("tenant");
  });

  test("any JSON among the keys, in any place, leaves the good one", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), fc.nat(), (odd, at) => {
        const place = at % (odd.length + 1);
        const read = readKeySet({ keys: [...odd.slice(0, place), good.jwk, ...odd.slice(place)] });
        expect(read?.filter(({ kid }) => kid === "good")).toHaveLength(1);
      }),
    );
  });

  test("of all usable keys only the first hundred are kept, and each of them can be imported", async () => {
    const read = readKeySet({ keys: [...Array<JWK>(KEYS_MAX).fill(good.jwk), other.jwk] }) ?? [];
    expect(read).toHaveLength(KEYS_MAX);
    expect(read.some(({ kid }) => kid === "other")).toBe(false);
    const pair = await generateKeyPair("RS256", { extractable: true });
    const [first] = readKeySet({ keys: [await exportJWK(pair.publicKey)] }) ?? [];
    expect(await importJWK(first?.jwk ?? {}, "RS256")).toBeDefined();
  });

  test.for<[string, () => unknown]>([
    ["a list", () => [good.jwk]],
    ["null", () => null],
    ["keys that are no list", () => ({ keys: good.jwk })],
    ["no keys", () => ({})],
  ])("a document that is no key set is none: %s", ([, document]) => {
    expect(readKeySet(document())).toBeNull();
  });
});

describe("each key that matches is tried", () => {
  test("the same key listed twice is taken", async () => {
    publish(good.jwk, good.jwk);
    expect(await judge(await signToken(good))).toBe("tenant");
    expect(await judge(await signToken(good, {}, {}))).toBe("tenant");
  });

  test("two keys under one kid, in either order", async () => {
    for (const keys of [
      [good.jwk, { ...other.jwk, kid: "good" }],
      [{ ...other.jwk, kid: "good" }, good.jwk],
    ]) {
      forgetIssuerKeys();
      publish(...keys);
      expect(await judge(await signToken(good))).toBe("tenant");
    }
  });

  test("a token without a kid, by its algorithm", async () => {
    publish(other.jwk, rsa.jwk, good.jwk);
    expect(await judge(await signToken(good, {}, {}))).toBe("tenant");
    expect(await judge(await signToken(rsa, {}, {}))).toBe("tenant");
  });

  test("a key without a name serves tokens that name one which the set does not have; a key of another name does not", async () => {
    const { kid: _kid, ...nameless } = good.jwk;
    publish(nameless);
    expect(await judge(await signToken(good))).toBe("tenant");
    publish({ ...good.jwk, kid: "renamed" });
    forgetIssuerKeys();
    expect(await judge(await signToken(good))).toBe("refused");
  });
});

describe("keys are fetched again", () => {
  test("for a key that was replaced under its old name, once within the cooldown", async () => {
    publish(good.jwk);
    expect(await judge(await signToken(good))).toBe("tenant");
    const replaced = await newSigner("good");
    publish(replaced.jwk);
    expect(await judge(await signToken(replaced), NOW_MS + 1)).toBe("tenant");
    expect(fetches).toBe(2);
    for (let at = 2; at < 30_001; at += 3_000) expect(await judge(await signToken(good), NOW_MS + at)).toBe("refused");
    expect(fetches).toBe(2);
  });

  test("by no token that no key can make good", async () => {
    publish(good.jwk);
    const [, payload, signature] = (await signToken(good)).split(".");
    for (const alg of ["none", "HS256", "RSA-OAEP", 7]) {
      expect(await judge(`${btoa(JSON.stringify({ alg })).replace(/=+$/, "")}.${payload}.${signature}`)).toBe(
        "refused",
      );
    }
    expect(fetches).toBe(0);
  });

  test("as JSON of any content type", async () => {
    answer = () => new Response(JSON.stringify({ keys: [good.jwk] }), { headers: { "Content-Type": "text/plain" } });
    expect(await judge(await signToken(good))).toBe("tenant");
  });
});

describe("an issuer that hangs", () => {
  const hang = () => new Promise<Response>((_, reject) => setTimeout(() => reject(new Error("time is up")), 5_000));

  test("is asked by one request of a cold isolate; the others are told in a second that it does not answer", async () => {
    vi.useFakeTimers();
    answer = hang;
    const text = await signToken(good);
    const first = judge(text);
    const others = Promise.all(Array.from({ length: 50 }, () => judge(text)));
    await vi.advanceTimersByTimeAsync(1_100);
    expect(new Set(await others)).toEqual(new Set(["unavailable"]));
    expect(fetches).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await first).toBe("unavailable");
  });

  test("and answers after all: all that wait for it are served by the one fetch", async () => {
    vi.useFakeTimers();
    answer = () => new Promise((resolve) => setTimeout(() => resolve(Response.json({ keys: [good.jwk] })), 300));
    const text = await signToken(good);
    const all = Promise.all(Array.from({ length: 50 }, () => judge(text)));
    await vi.advanceTimersByTimeAsync(400);
    expect(new Set(await all)).toEqual(new Set(["tenant"]));
    expect(fetches).toBe(1);
  });

  test("does not keep those waiting whose keys are known", async () => {
    publish(good.jwk);
    const text = await signToken(good, { exp: NOW_MS / 1000 + 3600 });
    await judge(text);
    vi.useFakeTimers();
    answer = hang;
    const refreshing = judge(text, NOW_MS + 600_000);
    expect(await judge(text, NOW_MS + 600_000)).toBe("tenant");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await refreshing).toBe("tenant");
  });

  test("leaves no mark behind for longer than a fetch may take, should its request have ended with its caller", async () => {
    answer = () => new Promise(() => {});
    const text = await signToken(good);
    void judge(text);
    publish(good.jwk);
    expect(await judge(text, NOW_MS + 5_000)).toBe("tenant");
  });
});
