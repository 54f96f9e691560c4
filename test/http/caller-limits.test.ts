import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { CommandEngine } from "../../src/durable/command-engine.ts";
import type { AppEnv } from "../../src/http/app-env.ts";
import { takeRead } from "../../src/http/caller-limits.ts";
import { UNKNOWN_ACCOUNT } from "../../src/identity/caller.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// What costs a caller no token has a bound all the same: reads of the engine, faulty requests, and calls that are left.

const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const from = (address: string) => ({ "CF-Connecting-IP": address });
const statusesOf = async (count: number, ask: () => Promise<{ status: number }>) => {
  const counts: Record<number, number> = {};
  for (let n = 0; n < count; n++) {
    const { status } = await ask();
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
};

describe("reads", () => {
  test("of /readyz and /v1/queue ask the engine ten times at once, however many there are", async () => {
    const tenant = await newTenant("poller");
    const flows = vi.spyOn(CommandEngine.prototype, "flowSettings");
    const statuses = vi.spyOn(CommandEngine.prototype, "status");
    expect(await statusesOf(100, () => call("GET", "/readyz", from("192.0.2.20")))).toEqual({ 200: 100 });
    expect(await statusesOf(100, () => call("GET", "/v1/queue", tenant))).toEqual({ 200: 100 });
    expect(flows.mock.calls.length).toBeLessThanOrEqual(10);
    expect(statuses.mock.calls.length).toBeLessThanOrEqual(10);
  });

  test("past two thousand at once are a 429 that names the limit, of that tenant alone", async () => {
    const [busy, other] = [await newTenant("busy"), await newTenant("other")];
    const read = () => call("GET", "/v1/limits", busy);
    expect((await read()).status).toBe(200);
    // Of the same isolate: two thousand whole requests take longer than a test may.
    const left = new Hono<AppEnv>().get("*", (c) => {
      c.set("caller", { ...UNKNOWN_ACCOUNT, kind: "tenant", tenant: "busy", credential: null, address: "unknown" });
      c.set("nowMs", Date.now());
      let admitted = 0;
      while (takeRead(c).outcome === "allowed") admitted += 1;
      return c.json(admitted);
    });
    expect(await (await left.request("/")).json()).toBe(1_999);
    const refused = await read();
    expect(refused).toMatchObject({ status: 429, body: { "violated-policies": ["reads"], retryAfterSeconds: 1 } });
    expect(refused.headers.get("RateLimit")).toBe('"reads";r=0;t=1');
    expect((await call("GET", "/v1/commands/1?wait=5", busy)).status).toBe(429);
    expect((await call("GET", "/v1/commands/1", other)).status).toBe(404);
    expect((await call("POST", "/v1/check", busy, {})).status).toBe(200);
  });
});

describe("faulty requests", () => {
  test("are named a hundred times, and then refused before they are looked into", async () => {
    const tenant = await newTenant("fuzzer");
    const junk = () => call("POST", "/v1/commands", tenant, "{");
    expect(await statusesOf(100, junk)).toEqual({ 400: 100 });
    const refused = await junk();
    expect(refused).toMatchObject({ status: 429, body: { "violated-policies": ["faulty-requests"] } });
    expect(refused.headers.get("Retry-After")).toBe("1");
    vi.setSystemTime(Date.now() + 1_000);
    expect(await statusesOf(25, junk)).toEqual({ 400: 20, 429: 5 });
  });

  test("of one credential cost neither another of its tenant nor other addresses anything", async () => {
    const tenant = await newTenant("two-keys");
    const made = await call<{ key: string }>("POST", "/admin/tenants/two-keys/keys", ADMIN, {});
    const other = { Authorization: `Bearer ${made.body.key}` };
    await statusesOf(120, () => call("POST", "/v1/check", tenant, '{"costs":1}'));
    expect((await call("POST", "/v1/check", tenant, {})).status).toBe(429);
    expect((await call("POST", "/v1/check", other, {})).status).toBe(200);
    await statusesOf(120, () => call("GET", "/readyz?verbose", from("192.0.2.30")));
    expect((await call("GET", "/readyz", from("192.0.2.30"))).status).toBe(429);
    expect((await call("GET", "/readyz", from("192.0.2.31"))).status).toBe(200);
  });

  test("that are not faults of the caller are not counted", async () => {
    const tenant = await newTenant("unlucky");
    await statusesOf(150, () => call("GET", "/v1/commands/1", tenant));
    expect((await call("POST", "/v1/check", tenant, {})).status).toBe(200);
  });
});

describe("a caller that hangs up", () => {
  const app = createApp(parseConfig({ ADMIN_TOKEN: "test-admin" }));
  const lines: string[] = [];
  const gone = async (headers: Record<string, string>) => {
    const tasks: Promise<unknown>[] = [];
    const hangUp = new AbortController();
    const body = JSON.stringify(CREATE);
    const request = new Request("https://gate.test/v1/commands", {
      method: "POST",
      headers,
      body,
      signal: hangUp.signal,
    });
    const context = {
      waitUntil: (task: Promise<unknown>) => void tasks.push(task),
      passThroughOnException: () => undefined,
      props: {},
    };
    hangUp.abort();
    const answer = await app.fetch(request, env, context as unknown as ExecutionContext);
    await Promise.all(tasks);
    return answer.status;
  };

  test("after layer 1 has charged is paid back, and is no error of ours", async () => {
    // An isolate logs 20 refused requests a second, which the tests before may have used up.
    vi.setSystemTime(Date.now() + 10_000);
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((...said: unknown[]) => void lines.push(said.join(" ")));
    }
    const tenant = await newTenant("left", { requestsPerSecond: 0, burstSize: 3 });
    const submits = vi.spyOn(CommandEngine.prototype, "submit");
    for (let n = 0; n < 5; n++) expect(await gone(tenant)).toBe(499);
    expect(submits).not.toHaveBeenCalled();
    expect((await call("GET", "/v1/limits", tenant)).body).toMatchObject({ policies: [{ remaining: 3 }] });
    expect(lines.join("\n")).not.toMatch(/internal|stack/);
    expect(lines.filter((line) => line.includes('"decision":"client_closed"'))).toHaveLength(5);
  });
});
