import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { ADMIN, call, newTenant } from "../support/http.ts";

const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "order", tasks: [{ type: "pay" }] } };
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };

let acme: Record<string, string>;
/** Of limits that time does not refill, so that a charge cannot hide. */
let still: Record<string, string>;

beforeAll(async () => {
  acme = await newTenant("acme");
  still = await newTenant("still", { requestsPerSecond: 0, burstSize: 10 });
  expect((await call("POST", "/v1/commands", acme, DEPLOY)).status).toBe(202);
});

describe("bad input is named, saves nothing and charges nothing", () => {
  const deep = `{"intent":"PROCESS_INSTANCE:CREATE","payload":{"processId":"x","variables":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  test.each<[string, unknown, string]>([
    ["not JSON", "{intent", ""],
    ["an array", [], ""],
    ["nothing", undefined, ""],
    ["no intent", { payload: {} }, "intent"],
    ["an unknown intent", { intent: "JOB:EXPLODE", payload: {} }, "intent"],
    ["an unknown field", { ...CREATE, priority: 1 }, "priority"],
    ["a payload that is text", { intent: CREATE.intent, payload: "x" }, "payload"],
    ["a missing member", { intent: CREATE.intent, payload: {} }, "payload.processId"],
    ["an unknown member", { intent: CREATE.intent, payload: { processId: "a", pid: 1 } }, "payload.pid"],
    ["a member of the wrong type", { intent: "JOB:COMPLETE", payload: { jobKey: 5 } }, "payload.jobKey"],
    [
      "a member inside a list",
      { intent: DEPLOY.intent, payload: { processId: "a", tasks: [{}] } },
      "payload.tasks.0.type",
    ],
    ["a very long id", { intent: CREATE.intent, payload: { processId: "é".repeat(300) } }, "payload.processId"],
    ["brackets a hundred thousand deep", deep, ""],
  ])("%s", async (_label, body, path) => {
    const before = (await call("GET", "/v1/limits", still)).body;
    const accepted = async () => (await call<{ counters: unknown }>("GET", "/v1/queue", still)).body.counters;
    const counters = await accepted();
    const answer = await call<{ code: string; errors: { path: string }[] }>("POST", "/v1/commands", still, body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
    expect(answer.body.code).toBe("invalid_request");
    expect(answer.body.errors.map((error) => error.path)).toContain(path);
    expect(await accepted()).toEqual(counters);
    expect((await call("GET", "/v1/limits", still)).body).toEqual(before);
  });

  test("a body over its limit is 413, declared or not", async () => {
    const large = JSON.stringify({ ...CREATE, payload: { processId: "x".repeat(300_000) } });
    expect((await call("POST", "/v1/commands", acme, large)).status).toBe(413);
    const stream = new Blob([large]).stream();
    const response = await exports.default.fetch("https://gate.test/v1/commands", {
      method: "POST",
      headers: acme,
      body: stream,
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "payload_too_large" });
  });

  test.each([["wait=x"], ["wait=-1"], ["wait=1e3"], ["wait=12345"]])(
    "GET with %s names the parameter",
    async (query) => {
      const { body } = await call<{ commandId: string }>("POST", "/v1/commands", acme, CREATE);
      expect(await call("GET", `/v1/commands/${body.commandId}?${query}`, acme)).toMatchObject({
        status: 400,
        body: { errors: [{ path: "wait" }] },
      });
    },
  );

  test("a member named __proto__ is an unknown field like any other", async () => {
    const body = '{"intent":"JOB:ACTIVATE","payload":{"type":"x","__proto__":1}}';
    expect(await call("POST", "/v1/commands", acme, body)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "payload.__proto__" }] },
    });
  });

  test("a body with thousands of faults gets an answer of twenty", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, 1]));
    const { body } = await call<{ errors: unknown[] }>("POST", "/v1/commands", acme, { ...CREATE, ...unknown });
    expect(body.errors).toHaveLength(20);
  });

  test("a body that breaks off is the caller's fault, not ours", async () => {
    const response = await exports.default.fetch("https://gate.test/v1/commands", {
      method: "POST",
      headers: acme,
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"intent":'));
          controller.error(new Error("gone"));
        },
      }),
    });
    expect(response.status).toBe(400);
  });

  test("a path that is no percent-encoded UTF-8 is named", async () => {
    expect(await call("PUT", "/admin/tenants/%FF", ADMIN, { tier: "free" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "path" }] },
    });
  });

  test("an unknown route is a problem too", async () => {
    expect(await call("GET", "/v1/nothing", acme)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await call("GET", "/nothing")).toMatchObject({ status: 404, body: { code: "not_found" } });
  });
});
