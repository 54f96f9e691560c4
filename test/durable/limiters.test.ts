import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { tokenBucketPolicy } from "../../src/core/policy.ts";
import { checkLimits } from "../../src/durable/limiters.ts";
import type { Caller } from "../../src/identity/caller.ts";

// An isolate and its limiter object, with calls between them that fail in every way that there is.

const T0 = 4_000_000_000_000;
const CHECKS = 5_000;
const config = parseConfig({ ADMIN_TOKEN: "test-admin", VIEWER_TOKEN: "test-viewer" });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.setSystemTime(T0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Check = (...call: unknown[]) => Promise<unknown>;
/** What becomes of one call. @param check the call as it would be */
type Fate = (check: Check, call: unknown[]) => Promise<unknown>;

/** The Worker's bindings, with every check counted; the call of this number meets its fate. */
function failing(atCall: number, fate: Fate) {
  const counted = { calls: 0 };
  const TENANT_LIMITER = new Proxy(env.TENANT_LIMITER, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name !== "get") return typeof value === "function" ? value.bind(target) : value;
      return (id: DurableObjectId) => {
        const stub = target.get(id);
        const check: Check = (...call) => Reflect.apply(Reflect.get(stub, "check") as Check, stub, call);
        const counting: Check = (...call) => {
          counted.calls += 1;
          return counted.calls === atCall ? fate(check, call) : check(...call);
        };
        return new Proxy(stub, { get: (of, method) => (method === "check" ? counting : Reflect.get(of, method)) });
      };
    },
  });
  return { env: { ...env, TENANT_LIMITER }, counted };
}

function callerOf(tenant: string): Caller {
  const limits = { version: 1, policies: [tokenBucketPolicy({ tokens: 1_000, perSeconds: 1 }, 2_000)] };
  const account = { tenant, kind: "tenant" as const, tier: "premium", limits, weight: 1 };
  return { ...account, limiterMode: "leased", credential: "k", address: "192.0.2.1" };
}

/** Asks so often, 2 ms apart. @returns how many were decided at the edge, without a call */
async function ask(bindings: ReturnType<typeof failing>, caller: Caller, times: number): Promise<number> {
  const before = bindings.counted.calls;
  const behind: Promise<void>[] = [];
  for (let n = 0; n < times; n++) {
    vi.setSystemTime(Date.now() + 2);
    const afterwards = (work: Promise<void>) => void behind.push(work);
    const asker = { env: bindings.env, config, caller, nowMs: Date.now(), afterwards };
    try {
      await checkLimits(asker, { cost: 1, critical: false });
    } catch {
      // One fails with its call; the others must not.
    }
  }
  return times - (bindings.counted.calls - before);
}

const bug = (): Error => Object.assign(new Error("a bug"), { remote: true });

describe("after a call that fails, the isolate is lent tokens again", () => {
  const fates: [string, Fate][] = [
    ["throws", () => Promise.reject(bug())],
    ["throws once it has charged", (check, call) => check(...call).then(() => Promise.reject(bug()))],
    ["cannot be reached", () => Promise.reject(new Error("away"))],
    ["is reset", () => Promise.reject(Object.assign(bug(), { durableObjectReset: true }))],
    ["does not know the limits, though they were told", async () => ({ outcome: "unknown_limits" })],
    ["answers what no version says", async () => ({ outcome: "sure" })],
    ["answers nothing", async () => undefined],
    [
      "lends no number",
      async () => ({ outcome: "allowed", reports: [], view: { meters: [], grant: { tokens: "all" } } }),
    ],
  ];
  // The first call, the one that brings the first lease, and one that is made behind a request.
  const calls = [1, 9, 12];
  test.each(fates.flatMap(([what, fate]) => calls.map((at) => [what, at, fate] as const)))(
    "%s (call %i)",
    async (what, at, fate) => {
      vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const caller = callerOf(`fails-${at}-${what}`);
      const healthy = await ask(failing(0, fate), callerOf(`healthy-${at}-${what}`), CHECKS);
      const failed = await ask(failing(at, fate), caller, CHECKS);
      expect(healthy).toBeGreaterThan(0.98 * CHECKS);
      expect(failed).toBeGreaterThan(healthy - 50);
    },
  );

  test("is never answered, and its request has ended with its caller", async () => {
    const bindings = failing(9, () => new Promise(() => undefined));
    const caller = callerOf("never");
    let waits = true;
    const asking = ask(bindings, caller, 1_000).then(() => {
      waits = false;
    });
    await vi.waitFor(() => expect(bindings.counted.calls).toBe(9));
    // This request waits for ever; others come.
    const others = await ask(bindings, caller, 2_000);
    expect(others).toBeGreaterThan(1_300);
    vi.advanceTimersByTime(2_000);
    await asking;
    expect(waits).toBe(false);
  });

  test("that fails behind a request leaves a line in the log, and no rejection", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    for (let at = 9; at < 30; at++)
      await ask(
        failing(at, () => Promise.reject(bug())),
        callerOf(`line-${at}`),
        700,
      );
    const events = warn.mock.calls.map(([line]) => JSON.parse(String(line)).event);
    expect(events).toContain("lease_not_renewed");
  });
});
