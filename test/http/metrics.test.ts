import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { settled } from "../support/event-loop.ts";
import { ADMIN, call, engineStub, newTenant, VIEWER } from "../support/http.ts";
import { type Scraped, scraped } from "../support/prometheus.ts";
import { appOf, envWithout } from "./admin-support.ts";
import { holdIdleTimers, tellDatabase } from "./idle-support.ts";

const START_MS = Date.UTC(2096, 9, 1, 12);
const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "p", tasks: [{ type: "t" }] } };
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
  holdIdleTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function get(headers: Record<string, string> = {}) {
  const response = await exports.default.fetch("https://gate.test/metrics", {
    headers: { "CF-Connecting-IP": "192.0.2.9", ...headers },
  });
  // Not as text: what runs the tests takes OpenMetrics for something else, and warns.
  return { response, text: new TextDecoder().decode(await response.arrayBuffer()) };
}

/** A scrape that is not answered from what another one heard a moment before. */
async function scrape(headers: Record<string, string> = ADMIN): Promise<Scraped> {
  vi.setSystemTime(Date.now() + 2_000);
  return scraped((await get(headers)).text);
}

const check = (credential: Record<string, string>) => call("POST", "/v1/check", credential, {});
const send = async (credential: Record<string, string>, command: object) =>
  (await call("POST", "/v1/commands", credential, command)).status;

describe("after an exact scenario", () => {
  test("the counters are what was sent: accepted, refused by code, checks by tier and outcome", async () => {
    const alpha = await newTenant("alpha");
    const beta = await newTenant('be"ta\\', { requestsPerSecond: 1, burstSize: 2 });
    await call("PUT", `/admin/tenants/${encodeURIComponent('be"ta\\')}`, ADMIN, { tier: "free" });
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 2, enqueueWaitMs: 0, algorithm: "none" });

    expect(await send(alpha, DEPLOY)).toBe(202);
    await call("POST", "/admin/engine/pause", ADMIN, {});
    for (let n = 0; n < 2; n++) expect(await send(alpha, CREATE)).toBe(202);
    // The first is let through after a second and refused by the engine, the others by what the edge has heard of it.
    vi.setSystemTime(START_MS + 1_000);
    for (let n = 0; n < 3; n++) expect(await send(alpha, CREATE)).toBe(503);
    const full = await scrape();
    expect(full.value("headgate_queue_depth")).toBe(2);
    expect(full.value("headgate_queue_bound")).toBe(2);
    expect(full.value("headgate_queue_depth_ratio")).toBe(1);
    expect(full.value("headgate_queue_oldest_seconds")).toBe(3);
    expect(full.value("headgate_inflight")).toBe(2);
    expect(full.value("headgate_paused")).toBe(1);
    await tellDatabase("alpha");

    for (let n = 0; n < 5; n++) await check(beta);
    expect(await send(beta, CREATE)).toBe(429);
    await tellDatabase('be"ta\\');
    for (let n = 0; n < 2; n++) expect((await check({ Authorization: "Bearer nobody" })).status).toBe(401);
    await call("POST", "/admin/engine/resume", ADMIN);

    const seen = await scrape();
    const commands = (outcome: string) => seen.value("headgate_commands_total", { outcome });
    expect(["accepted", "succeeded", "failed", "dead", "cancelled", "expired"].map(commands)).toEqual([
      3, 3, 0, 0, 0, 0,
    ]);
    const refused = (code: string) => seen.value("headgate_refused_total", { code });
    expect(["queue_full", "rate_limited", "write_limit", "engine_paused"].map(refused)).toEqual([3, 1, 0, 0]);
    const checks = (tier: string) =>
      ["admitted", "refused", "returned"].map((outcome) => seen.value("headgate_checks_total", { tier, outcome }));
    // Of alpha's, the one that the engine refused was given back; those refused at the edge were never charged.
    expect(checks("standard")).toEqual([4, 0, 1]);
    expect(checks("free")).toEqual([2, 4, 0]);
    expect(checks("anonymous")).toEqual([2, 0, 0]);
    const ofTenant = (tenant: string, outcome: string) =>
      seen.value("headgate_tenant_checks_total", { tenant, outcome });
    expect([ofTenant("alpha", "admitted"), ofTenant("alpha", "returned")]).toEqual([4, 1]);
    expect([ofTenant('be"ta\\', "admitted"), ofTenant('be"ta\\', "refused")]).toEqual([2, 4]);
    expect([ofTenant("other", "admitted"), ofTenant("other", "refused")]).toEqual([0, 0]);
    expect(seen.value("headgate_retry_after_seconds_count")).toBe(4);
    expect(seen.value("headgate_retry_after_seconds_bucket", { le: "1.0" })).toBe(1);
    expect(seen.value("headgate_processing_seconds_count")).toBe(3);
    expect(seen.value("headgate_processing_seconds_bucket", { le: "0.005" })).toBe(1);
    expect(seen.value("headgate_dead_letters")).toBe(0);
    expect(seen.value("headgate_limiter_degraded_total")).toBe(0);
    expect(seen.value("headgate_paused")).toBe(0);

    expect(seen.value("zeebe_backpressure_inflight_requests_count", { partition: "1" })).toBe(0);
    expect(seen.value("zeebe_dropped_request_count_total", { partition: "1" })).toBe(3);
    expect(seen.value("zeebe_received_request_count_total", { partition: "1" })).toBe(6);
    const flow = (outcome: string) => seen.value("zeebe_flow_control_total", { context: "userCommand", outcome });
    expect([flow("accepted"), flow("requestLimitExhausted"), flow("writeRateLimitExhausted")]).toEqual([3, 3, 0]);
  });

  test("limits are shown while there are some", async () => {
    expect((await scrape()).families.has("headgate_inflight_limit")).toBe(false);
    const flow = { algorithm: "aimd", writeRate: { perSecond: 7, burst: 7, warmUpSeconds: 0 } };
    expect((await call("PATCH", "/admin/flow-control", ADMIN, flow)).status).toBe(200);
    const seen = await scrape();
    expect(seen.value("headgate_inflight_limit")).toBe(200);
    expect(seen.value("headgate_inflight_limit_floor")).toBe(1);
    expect(seen.value("zeebe_backpressure_requests_limit")).toBe(200);
    expect(seen.value("headgate_write_rate_limit")).toBe(7);
  });
});

describe("the text", () => {
  test.for<[string | undefined, "text/plain; version=0.0.4" | "application/openmetrics-text; version=1.0.0"]>([
    [undefined, "text/plain; version=0.0.4"],
    ["*/*", "text/plain; version=0.0.4"],
    ["text/plain;version=0.0.4", "text/plain; version=0.0.4"],
    ["application/openmetrics-text", "application/openmetrics-text; version=1.0.0"],
    [
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      "application/openmetrics-text; version=1.0.0",
    ],
    ["text/plain;q=0.9,application/openmetrics-text;q=0.1", "text/plain; version=0.0.4"],
    ["text/html", "text/plain; version=0.0.4"],
  ])("to Accept: %s is %s", async ([accept, type]) => {
    const { response, text } = await get(accept === undefined ? {} : { Accept: accept });
    expect(response.headers.get("Content-Type")).toBe(`${type}; charset=utf-8`);
    expect(text.endsWith("# EOF\n")).toBe(type.startsWith("application"));
  });

  test("names each part's answer, and shows what the others told", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const get = appOf({});
    const broken = { ...envWithout("DB"), COMMAND_ENGINE: brokenEngines() };
    for (const [given, database, engine] of [
      [envWithout("DB"), 0, 1],
      [{ ...env, COMMAND_ENGINE: brokenEngines() }, 1, 0],
      [broken, 0, 0],
    ] as const) {
      vi.setSystemTime(Date.now() + 2_000);
      const { status, text } = await get("GET", "/metrics", { headers: VIEWER, env: given, asText: true });
      expect(status).toBe(200);
      const seen = scraped(String(text));
      expect(seen.value("headgate_up", { part: "database" })).toBe(database);
      expect(seen.value("headgate_up", { part: "engine", partition: "1" })).toBe(engine);
      expect(seen.families.has("headgate_queue_depth")).toBe(engine === 1);
      expect(seen.families.has("headgate_tenant_checks_total")).toBe(database === 1);
    }
  });
});

describe("what an isolate did without the engine", () => {
  test("is told after ten seconds with whatever request comes, and once", async () => {
    const counted = async () => {
      const { counters, operator } = await runInDurableObject(engineStub(), (engine) => engine.status({}));
      return { refused: counters.refused.rate_limited ?? 0, told: operator.measured.retryAfter.sum };
    };
    await scrape();
    const before = await counted();
    const tenant = await newTenant("told-later", { requestsPerSecond: 0.1, burstSize: 1 });
    await check(tenant);
    expect(await send(tenant, CREATE)).toBe(429);
    vi.setSystemTime(Date.now() + 9_999);
    await call("GET", "/healthz");
    await settled();
    expect(await counted()).toEqual(before);
    for (const ms of [1, 20_000]) {
      vi.setSystemTime(Date.now() + ms);
      await call("GET", "/healthz");
      await settled();
      expect(await counted()).toEqual({ refused: before.refused + 1, told: before.told + 10 });
    }
  });

  test("includes requests that no limiter answered for", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const tenant = await newTenant("degraded");
    const degraded = async () => (await scrape()).value("headgate_limiter_degraded_total") ?? 0;
    const before = await degraded();
    const given = { headers: tenant, body: {}, env: envWithout("TENANT_LIMITER") };
    expect((await appOf()("POST", "/v1/check", given)).headers.get("X-Headgate-Degraded")).toBe("limiter");
    expect((await appOf({ LIMITER_FAILURE: "closed" })("POST", "/v1/check", given)).status).toBe(503);
    expect(await degraded()).toBe(before + 2);
  });
});

test("each partition is a series of its own, and there are no more calls than partitions", async () => {
  vi.setSystemTime(Date.now() + 2_000);
  const { text } = await appOf({ ENGINE_PARTITIONS: "3" })("GET", "/metrics", { asText: true });
  const seen = scraped(text ?? "");
  expect(seen.labels("headgate_queue_depth", "partition")).toEqual(["1", "2", "3"]);
  expect(seen.labels("zeebe_backpressure_inflight_requests_count", "partition")).toEqual(["1", "2", "3"]);
  expect(seen.value("headgate_up", { part: "engine", partition: "3" })).toBe(1);
});

test("a tenant that is called as the others are together is counted among them", async () => {
  const other = await newTenant("other");
  const others = async () =>
    (await scrape()).value("headgate_tenant_checks_total", { tenant: "other", outcome: "admitted" });
  const before = (await others()) ?? 0;
  for (let n = 0; n < 3; n++) await check(other);
  await tellDatabase("other");
  expect(await others()).toBe(before + 3);
});

describe("who may see it", () => {
  test("without a token nothing names a tenant; with one of either kind tenants are there too", async () => {
    const shown = async (headers: Record<string, string>) => {
      const seen = await scrape(headers);
      return [seen.families.has("headgate_queue_depth"), seen.families.has("headgate_tenant_checks_total")];
    };
    expect(await shown({})).toEqual([true, false]);
    expect(await shown(VIEWER)).toEqual([true, true]);
    expect(await shown(ADMIN)).toEqual([true, true]);
    expect((await get()).text).not.toContain("alpha");
  });

  test("a wrong token is answered as everywhere: 401, and 429 for whoever goes on guessing", async () => {
    const guess = async () => (await get({ Authorization: "Bearer wrong", "CF-Connecting-IP": "192.0.2.77" })).response;
    expect((await guess()).status).toBe(401);
    for (let n = 0; n < 20; n++) await guess();
    const over = await guess();
    expect(over.status).toBe(429);
    expect(over.headers.get("Retry-After")).toBe("1");
  });
});

test("however often it is asked for, the parts are asked once a second", async () => {
  vi.setSystemTime(Date.now() + 2_000);
  const batches = vi.spyOn(env.DB, "batch");
  await get();
  const asked = batches.mock.calls.length;
  for (let n = 0; n < 50; n++) await get();
  expect(batches.mock.calls.length).toBe(asked);
  vi.setSystemTime(Date.now() + 1_000);
  await Promise.all(Array.from({ length: 50 }, () => get()));
  expect(batches.mock.calls.length).toBe(asked + 1);
});

function brokenEngines(): Env["COMMAND_ENGINE"] {
  const away = async () => {
    throw new Error("away");
  };
  const stub = new Proxy({}, { get: () => away });
  return new Proxy(env.COMMAND_ENGINE, { get: () => () => stub });
}
