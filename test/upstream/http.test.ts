import { exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { advance } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { ADMIN, call, engineStub, newTenant } from "../support/http.ts";
import { FUTURE_MS, newBackend, takes } from "./support.ts";

// What a client and an operator see over HTTP when a backend stands behind the queue.

let tenant: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant("shop");
});
beforeEach(async () => {
  await engineStub().changeFlow({ bound: 2, enqueueWaitMs: 0 });
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Command {
  commandId: string;
  state: string;
  code: string;
  errors: { path: string }[];
}

const send = (body: unknown, headers: Record<string, string> = {}) =>
  call<Command>("POST", "/v1/commands", { ...tenant, ...headers }, body);
const place = (n: number, headers: Record<string, string> = {}) =>
  send({ intent: "ORDER:PLACE", payload: { n } }, headers);

describe("a command for the upstream", () => {
  test("may have any payload, and intents that the deployment declares", async () => {
    newBackend(() => Response.json({ orderId: 7 }));
    const { status, body } = await place(1, { Prefer: "wait=5" });
    expect([status, body]).toMatchObject([200, { state: "succeeded", intent: "ORDER:PLACE", result: { orderId: 7 } }]);
  });

  test.each([
    ["an intent that nobody declared", { intent: "ORDER:EAT", payload: {} }, "intent"],
    ["a payload that does not fill its path", { intent: "ORDER:CANCEL", payload: {} }, "payload.orderId"],

    ["a payload that is no object", { intent: "ORDER:PLACE", payload: [] }, "payload"],
  ])("%s is named", async (_label, body, path) => {
    newBackend();
    const answer = await send(body);
    expect([answer.status, answer.body.errors[0]?.path]).toEqual([400, path]);
  });

  test("beyond the bound is a 201: saved, with its place told", async () => {
    newBackend(() => takes(1_000, () => Response.json({})));
    const answers = [];
    for (let n = 0; n < 6; n++) answers.push(await place(n));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 201, 201]);
    expect(answers[5]?.body).toMatchObject({ state: "queued", deferred: true, queuedAhead: 3 });
    expect(answers[5]?.headers.get("Location")).toBe(`/v1/commands/${answers[5]?.body.commandId}`);
    for (let second = 0; second < 5; second++) await advance(engineStub(), 1_000);
    const { body } = await call("GET", `/v1/commands/${answers[5]?.body.commandId}`, tenant);
    expect(body).toMatchObject({ state: "succeeded" });
  });

  test("whose caller waits and hangs up leaves nothing behind, and is done all the same", async () => {
    newBackend(() => takes(5_000, () => Response.json({})));
    const { commandId } = (await place(1)).body;
    const hangUp = new AbortController();
    const request = new Request(`https://gate.test/v1/commands/${commandId}?wait=60`, {
      headers: { ...tenant, "CF-Connecting-IP": "192.0.2.1" },
      signal: hangUp.signal,
    });
    const held = exports.default.fetch(request).then(
      () => "answered",
      () => "gone",
    );
    await settled();
    hangUp.abort();
    await settled();
    expect(await held).toBe("gone");
    await advance(engineStub(), 5_000);
    expect((await call("GET", `/v1/commands/${commandId}`, tenant)).body).toMatchObject({ state: "succeeded" });
  });
});

describe("an operator", () => {
  test("sees a dead letter with its tenant, sends it again, and cannot send again what is not dead", async () => {
    const backend = newBackend(() => new Response(null, { status: 500 }));
    const { commandId } = (await place(1)).body;
    for (let second = 0; second < 60; second++) await advance(engineStub(), 1_000);
    const path = `/admin/dead-letters/${commandId}`;
    expect((await call("GET", path, ADMIN)).body).toMatchObject({ tenant: "shop", state: "dead", attempts: 5 });
    backend.answer = () => Response.json({});
    expect((await call("POST", `${path}/redrive`, ADMIN)).status).toBe(202);
    await advance(engineStub(), 60_000);
    expect((await call("GET", `/v1/commands/${commandId}`, tenant)).body).toMatchObject({ state: "succeeded" });
    const again = await call("POST", `${path}/redrive`, ADMIN);
    expect([again.status, again.body.code]).toEqual([409, "conflict"]);
    const nobody = await call("POST", "/admin/dead-letters/1000000000009999/redrive", ADMIN);
    expect([nobody.status, nobody.body.code]).toEqual([404, "not_found"]);
  });

  test("sees how the upstream stands in the queue's state", async () => {
    newBackend(() => new Response(null, { status: 503, headers: { "Retry-After": "90" } }));
    await place(1);
    await settled();
    const { body } = await call("GET", "/v1/queue", tenant);
    expect(body).toMatchObject({ upstream: { state: "waiting", resumesInSeconds: 90 }, retrying: 1, running: 0 });
  });
});
