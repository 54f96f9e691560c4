import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import type { EngineHealth } from "../../src/core/depth-gate.ts";
import { forgetEngine, gateState, hearEngine } from "../../src/http/edge.ts";
import { settled } from "../support/event-loop.ts";
import { newTenant } from "../support/http.ts";

// What is held open at a cluster never reaches the engine, so it must leave the gate's passes to what does.

const ROOM_FOR_ONE: EngineHealth = {
  limit: "queue_full",
  room: 1,
  retryAfterSeconds: 1,
  places: null,
  lastsMs: 60_000,
};
const UPSTREAM = { UPSTREAM_URL: "http://cluster.test", LIMITER_MODE: "exact" };

let tenant: Record<string, string>;
let tenants = 0;

beforeEach(async () => {
  tenants += 1;
  tenant = await newTenant(`holds-${tenants}`);
  vi.spyOn(console, "warn").mockReturnValue();
});
afterEach(() => {
  forgetEngine();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const ended = () => Promise.resolve(Response.json({ jobs: [] }));
const cut = () => Promise.reject(new Error("cut"));
const aborted = ({ signal }: Request) =>
  new Promise<Response>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });

test.each<[string, (request: Request) => Promise<Response>, string, object]>([
  ["a poll that is answered", ended, "/v2/jobs/activation", { type: "t" }],
  ["a poll whose cluster breaks off", cut, "/v2/jobs/activation", { type: "t" }],
  ["a poll whose caller goes", aborted, "/v2/jobs/activation", { type: "t" }],
  ["an awaited instance", ended, "/v2/process-instances", { processDefinitionId: "p", awaitCompletion: true }],
])("%s takes no pass of the gate", async (_label, answer, path, body) => {
  vi.stubGlobal("fetch", answer);
  const app = createApp(parseConfig(UPSTREAM));
  const hangUp = new AbortController();
  const init = { method: "POST", headers: tenant, body: JSON.stringify(body), signal: hangUp.signal };
  hearEngine(0, ROOM_FOR_ONE, Date.now());
  const answering = Promise.resolve(
    app.fetch(new Request(`https://gate.test${path}`, init), env, createExecutionContext()),
  );
  await settled();
  if (answer === aborted) hangUp.abort();
  await answering.catch(() => undefined);
  expect(gateState(0)).toMatchObject({ passed: 0 });
});
