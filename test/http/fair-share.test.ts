import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { ADMIN, call, engineStub, newTenant } from "../support/http.ts";

// In a file of its own: an engine that remembers no other tenant's refusals.

const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };

interface Command {
  statusUrl: string;
}

test("a tenant that floods is told of its share, and another still gets in once there is room", async () => {
  const floods = await newTenant("floods");
  const calm = await newTenant("calm");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 4, enqueueWaitMs: 0 });
  await call("POST", "/admin/engine/pause", ADMIN, {});
  const flood = [];
  for (let n = 0; n < 20; n++) flood.push(await call<Command>("POST", "/v1/commands", floods, CREATE));
  expect(flood.map(({ status }) => status)).toEqual([...new Array(4).fill(202), ...new Array(16).fill(503)]);
  // Refused at the edge; the engine hears that it wants a place from the next that is let through, whoever that is.
  expect((await call("POST", "/v1/commands", calm, CREATE)).body).toMatchObject({ code: "queue_full" });
  expect((await call("DELETE", flood[0]?.body.statusUrl ?? "", floods)).status).toBe(204);

  vi.setSystemTime(Date.now() + 1_000);
  const refusedAtTheEngine = () =>
    runInDurableObject(engineStub(), (engine) => engine.status({}).counters.refused.queue_full ?? 0);
  const before = await refusedAtTheEngine();
  const again = [];
  for (let n = 0; n < 5; n++) again.push(await call("POST", "/v1/commands", floods, CREATE));
  for (const { status, headers, body } of again) {
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: "queue_full", detail: expect.stringContaining("your share") });
    expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
  }
  const got = await call<Command>("POST", "/v1/commands", calm, CREATE);
  // Three of the flood's wait; a turn of the standard tier is two.
  expect(got).toMatchObject({ status: 202, body: { state: "queued", queuedAhead: 2 } });
  // The first of the five asked the engine, the others were refused at the edge.
  expect(await refusedAtTheEngine()).toBe(before + 1);
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 10_000, enqueueWaitMs: 5_000 });
  await call("POST", "/admin/engine/resume", ADMIN);
  expect((await call("GET", `${got.body.statusUrl}?wait=5`, calm)).body).toMatchObject({
    finishedAt: expect.any(String),
  });
  vi.useRealTimers();
});
