import { beforeAll, describe, expect, test } from "vitest";
import { ADMIN, call, engineStub, newTenant } from "../support/http.ts";

// Idempotency-Key over HTTP: fifty at once, word for word, and in which order things are checked.

const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order", variables: { a: 1, b: 2 } } };
const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "order", tasks: [{ type: "pay" }] } };

let tenant: Record<string, string>;

interface Accepted {
  commandId: string;
  state: string;
  code?: string;
}

beforeAll(async () => {
  tenant = await newTenant("idempotent");
  await engineStub().changeFlow({ bound: 5, enqueueWaitMs: 0, algorithm: "none" });
  await call("POST", "/v1/commands", tenant, DEPLOY);
});

const post = (key: string, body: unknown = CREATE, headers: Record<string, string> = {}) =>
  call<Accepted>("POST", "/v1/commands", { ...tenant, "Idempotency-Key": key, ...headers }, body);

describe("Idempotency-Key", () => {
  test("fifty at once with one key are one command", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post("fifty")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true")).toHaveLength(49);
  });

  test("a repeat is the first answer, word for word, whatever the order of members", async () => {
    const first = await post("words", CREATE, { Prefer: "wait=5" });
    const payload = { variables: { b: 2, a: 1 }, processId: "order" };
    const second = await post("words", { payload, intent: CREATE.intent });
    expect(second.status).toBe(first.status);
    expect(JSON.stringify(second.body)).toBe(JSON.stringify(first.body));
    expect([first.status, first.body.state]).toEqual([200, "succeeded"]);
  });

  test.each([
    ["another payload", { ...CREATE, payload: { processId: "order" } }],
    ["another intent", { ...DEPLOY }],
    ["a deadline", { ...CREATE, deadlineSeconds: 5 }],
  ])("%s under the same key is a mistake", async (_label, body) => {
    await post("mistake");
    const { status, body: told } = await post("mistake", body);
    expect([status, told.code]).toEqual([422, "idempotency_conflict"]);
  });

  test("the first one's caller still waits: 409, with the time by which it is answered", async () => {
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const first = post("held", CREATE, { Prefer: "wait=2" });
    // Accepted and held: only then there is something to be in flight.
    for (;;) if ((await call<{ depth: number }>("GET", "/v1/queue", tenant)).body.depth > 0) break;
    const second = await post("held");
    expect([second.status, second.body.code]).toEqual([409, "idempotency_in_flight"]);
    expect(Number(second.headers.get("Retry-After"))).toBeGreaterThan(0);
    await call("POST", "/admin/engine/resume", ADMIN, {});
    expect((await first).status).toBe(200);
    expect((await post("held")).body).toEqual((await first).body);
  });

  test("a repeat is answered before a full queue is asked, and after the caller's own limit", async () => {
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const first = await post("before-full");
    for (let n = 0; n < 4; n++) await post(`fill-${n}`);
    expect((await call("POST", "/v1/commands", tenant, CREATE)).status).toBe(503);
    const second = await post("before-full");
    expect([second.status, second.body]).toEqual([202, first.body]);
    const fresh = await post("fresh");
    expect([fresh.status, fresh.body.code]).toEqual([503, "queue_full"]);

    const path = "/admin/tenants/idempotent/limits";
    await call("PUT", path, ADMIN, { requestsPerSecond: 0.001, burstSize: 1 });
    await call("POST", "/v1/check", tenant, {});
    expect((await post("before-full")).status).toBe(429);
    await call("PUT", path, ADMIN, { requestsPerSecond: 1000, burstSize: 100_000 });
    await call("POST", "/admin/engine/resume", ADMIN, {});
  });

  test.each([
    ["too long", "k".repeat(256)],
    ["empty", '""'],
  ])("a key that is %s is named", async (_label, key) => {
    const { status, body } = await post(key);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_request", errors: [{ path: "Idempotency-Key" }] });
  });

  test("a faulty body under a key uses nothing up", async () => {
    expect((await post("faulty", { ...CREATE, payload: {} })).status).toBe(400);
    expect((await post("faulty")).status).toBe(202);
  });
});

describe("deadlineSeconds", () => {
  test.each([0, -5, "soon", 1e9])("%s is named", async (deadlineSeconds) => {
    const { status, body } = await call("POST", "/v1/commands", tenant, { ...CREATE, deadlineSeconds });
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ path: "deadlineSeconds" }] });
  });
});

describe("?wait=N on a new command", () => {
  test("says the same as Prefer: wait=N", async () => {
    const { status, body } = await call<Accepted>("POST", "/v1/commands?wait=5", tenant, CREATE);
    expect([status, body.state]).toEqual([200, "succeeded"]);
  });
});
