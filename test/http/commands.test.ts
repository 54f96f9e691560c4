import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parseLimitHeader, parsePolicyHeader } from "../../src/core/rate-headers.ts";
import { settled } from "../support/event-loop.ts";
import { ADMIN, call, engineStub, newTenant } from "../support/http.ts";

const DEPLOY = {
  intent: "DEPLOYMENT:CREATE",
  payload: { processId: "order", tasks: [{ type: "pay" }, { type: "ship" }] },
};
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };

let acme: Record<string, string>;
let other: Record<string, string>;

beforeAll(async () => {
  acme = await newTenant("acme");
  other = await newTenant("other");
  expect((await send(DEPLOY)).status).toBe(200);
});

interface Command {
  commandId: string;
  state: string;
  statusUrl: string;
  result: Record<string, string> & { jobs: { jobKey: string; processInstanceKey: string }[] };
  error: { code: string };
}

function send(body: unknown, headers: Record<string, string> = acme) {
  return call<Command>("POST", "/v1/commands", { Prefer: "wait=5", ...headers }, body);
}

function run(intent: string, payload: unknown, headers = acme) {
  return send({ intent, payload }, headers);
}

describe("a command's way", () => {
  test("202 tells its id, its state and where to ask; GET shows it", async () => {
    const { status, headers, body } = await call<Command>("POST", "/v1/commands", acme, CREATE);
    expect(status).toBe(202);
    expect(body).toEqual({
      commandId: expect.stringMatching(/^\d{16,25}$/),
      state: "succeeded",
      statusUrl: `/v1/commands/${body.commandId}`,
      queuedAhead: 0,
      estimatedWaitSeconds: 0,
    });
    expect(headers.get("Location")).toBe(body.statusUrl);
    const shown = await call("GET", body.statusUrl, acme);
    expect(shown).toMatchObject({ status: 200, body: { intent: CREATE.intent, state: "succeeded", attempts: 1 } });
  });

  test("Prefer: wait answers 200 with the command as GET shows it, whatever its end", async () => {
    const created = await send(CREATE);
    expect(created.status).toBe(200);
    expect(created.headers.get("Preference-Applied")).toBe("wait=5");
    expect(created.body).toEqual((await call("GET", `/v1/commands/${created.body.commandId}`, acme)).body);
    const failed = await run("PROCESS_INSTANCE:CREATE", { processId: "nowhere" });
    expect(failed).toMatchObject({ status: 200, body: { state: "failed", error: { code: "not_found" } } });
  });

  test("deploy, create, activate, complete, to the end of the process", async () => {
    const { body: created } = await send(CREATE);
    const key = created.result.processInstanceKey;
    for (const type of ["pay", "ship"]) {
      const activated = await run("JOB:ACTIVATE", { type, maxJobs: 100, timeoutSeconds: 10 });
      const job = activated.body.result.jobs.find(({ processInstanceKey }) => processInstanceKey === key);
      expect((await run("JOB:COMPLETE", { jobKey: job?.jobKey })).body).toMatchObject({
        state: "succeeded",
        result: {},
      });
    }
    const cancelled = await run("PROCESS_INSTANCE:CANCEL", { processInstanceKey: key });
    expect(cancelled.body).toMatchObject({ state: "failed", error: { code: "not_found" } });
  });

  test("another tenant's command does not exist", async () => {
    const { body } = await send(CREATE);
    for (const method of ["GET", "DELETE"]) {
      expect(await call(method, `/v1/commands/${body.commandId}`, other)).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    }
    const stolen = await run("PROCESS_INSTANCE:CANCEL", { processInstanceKey: body.result.processInstanceKey }, other);
    expect(stolen.body).toMatchObject({ state: "failed", error: { code: "not_found" } });
  });

  test("what has ended cannot be cancelled", async () => {
    const { body } = await send(CREATE);
    expect(await call("DELETE", `/v1/commands/${body.commandId}`, acme)).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });
});

describe("an engine that restarts", () => {
  test("under a held request has accepted all the same: the answer is the 202", async () => {
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const held = send(CREATE);
    await settled(50);
    await abortAllDurableObjects();
    const { status, body } = await held;
    expect(status).toBe(202);
    await call("POST", "/admin/engine/resume", ADMIN);
    expect((await call("GET", `${body.statusUrl}?wait=5`, acme)).body).toMatchObject({ state: "succeeded" });
  });
});

describe("a paused engine", () => {
  test("queues up to its bound, tells the place in the line, and resumes", async () => {
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const first = await call<Command>("POST", "/v1/commands", acme, CREATE);
    const second = await call<Command>("POST", "/v1/commands", acme, CREATE);
    expect(second.body).toMatchObject({ state: "queued", queuedAhead: 1, estimatedWaitSeconds: 30 });
    expect((await call("GET", "/v1/queue", acme)).body).toMatchObject({ depth: 2, inFlight: 2, paused: true });
    expect((await call("DELETE", first.body.statusUrl, acme)).status).toBe(204);
    const held = call("GET", `${second.body.statusUrl}?wait=20`, acme);
    await call("POST", "/admin/engine/resume", ADMIN);
    expect((await held).body).toMatchObject({ state: "succeeded" });
    expect((await call("GET", first.body.statusUrl, acme)).body).toMatchObject({ state: "cancelled" });
  });

  test("with accept:false refuses everything but critical commands, first at the engine and then at the edge", async () => {
    await call("POST", "/admin/engine/pause", ADMIN, { accept: false });
    const refusals = [await send(CREATE), await send(CREATE), await send(CREATE)];
    for (const { status, headers, body } of refusals) {
      expect(status).toBe(503);
      expect(body).toMatchObject({
        code: "engine_paused",
        type: "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
      });
      expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
      expect(headers.get("Cache-Control")).toBe("no-store");
    }
    expect((await call("POST", "/v1/commands", acme, DEPLOY)).status).toBe(202);
    const { counters } = (await call<{ counters: { refused: Record<string, number> } }>("GET", "/v1/queue", acme)).body;
    expect(counters.refused.engine_paused).toBe(3);
    await call("POST", "/admin/engine/resume", ADMIN);
    expect((await send(CREATE)).status).toBe(200);
  });

  test("when it is full, refusals at the edge do not reach the engine, and critical commands do", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1, enqueueWaitMs: 0 });
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const answers: number[] = [];
    for (let n = 0; n < 20; n++) answers.push((await call("POST", "/v1/commands", acme, CREATE)).status);
    expect(answers).toEqual([202, ...new Array(19).fill(503)]);
    const seen = await runInDurableObject(engineStub(), (engine) => engine.status({}).counters.refused.queue_full);
    // The first acceptance already said that the queue is full now, so the engine saw no other.
    expect(seen).toBeUndefined();
    expect((await call("POST", "/v1/commands", acme, DEPLOY)).status).toBe(202);
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 10_000, enqueueWaitMs: 5_000 });
    await call("POST", "/admin/engine/resume", ADMIN);
    expect((await call("POST", "/v1/commands", acme, CREATE)).status).toBe(202);
    vi.useRealTimers();
  });

  test("what is refused further on charges nothing, at the edge or at the engine, and counts as not admitted", async () => {
    const thrifty = await newTenant("thrifty", { requestsPerSecond: 0, burstSize: 10 });
    const left = async () =>
      (await call<{ policies: { remaining: number }[] }>("GET", "/v1/limits", thrifty)).body.policies[0];
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1, enqueueWaitMs: 0 });
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const answers = [];
    for (let n = 0; n < 8; n++) {
      answers.push((await call("POST", "/v1/commands", thrifty, CREATE)).status);
      // Forgotten at the edge now and then, so that the engine itself has to refuse.
      if (n % 3 === 0) await call("POST", "/admin/engine/pause", ADMIN, {});
    }
    expect(answers).toEqual([202, ...new Array(7).fill(503)]);
    expect(await left()).toMatchObject({ remaining: 9 });
    expect((await call("GET", "/admin/tenants/thrifty/usage", ADMIN)).body).toMatchObject({ admitted: 1 });
    const spent = await newTenant("spent too", { requestsPerSecond: 0, burstSize: 0 });
    expect((await call("POST", "/v1/commands", spent, CREATE)).status).toBe(422);
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 10_000, enqueueWaitMs: 5_000 });
    await call("POST", "/admin/engine/resume", ADMIN);
  });

  test("a caller that hangs up while it waits for room takes no place", async () => {
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1, enqueueWaitMs: 60_000 });
    await call("POST", "/admin/engine/pause", ADMIN, {});
    await call("POST", "/v1/commands", acme, CREATE);
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const accepted = async () =>
      (await call<{ counters: { accepted: number } }>("GET", "/v1/queue", acme)).body.counters.accepted;
    const before = await accepted();
    const hangUp = new AbortController();
    const waiting = exports.default.fetch("https://gate.test/v1/commands", {
      method: "POST",
      headers: acme,
      body: JSON.stringify(CREATE),
      signal: hangUp.signal,
    });
    await settled(50);
    hangUp.abort();
    await expect(waiting).rejects.toThrow();
    await settled(50);
    await call("POST", "/admin/engine/resume", ADMIN);
    await settled(50);
    expect(await accepted()).toBe(before);
    await call("PATCH", "/admin/flow-control", ADMIN, { bound: 10_000, enqueueWaitMs: 5_000 });
  });
});

describe("layer 1", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("admits the burst, then 429 names the limit and when to come back; others are untouched", async () => {
    const small = await newTenant("small", { requestsPerSecond: 0.1, burstSize: 3 });
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(await send(CREATE, small));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    const { headers, body } = answers[4] ?? { headers: new Headers(), body: {} };
    expect(body).toMatchObject({
      code: "rate_limited",
      status: 429,
      "violated-policies": ["requests"],
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      instance: "/v1/commands",
    });
    const retryAfter = Number(headers.get("Retry-After"));
    expect(retryAfter).toBe(10);
    expect(parsePolicyHeader(headers.get("RateLimit-Policy") ?? "")).toEqual([{ name: "requests", q: 3, w: 30 }]);
    expect(parseLimitHeader(headers.get("RateLimit") ?? "")).toEqual([{ name: "requests", r: 0, t: 10 }]);
    expect([headers.get("X-RateLimit-Limit"), headers.get("X-RateLimit-Remaining")]).toEqual(["3", "0"]);
    expect((await send(CREATE)).status).toBe(200);
  });

  test("an admin's raise works on the very next request", async () => {
    const raised = await newTenant("raised", { requestsPerSecond: 0, burstSize: 1 });
    expect([(await send(CREATE, raised)).status, (await send(CREATE, raised)).status]).toEqual([200, 422]);
    await call("PUT", "/admin/tenants/raised/limits", ADMIN, { requestsPerSecond: 0, burstSize: 3 });
    expect([(await send(CREATE, raised)).status, (await send(CREATE, raised)).status]).toEqual([200, 200]);
  });

  test("a critical command passes an empty bucket", async () => {
    const spent = await newTenant("spent", { requestsPerSecond: 0.01, burstSize: 1 });
    expect((await send(CREATE, spent)).status).toBe(200);
    expect((await send(CREATE, spent)).status).toBe(429);
    expect((await run("JOB:COMPLETE", { jobKey: "1000000000000001" }, spent)).body).toMatchObject({ state: "failed" });
  });

  test("40 preflights and 40 requests use 40 tokens", async () => {
    const forty = await newTenant("forty", { requestsPerSecond: 0, burstSize: 40 });
    for (let n = 0; n < 40; n++) {
      expect((await call("OPTIONS", "/v1/commands")).status).toBe(204);
      expect((await send(CREATE, forty)).status).toBe(200);
    }
    expect((await call("GET", "/v1/limits", forty)).body).toMatchObject({ policies: [{ remaining: 0 }] });
  });
});

describe("every answer", () => {
  test("carries a request id: the caller's when it is harmless, else a new one", async () => {
    const given = await call("GET", "/healthz", { "X-Request-Id": "abc-1.2_3" });
    expect(given.headers.get("X-Request-Id")).toBe("abc-1.2_3");
    const odd = await call("GET", "/healthz", { "X-Request-Id": "a b<script>" });
    expect(odd.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("is described: each route is in the API document, which needs no credential", async () => {
    const { status, body } = await call<{ paths: Record<string, object> }>("GET", "/openapi.json");
    expect(status).toBe(200);
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(JSON.stringify(body)).toContain("jobKey");
    expect(described).toEqual(expect.arrayContaining(["post /v1/commands", "put /admin/tenants/{id}/limits"]));
  });

  test("health needs no credential", async () => {
    expect(await call("GET", "/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await call("GET", "/readyz")).toMatchObject({ status: 200, body: { ready: true } });
  });
});
