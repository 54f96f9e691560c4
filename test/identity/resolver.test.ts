import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { addressCaller } from "../../src/identity/address.ts";
import { hashSecret } from "../../src/identity/api-key.ts";
import { askAgainForAll, forget, lookUpKey } from "../../src/identity/directory.ts";
import { KnownAnswers } from "../../src/identity/known-answers.ts";
import { resolve } from "../../src/identity/resolver.ts";
import { deleteKey } from "../../src/store/keys.ts";
import { putTenantLimits } from "../../src/store/tenant-limits.ts";
import { findTenant, putTenant } from "../../src/store/tenants.ts";
import { askingAt, basic, bearer, configOf, Deferred, KEEP_MS, tenantWithKey, WatchedD1 } from "./support.ts";

const config = configOf();
const act = { actor: "test", nowMs: 0 };
const NOW_MS = Date.UTC(2026, 9, 1);

let d1: WatchedD1;
let tenant: string;
let made = 0;

beforeEach(() => {
  // Failures of D1 are logged, and here they are wanted.
  vi.spyOn(console, "error").mockReturnValue();
  forget("everything");
  d1 = new WatchedD1();
  tenant = `tenant-${++made}`;
});

const ask = (nowMs: number, headers: Headers, deferred?: Deferred) =>
  resolve(config, askingAt(nowMs, d1, deferred), headers);
const codeOf = async (nowMs: number, headers: Headers) => {
  const resolution = await ask(nowMs, headers);
  return "problem" in resolution ? resolution.problem.code : resolution.kind;
};

describe("a key", () => {
  test("leads to its tenant, with tier and limits, whichever way it is sent", async () => {
    const { secret, keyId } = await tenantWithKey(tenant);
    const limits = (await findTenant(env.DB, tenant))?.limits;
    const caller = {
      tenant,
      kind: "tenant",
      tier: "free",
      limits,
      weight: 1,
      limiterMode: "leased",
      credential: keyId,
      address: "unknown",
    };
    for (const headers of [bearer(secret), new Headers({ "X-API-Key": secret }), basic(tenant, secret)]) {
      expect(await ask(NOW_MS, headers)).toEqual({ kind: "caller", caller });
    }
    expect(d1.queries).toBe(1);
  });

  test("comes with its id and the address that it is used from: two keys, or two addresses, are told apart", async () => {
    const [first, second] = [await tenantWithKey(tenant), await tenantWithKey(tenant)];
    const seen = async (secret: string, address: string) => {
      const headers = bearer(secret);
      headers.set("CF-Connecting-IP", address);
      const resolution = await ask(NOW_MS, headers);
      return resolution.kind === "caller" ? [resolution.caller.credential, resolution.caller.address] : null;
    };
    expect(await seen(first.secret, "192.0.2.7")).toEqual([first.keyId, "192.0.2.7"]);
    expect(await seen(first.secret, "2001:db8:1:2::9")).toEqual([first.keyId, "2001:db8:1:2::/64"]);
    expect(await seen(second.secret, "::ffff:192.0.2.7")).toEqual([second.keyId, "192.0.2.7"]);
  });

  test("with another tenant's name is as unknown as a wrong key", async () => {
    const { secret } = await tenantWithKey(tenant);
    const wrongTenant = await ask(NOW_MS, basic(`${tenant}x`, secret));
    expect(wrongTenant).toMatchObject({ kind: "stranger", problem: { code: "unauthenticated" } });
    expect(await ask(NOW_MS, bearer(`${secret}x`))).toEqual(wrongTenant);
  });

  test("of a suspended tenant is forbidden", async () => {
    const { secret } = await tenantWithKey(tenant);
    await putTenant(env.DB, tenant, { tier: "free", status: "suspended" }, act);
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("forbidden");
  });

  test("that expires is refused on time, also out of what is known", async () => {
    const { secret } = await tenantWithKey(tenant, { expiresAtMs: NOW_MS + 100 });
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("caller");
    expect(await codeOf(NOW_MS + 99, bearer(secret))).toBe("caller");
    expect(await codeOf(NOW_MS + 100, bearer(secret))).toBe("unauthenticated");
    expect(d1.queries).toBe(1);
  });

  test("no credential is nobody", async () => {
    expect(await ask(NOW_MS, new Headers())).toEqual({ kind: "anonymous" });
    expect(d1.queries).toBe(0);
  });
});

describe("how long an answer is used", () => {
  test("under half its time as it is, then refreshed behind the request, once", async () => {
    const { secret } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    const deferred = new Deferred();
    await ask(NOW_MS + KEEP_MS / 2 - 1, bearer(secret), deferred);
    expect([d1.queries, deferred.size]).toEqual([1, 0]);
    const aging = NOW_MS + KEEP_MS / 2;
    await Promise.all([1, 2, 3].map(() => ask(aging, bearer(secret), deferred)));
    expect(deferred.size).toBe(1);
    await deferred.done();
    expect(d1.queries).toBe(2);
    // Fresh again, by the time of the refresh.
    await ask(aging + KEEP_MS / 2 - 1, bearer(secret), deferred);
    expect([d1.queries, deferred.size]).toEqual([2, 0]);
  });

  test("new limits arrive with the refresh", async () => {
    const { secret } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    const changed = await putTenantLimits(env.DB, tenant, { requestsPerSecond: 7, burstSize: 9 }, act);
    const deferred = new Deferred();
    await ask(NOW_MS + KEEP_MS / 2, bearer(secret), deferred);
    await deferred.done();
    const next = await ask(NOW_MS + KEEP_MS / 2, bearer(secret));
    expect(next).toMatchObject({ kind: "caller", caller: { limits: changed?.limits } });
  });

  test("a revoked key works for IDENTITY_CACHE_MS at most, even for two at once", async () => {
    const { secret, keyId } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    await deleteKey(env.DB, tenant, keyId, act);
    expect(await codeOf(NOW_MS + KEEP_MS / 2 - 1, bearer(secret))).toBe("caller");
    const late = NOW_MS + KEEP_MS;
    const both = await Promise.all([codeOf(late, bearer(secret)), codeOf(late, bearer(secret))]);
    expect(both).toEqual(["unauthenticated", "unauthenticated"]);
  });

  test("an answer from a clock that has stepped back since is asked for again", async () => {
    const { secret, keyId } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    await deleteKey(env.DB, tenant, keyId, act);
    expect(await codeOf(NOW_MS - 3_600_000, bearer(secret))).toBe("unauthenticated");
  });

  test("with IDENTITY_CACHE_MS 0 each request asks", async () => {
    const { secret, keyId } = await tenantWithKey(tenant);
    const uncached = () => resolve(config, { ...askingAt(NOW_MS, d1), keepMs: 0 }, bearer(secret));
    expect((await uncached()).kind).toBe("caller");
    await deleteKey(env.DB, tenant, keyId, act);
    expect((await uncached()).kind).toBe("stranger");
  });

  test("a wrong key costs one query a second, however often it is tried", async () => {
    for (const late of [0, 1, 500, 999])
      expect(await codeOf(NOW_MS + late, bearer("hg_wrong"))).toBe("unauthenticated");
    expect(d1.queries).toBe(1);
    await codeOf(NOW_MS + 1000, bearer("hg_wrong"));
    expect(d1.queries).toBe(2);
  });

  test("a key that was tried before it was made works a second later", async () => {
    const { secret, keyId } = await tenantWithKey(tenant);
    await deleteKey(env.DB, tenant, keyId, act);
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("unauthenticated");
    const insert = "INSERT INTO api_keys (id, tenant_id, hash, created_at) VALUES (?, ?, ?, 0)";
    await env.DB.prepare(insert)
      .bind(keyId, tenant, await hashSecret(secret))
      .run();
    expect(await codeOf(NOW_MS + 1000, bearer(secret))).toBe("caller");
  });
});

describe("while D1 fails", () => {
  test("the last known answer holds, however old", async () => {
    const { secret } = await tenantWithKey(tenant);
    const known = await ask(NOW_MS, bearer(secret));
    d1.mood = "fails";
    expect(await ask(NOW_MS + 30 * 24 * 3_600_000, bearer(secret))).toEqual(known);
  });

  test("a key that was never known is unavailable, not wrong", async () => {
    const { secret } = await tenantWithKey(tenant);
    d1.mood = "fails";
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("unavailable");
    d1.mood = "well";
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("caller");
  });

  test("one failure a second is all that an outage costs an answer", async () => {
    const { secret } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    d1.mood = "fails";
    for (const late of [0, 1, 999]) expect(await codeOf(NOW_MS + KEEP_MS + late, bearer(secret))).toBe("caller");
    expect(d1.queries).toBe(2);
    await codeOf(NOW_MS + KEEP_MS + 1000, bearer(secret));
    expect(d1.queries).toBe(3);
  });

  test("one that does not answer has failed", async () => {
    const { secret } = await tenantWithKey(tenant);
    const known = await ask(NOW_MS, bearer(secret));
    d1.mood = "hangs";
    vi.useFakeTimers();
    try {
      const late = ask(NOW_MS + KEEP_MS, bearer(secret));
      await vi.runAllTimersAsync();
      expect(await late).toEqual(known);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a refresh that fails leaves the answer, and the request that began it is answered", async () => {
    const { secret } = await tenantWithKey(tenant);
    const known = await ask(NOW_MS, bearer(secret));
    d1.mood = "fails";
    const deferred = new Deferred();
    expect(await ask(NOW_MS + KEEP_MS / 2, bearer(secret), deferred)).toEqual(known);
    await deferred.done();
    expect(await ask(NOW_MS + KEEP_MS / 2 + 1, bearer(secret), deferred)).toEqual(known);
  });
});

describe("what an admin write makes this isolate forget", () => {
  test.for<[string, (of: { keyId: string }) => void]>([
    ["its tenant", () => forget({ tenant })],
    ["its key", ({ keyId }) => forget({ keyId })],
    ["everything", () => forget("everything")],
    ["nothing, but all is asked again", () => askAgainForAll()],
  ])("%s: a revoked key is refused at once", async ([, forgetting]) => {
    const { secret, keyId } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    await deleteKey(env.DB, tenant, keyId, act);
    forgetting({ keyId });
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("unauthenticated");
  });

  test("others are known as before", async () => {
    const { secret } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    forget({ tenant: `${tenant}-other` });
    forget({ keyId: "key_other" });
    await ask(NOW_MS, bearer(secret));
    expect(d1.queries).toBe(1);
  });

  test("what is only asked again still holds while D1 fails; what is forgotten does not", async () => {
    const { secret } = await tenantWithKey(tenant);
    await ask(NOW_MS, bearer(secret));
    d1.mood = "fails";
    askAgainForAll();
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("caller");
    forget({ tenant });
    expect(await codeOf(NOW_MS, bearer(secret))).toBe("unavailable");
  });

  test("an answer that was asked for before the write does not come back after it", async () => {
    const { secret, hash } = await tenantWithKey(tenant);
    const asking = askingAt(NOW_MS, d1);
    const before = lookUpKey(asking, { hash });
    forget({ tenant });
    await before;
    await ask(NOW_MS, bearer(secret));
    expect(d1.queries).toBe(2);
  });
});

describe("callers by address", () => {
  test.for<[string, string | null, string]>([
    ["IPv4", "192.0.2.7", "192.0.2.7"],
    ["IPv6 by /64", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["IPv4 in IPv6", "::ffff:192.0.2.7", "192.0.2.7"],
    ["none", null, "unknown"],
    ["nonsense", "nonsense", "unknown"],
  ])("%s", async ([, address, key]) => {
    const headers = new Headers(address === null ? {} : { "CF-Connecting-IP": address });
    const caller = await addressCaller(askingAt(NOW_MS, d1), headers);
    expect(caller).toMatchObject({ kind: "address", tenant: key, tier: "anonymous", credential: null, address: key });
    expect(caller.limits?.policies).toHaveLength(1);
  });

  test("without D1 and without memory the limits are unknown, not zero", async () => {
    d1.mood = "fails";
    const caller = await addressCaller(askingAt(NOW_MS, d1), new Headers());
    const unknown = { tenant: "unknown", credential: null, address: "unknown" };
    expect(caller).toEqual({ kind: "address", tier: null, limits: null, weight: 1, limiterMode: "leased", ...unknown });
  });
});

describe("the memory of answers", () => {
  test("holds so many and forgets the one that was asked for longest ago", () => {
    const answers = new KnownAnswers<number>(2);
    answers.put("a", 1, 0);
    answers.put("b", 2, 1);
    answers.put("a", 3, 2);
    answers.put("c", 4, 3);
    expect([answers.get("a"), answers.get("b"), answers.get("c"), answers.size]).toEqual([3, undefined, 4, 2]);
  });
});
