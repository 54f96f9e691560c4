import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ADMIN, call, newTenant, VIEWER } from "../support/http.ts";
import { fallIdle, holdIdleTimers, runIdleTimers, tellDatabase } from "./idle-support.ts";

const START_MS = Date.UTC(2096, 9, 1, 12, 0, 30);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
  holdIdleTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const check = (credential: Record<string, string>, cost = 1) => call("POST", "/v1/check", credential, { cost });
const usageOf = async (tenant: string, query = "") =>
  (await call(`GET`, `/admin/tenants/${tenant}/usage${query}`, VIEWER)).body;
const overview = async (query = "") => (await call("GET", `/admin/usage${query}`, VIEWER)).body;

describe("a tenant's usage", () => {
  test("tells what was admitted and refused by minute, before and after it is written down", async () => {
    const credential = await newTenant("by-minute", { requestsPerSecond: 1, burstSize: 2 });
    for (let n = 0; n < 3; n++) await check(credential);
    const minute = "2096-10-01T12:00:00.000Z";
    const expected = { admitted: 2, refused: 1, minutes: [{ minute, admitted: 2, refused: 1 }] };
    expect(await usageOf("by-minute")).toMatchObject(expected);
    await fallIdle("by-minute");
    expect(await usageOf("by-minute")).toMatchObject({ ...expected, note: expect.stringContaining("memory is lost") });
    await abortAllDurableObjects();
    expect(await usageOf("by-minute")).toMatchObject(expected);
    await tellDatabase("by-minute");
    expect(await usageOf("by-minute")).toMatchObject(expected);
    vi.setSystemTime(START_MS + 180_000);
    await check(credential);
    expect(await usageOf("by-minute")).toMatchObject({
      admitted: 3,
      minutes: [{ minute }, { minute: "2096-10-01T12:03:00.000Z", admitted: 1, refused: 0 }],
    });
    expect(await usageOf("by-minute", "?minutes=3")).toMatchObject({ minutes: [{ admitted: 1 }] });
  });

  test("that was written down is there after the object lost its memory, and only what was not is gone", async () => {
    const credential = await newTenant("forgets");
    await check(credential);
    await fallIdle("forgets");
    await check(credential);
    await abortAllDurableObjects();
    expect(await usageOf("forgets")).toMatchObject({ minutes: [{ admitted: 1, refused: 0 }] });
    await check(credential);
    expect(await usageOf("forgets")).toMatchObject({ minutes: [{ admitted: 2, refused: 0 }] });
  });

  test("asks for a tenant that there is, and for minutes and tops that are bounded", async () => {
    expect((await call("GET", "/admin/tenants/nobody/usage", ADMIN)).status).toBe(404);
    for (const query of ["minutes=0", "minutes=1441", "top=0", "top=101", "minutes=x"]) {
      expect(await call("GET", `/admin/usage?${query}`, ADMIN)).toMatchObject({
        status: 400,
        body: { errors: [{ path: query.split("=")[0] }] },
      });
    }
    expect((await call("GET", "/admin/usage", {})).status).toBe(401);
  });
});

test("the overview sums a window and ranks tenants by use and by refusals", async () => {
  const from = START_MS + 3_600_000;
  vi.setSystemTime(from);
  const busy = await newTenant("busy");
  const greedy = await newTenant("greedy", { requestsPerSecond: 1, burstSize: 1 });
  for (let n = 0; n < 5; n++) await check(busy);
  await tellDatabase("busy");
  for (let n = 0; n < 4; n++) await check(greedy);
  await tellDatabase("greedy");
  vi.setSystemTime(from + 60_000);
  const now = { minutes: 60, since: "2096-10-01T12:02:00.000Z", until: "2096-10-01T13:01:30.000Z" };
  expect(await overview()).toEqual({
    ...now,
    admitted: 6,
    refused: 3,
    topByUse: [
      { tenant: "busy", tier: "standard", admitted: 5, refused: 0 },
      { tenant: "greedy", tier: "standard", admitted: 1, refused: 3 },
    ],
    topByRefusals: [{ tenant: "greedy", tier: "standard", admitted: 1, refused: 3 }],
  });
  expect(await overview("?minutes=2&top=1")).toMatchObject({
    admitted: 6,
    topByUse: [{ tenant: "busy" }],
    topByRefusals: [{ tenant: "greedy" }],
  });
  expect(await overview("?minutes=1")).toMatchObject({ admitted: 0, refused: 0, topByUse: [], topByRefusals: [] });
});

test("callers without a credential are not counted in the database, however many addresses they have", async () => {
  for (let n = 1; n < 6; n++) {
    await call("POST", "/v1/check", { "CF-Connecting-IP": `198.51.100.${n}` }, {});
    await runIdleTimers(`address:198.51.100.${n}`);
  }
  const { results } = await env.DB.prepare("SELECT tenant FROM usage_tenants WHERE tenant LIKE '%198%'").all();
  expect(results).toEqual([]);
});
