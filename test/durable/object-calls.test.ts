import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Config, parseConfig } from "../../src/config.ts";
import { type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";
import { AlarmSetting } from "../../src/durable/alarm-setting.ts";
import { Alarms } from "../../src/durable/alarms.ts";
import type { EngineParts } from "../../src/durable/engine-parts.ts";
import { applyLimits, limiterUsage } from "../../src/durable/limiter-admin.ts";
import { checkLimits, observeLatencies, refundCaller } from "../../src/durable/limiters.ts";
import { engineOf, limiterOf } from "../../src/durable/stubs.ts";
import { UsageFlush } from "../../src/durable/usage-flush.ts";
import type { Caller } from "../../src/identity/caller.ts";
import { envWithout } from "../http/admin-support.ts";

// Calls of objects, and what is left of those that fail: a line in the log, and nothing done twice.

const T0 = 4_000_000_000_000;
const config: Config = parseConfig({ ADMIN_TOKEN: "test-admin", VIEWER_TOKEN: "test-viewer" });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function callerOf(tenant: string, policies: readonly Policy[]): Caller {
  const account = { tenant, kind: "tenant" as const, tier: "premium", limits: { version: 1, policies }, weight: 1 };
  return { ...account, limiterMode: "leased", credential: "k", address: "192.0.2.1" };
}

function askerOf(caller: Caller, bindings: Env = env) {
  return { env: bindings, config, caller, nowMs: Date.now(), afterwards: () => undefined };
}

/** What has been logged, by event. */
function heard() {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  return () => warn.mock.calls.map(([line]) => String(JSON.parse(String(line)).event));
}

/** The Worker's bindings, with the methods that are called of limiters by name. */
function recording() {
  const called: string[] = [];
  const TENANT_LIMITER = new Proxy(env.TENANT_LIMITER, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name !== "get") return typeof value === "function" ? value.bind(target) : value;
      return (id: DurableObjectId) =>
        new Proxy(target.get(id), {
          get: (stub, method) => {
            called.push(String(method));
            return Reflect.get(stub, method);
          },
        });
    },
  });
  return { env: { ...env, TENANT_LIMITER }, called };
}

test("awaiting what calls an object calls nothing", async () => {
  for (const calls of [limiterOf(env, "tenant:awaited"), engineOf(env, 0)]) {
    expect(await Promise.resolve(calls)).toBe(calls);
    expect([Reflect.get(calls, "then"), Reflect.get(calls, Symbol.toPrimitive)]).toEqual([undefined, undefined]);
  }
});

describe("an admin write", () => {
  const perKey: Policy = { ...tokenBucketPolicy({ tokens: 1_000, perSeconds: 1 }, 1_000), scope: "key" };

  /** Lends tokens for so many keys to this isolate. */
  async function lend(caller: Caller, keys: number): Promise<void> {
    for (let key = 0; key < keys; key++) {
      for (let n = 0; n < 20; n++) {
        await checkLimits(askerOf(caller), { cost: 1, critical: false, key: `k${key}` });
      }
    }
  }

  test("settles all leases of its isolate with one call, and the counts are exact", async () => {
    const caller = callerOf("batched", [perKey]);
    await lend(caller, 30);
    const { env: bindings, called } = recording();
    await applyLimits(bindings, "batched", { version: 2, policies: [perKey] });
    expect(called).toEqual(["settle", "apply"]);
    expect(await limiterUsage(env, "batched")).toMatchObject({ admitted: 30 * 20 });
  });

  test("takes effect though its leases cannot be settled, with a line in the log", async () => {
    const caller = callerOf("unsettled", [perKey]);
    await lend(caller, 2);
    const events = heard();
    const { env: bindings, called } = recording();
    const TENANT_LIMITER = new Proxy(bindings.TENANT_LIMITER, {
      get: (target, name) => {
        if (name !== "get") return Reflect.get(target, name);
        return (id: DurableObjectId) =>
          new Proxy(target.get(id), {
            get: (stub, method) =>
              method === "settle" ? () => Promise.reject(new Error("away")) : Reflect.get(stub, method),
          });
      },
    });
    await applyLimits({ ...bindings, TENANT_LIMITER }, "unsettled", { version: 2, policies: [perKey] });
    expect([called, events()]).toEqual([["apply"], ["lease_lost"]]);
  });
});

describe("a charge that is given back again and again", () => {
  const policy = tokenBucketPolicy({ tokens: 0, perSeconds: 1 }, 1_000);

  test.each([1, 40])("is given back once (after %i charges)", async (charges) => {
    const caller = callerOf(`refunded-${charges}`, [policy]);
    let last: Awaited<ReturnType<typeof checkLimits>> | null = null;
    for (let n = 0; n < charges; n++) last = await checkLimits(askerOf(caller), { cost: 1, critical: false });
    if (last?.kind !== "decided" || last.decision.receipt === undefined) throw new Error("it was to be charged");
    for (let n = 0; n < 5; n++) await refundCaller(askerOf(caller), 1, structuredClone(last.decision.receipt));
    // All that is leased goes back, and the receipt once more.
    expect(await limiterUsage(env, caller.tenant)).toMatchObject({ admitted: charges - 1 });
    await refundCaller(askerOf(caller), 1, last.decision.receipt);
    const { reports } = await lookAt(caller);
    expect(reports[0]?.remaining).toBe(1_000 - charges + 1);
  });

  async function lookAt(caller: Caller) {
    const answer = await checkLimits(askerOf(caller), { cost: 0, critical: false });
    if (answer.kind !== "decided") throw new Error("it was to answer");
    return answer.decision;
  }
});

test("what a limiter does not hear of how long commands took is a line in the log, and no rejection", async () => {
  const events = heard();
  const caller = callerOf("unheard", []);
  expect(await observeLatencies(envWithout("TENANT_LIMITER"), caller, [1])).toBeUndefined();
  expect(events()).toEqual(["latencies_lost"]);
});

describe("an alarm that cannot be set", () => {
  /** A storage that fails until it is told to work. */
  function storage() {
    const set: number[] = [];
    const state = { fails: true, set };
    const setAlarm = async (atMs: number | Date) => {
      if (state.fails) throw new Error("the disk is away");
      set.push(Number(atMs));
    };
    return { state, setAlarm };
  }

  test("is one line in the log however often it is tried, and one more after it worked", async () => {
    const events = heard();
    const { state, setAlarm } = storage();
    const alarm = new AlarmSetting({ setAlarm }, "engine");
    expect([await alarm.set(1), await alarm.set(2), events().length]).toEqual([false, false, 1]);
    state.fails = false;
    expect(await alarm.set(3)).toBe(true);
    state.fails = true;
    expect([await alarm.set(4), events()]).toEqual([false, ["alarm_not_set", "alarm_not_set"]]);
  });

  test("is tried again by the engine's next event, also for the same time", async () => {
    const events = heard();
    const { state, setAlarm } = storage();
    const alarms = new Alarms({ storage: { setAlarm } } as unknown as EngineParts, { piece: () => false });
    alarms.plan(1_000);
    await vi.advanceTimersByTimeAsync(0);
    alarms.plan(1_000);
    await vi.advanceTimersByTimeAsync(0);
    state.fails = false;
    alarms.plan(1_000);
    await vi.advanceTimersByTimeAsync(0);
    expect([state.set, events()]).toEqual([[T0 + 1_000], ["alarm_not_set"]]);
  });

  test("is tried again when its limiter next falls idle", async () => {
    heard();
    const { state, setAlarm } = storage();
    const alarm = new AlarmSetting({ setAlarm }, "limiter");
    const host = { isActive: () => false, save: () => undefined, setAlarm: (atMs: number) => alarm.set(atMs) };
    const usage = new UsageFlush(envWithout("DB").DB, config, "tenant:alarmed", null, host);
    usage.count(1, 0, Date.now());
    usage.whenIdle(Date.now());
    await vi.advanceTimersByTimeAsync(0);
    usage.whenIdle(Date.now());
    await vi.advanceTimersByTimeAsync(0);
    expect(state.set).toEqual([]);
    state.fails = false;
    usage.whenIdle(Date.now());
    await vi.advanceTimersByTimeAsync(0);
    expect(state.set.length).toBe(1);
  });
});
