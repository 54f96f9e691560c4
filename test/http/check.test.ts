import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { call, newTenant } from "../support/http.ts";

const check = (headers: Record<string, string>, body?: unknown) => call("POST", "/v1/check", headers, body);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("POST /v1/check", () => {
  test("says yes and then no, always with 200, and what is left", async () => {
    const tenant = await newTenant("two", { requestsPerSecond: 0.1, burstSize: 2 });
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(await check(tenant));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(({ body }) => [body.allowed, body.remaining])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
      [false, 0],
    ]);
    expect(answers[4]?.body).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 20,
      retryAfterSeconds: 10,
      code: "rate_limited",
      violated: ["requests"],
      policies: [
        { name: "requests", type: "token-bucket", limit: 2, windowSeconds: 20, remaining: 0, resetSeconds: 20 },
      ],
    });
  });

  test("a cost that never fits is told apart, has no time to come back and charges nothing", async () => {
    const tenant = await newTenant("capacity", { requestsPerSecond: 0, burstSize: 10 });
    const { body } = await check(tenant, { cost: 11 });
    expect(body).toMatchObject({ allowed: false, code: "cost_exceeds_capacity", remaining: 10 });
    expect(body).not.toHaveProperty("retryAfterSeconds");
  });

  test("a cost of zero is a look that is allowed", async () => {
    const tenant = await newTenant("look", { requestsPerSecond: 0, burstSize: 1 });
    await check(tenant);
    expect((await check(tenant, { cost: 0 })).body).toMatchObject({ allowed: true, remaining: 0 });
  });

  test.each([
    ["-1", '{"cost":-1}'],
    ["NaN", '{"cost":NaN}'],
    ["Infinity", '{"cost":Infinity}'],
    ["1.5", '{"cost":1.5}'],
    ["text", '{"cost":"2"}'],
    ["1e400", '{"cost":1e400}'],
    ["null", '{"cost":null}'],
    ["a huge number", '{"cost":9007199254740993}'],
    ["an empty key", '{"key":""}'],
    ["a key that is too long", JSON.stringify({ key: "k".repeat(257) })],
    ["an unknown field", '{"costs":1}'],
  ])("a cost of %s is 400 and changes nothing", async (label, body) => {
    const tenant = await newTenant(`bad ${label}`, { requestsPerSecond: 0, burstSize: 10 });
    expect(await check(tenant, body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect((await check(tenant, { cost: 0 })).body).toMatchObject({ remaining: 10 });
  });
});

describe("GET /v1/limits", () => {
  test("shows the caller's own tier and what is left, and charges nothing", async () => {
    const tenant = await newTenant("own", { requestsPerSecond: 5, burstSize: 50 });
    for (let n = 0; n < 3; n++) {
      expect((await call("GET", "/v1/limits", tenant)).body).toMatchObject({
        tenant: "own",
        tier: "standard",
        policies: [{ name: "requests", limit: 50, remaining: 50 }],
      });
    }
  });
});
