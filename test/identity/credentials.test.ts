import { describe, expect, test } from "vitest";
import { hashSecret, newKey } from "../../src/identity/api-key.ts";
import { bearerToken, type Credential, parseCredential } from "../../src/identity/credentials.ts";
import { isTenantId, tenantIdSchema } from "../../src/identity/tenant-id.ts";
import { basic } from "./support.ts";

const basicOf = (tenant: string, secret: string) => basic(tenant, secret).get("Authorization") ?? "";
const malformed = expect.objectContaining({ kind: "malformed" });
const key = (secret: string, tenant?: string): Credential =>
  tenant === undefined ? { kind: "api-key", secret } : { kind: "api-key", secret, tenant };

describe("what a request shows for itself", () => {
  test.for<[string, Record<string, string>, unknown]>([
    ["nothing", {}, { kind: "none" }],
    ["a bearer", { Authorization: "Bearer hg_a" }, key("hg_a")],
    ["a bearer in any case", { Authorization: "bEARER hg_a" }, key("hg_a")],
    ["a bearer with more spaces", { Authorization: "Bearer   hg_a" }, key("hg_a")],
    ["X-API-Key", { "X-API-Key": "hg_a" }, key("hg_a")],
    ["both: Authorization wins", { Authorization: "Bearer hg_a", "X-API-Key": "hg_b" }, key("hg_a")],
    ["both, Authorization bad: it still wins", { Authorization: "Digest x", "X-API-Key": "hg_b" }, malformed],
    ["basic", { Authorization: basicOf("acme", "hg_a") }, key("hg_a", "acme")],
    ["basic, colons in the tenant", { Authorization: basicOf("a:b:c", "hg_a") }, key("hg_a", "a:b:c")],
    ["basic in UTF-8", { Authorization: basicOf('14" ä😀\n', "hg_a") }, key("hg_a", '14" ä😀\n')],
    ["basic without a colon", { Authorization: `Basic ${btoa("acme")}` }, malformed],
    ["basic without a tenant", { Authorization: basicOf("", "hg_a") }, malformed],
    ["basic without a key", { Authorization: basicOf("acme", "") }, malformed],
    ["basic that is not Base64", { Authorization: "Basic ***" }, malformed],
    ["basic that is not UTF-8", { Authorization: `Basic ${btoa("\xff:hg_a")}` }, malformed],
    ["basic of 3000 characters", { Authorization: `Basic ${btoa(`${"a".repeat(2248)}:b`)}` }, malformed],
    ["an empty Authorization", { Authorization: "" }, malformed],
    ["a bearer without a word", { Authorization: "Bearer" }, malformed],
    ["two words", { Authorization: "Bearer a b" }, malformed],
    ["two headers in one", { Authorization: "Bearer a, Bearer b" }, malformed],
    ["an empty X-API-Key", { "X-API-Key": "" }, malformed],
    ["512 characters", { "X-API-Key": "a".repeat(512) }, key("a".repeat(512))],
    ["513 characters", { "X-API-Key": "a".repeat(513) }, malformed],
    ["513 characters after Bearer", { Authorization: `Bearer ${"a".repeat(513)}` }, malformed],
  ])("%s", ([, headers, expected]) => {
    expect(parseCredential(new Headers(headers), false)).toEqual(expected);
  });

  test.for<[string, string, boolean, unknown]>([
    ["two dots are a token where tokens are taken", "a.b.c", true, { kind: "jwt", token: "a.b.c" }],
    ["two dots are a key where they are not", "a.b.c", false, key("a.b.c")],
    ["one dot is a key", "a.b", true, key("a.b")],
    ["three dots are a key", "a.b.c.d", true, key("a.b.c.d")],
    ["a token may be longer than a key", `a.b.${"c".repeat(8188)}`, true, expect.objectContaining({ kind: "jwt" })],
    ["a token may not be longer than that", `a.b.${"c".repeat(8189)}`, true, malformed],
  ])("%s", ([, token, jwt, expected]) => {
    expect(parseCredential(new Headers({ Authorization: `Bearer ${token}` }), jwt)).toEqual(expected);
  });

  test.for<[string, string | null, string | null]>([
    ["a bearer", "Bearer x", "x"],
    ["another scheme", "Basic x", null],
    ["a scheme alone", "Bearer ", null],
    ["nothing", null, null],
  ])("the token of an admin: %s", ([, value, expected]) => {
    expect(bearerToken(new Headers(value === null ? {} : { Authorization: value }))).toBe(expected);
  });
});

describe("tenant ids", () => {
  test.for<[string, string, boolean]>([
    ["one letter", "a", true],
    ["128 letters", "a".repeat(128), true],
    ["129 letters", "a".repeat(129), false],
    ["128 emoji", "😀".repeat(128), true],
    ["129 emoji", "😀".repeat(129), false],
    ["nothing", "", false],
    ["blanks", " \t\n", false],
    ["quotes, backslash and line feed", '14" a\\b\n', true],
    ["a slash", "a/b", true],
    ["half an emoji", "a\ud83d", false],
    ["a dot segment", ".", false],
    ["a double dot segment", "..", false],
    ["three dots", "...", true],
  ])("%s", ([, id, good]) => {
    expect(isTenantId(id)).toBe(good);
    expect(tenantIdSchema.safeParse(id).success).toBe(good);
  });

  test("what is not a text is no tenant", () => {
    for (const value of [undefined, null, 7, ["a"], {}]) expect(isTenantId(value)).toBe(false);
  });
});

describe("new keys", () => {
  test("a secret is hg_ and 256 bits, its hash is SHA-256 in hex, and no two are alike", async () => {
    const [one, other] = [await newKey(), await newKey()];
    expect(one.secret).toMatch(/^hg_[A-Za-z0-9_-]{43}$/);
    expect(one.hash).toBe(await hashSecret(one.secret));
    expect(one.keyId).not.toBe(other.keyId);
    expect(one.secret).not.toBe(other.secret);
  });

  test("the hash of a known text is the known one", async () => {
    expect(await hashSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
