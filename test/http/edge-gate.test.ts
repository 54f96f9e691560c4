import { beforeAll, expect, test, vi } from "vitest";
import { CommandEngine } from "../../src/durable/command-engine.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// Ten thousand take ten seconds and ten calls; the rule is the same for fewer.
const REFUSALS = 1_500;
const AT_ONCE = 50;
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };
const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "order", tasks: [{ type: "pay" }] } };

/** Not held: it is answered at once. */
const POLL = { type: "none", maxJobsToActivate: 1, timeout: 1_000, requestTimeout: -1 };

let tenant: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant("flood", { requestsPerSecond: 100_000, burstSize: 1_000_000 });
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1, enqueueWaitMs: 0 });
  await call("POST", "/admin/engine/pause", ADMIN, {});
  expect((await call("POST", "/v1/commands", tenant, CREATE)).status).toBe(202);
});

test("while the engine is full it is asked once a second, however many are refused, and critical commands pass", async () => {
  const submits = vi.spyOn(CommandEngine.prototype, "submit");
  const statuses = new Map<number, number>();
  const send = async () => {
    for (let n = 0; n < REFUSALS / AT_ONCE; n++) {
      const { status } = await call("POST", "/v1/commands", tenant, CREATE);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  expect([...statuses]).toEqual([[503, REFUSALS]]);
  expect(submits.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000);
  expect((await call("POST", "/v1/commands", tenant, DEPLOY)).status).toBe(202);
});

test("with room for one, one of fifty at once goes on, and the others are refused without the engine", async () => {
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 4 });
  const two = [await call("POST", "/v1/commands", tenant, CREATE), await call("POST", "/v1/commands", tenant, CREATE)];
  expect(two.map(({ status }) => status)).toEqual([202, 202]);
  const submits = vi.spyOn(CommandEngine.prototype, "submit");
  submits.mockClear();
  const fifty = await Promise.all(Array.from({ length: AT_ONCE }, () => call("POST", "/v1/commands", tenant, CREATE)));
  const answered = (status: number) => fifty.filter((answer) => answer.status === status).length;
  expect([answered(202), answered(503)]).toEqual([1, AT_ONCE - 1]);
  expect(submits).toHaveBeenCalledTimes(1);
});

test("who is over its own limit takes no room from others", async () => {
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 8 });
  expect((await call("POST", "/v1/commands", tenant, CREATE)).status).toBe(202);
  const spent = await newTenant("spent", { requestsPerSecond: 0, burstSize: 0 });
  const keyed = (n: number) => call("POST", "/v1/commands", { ...spent, "Idempotency-Key": `n${n}` }, CREATE);
  const refused = await Promise.all(Array.from({ length: 10 }, (_, n) => keyed(n)));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([422]));
  const others = await Promise.all([1, 2, 3].map(() => call("POST", "/v1/commands", tenant, CREATE)));
  expect(others.map(({ status }) => status)).toEqual([202, 202, 202]);
});

test("polls that find nothing leave the room as it was", async () => {
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 16 });
  expect((await call("POST", "/v1/commands", tenant, CREATE)).status).toBe(202);
  const poll = () => call("POST", "/v2/jobs/activation", tenant, POLL);
  const polled = await Promise.all(Array.from({ length: 10 }, poll));
  expect(polled.map(({ status }) => status)).toContain(200);
  expect((await call("POST", "/v1/commands", tenant, CREATE)).status).toBe(202);
});
