import { expect, test } from "vitest";
import { ADMIN, call, newTenant, VIEWER } from "../support/http.ts";

const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "p", tasks: [{ type: "t" }] } };
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };

test("operators see what everybody sees, whether commands are taken, and what a refused caller would be told", async () => {
  const tenant = await newTenant("operators");
  const flow = { bound: 2, enqueueWaitMs: 0, algorithm: "none" };
  await call("PATCH", "/admin/flow-control", ADMIN, flow);
  await call("POST", "/v1/commands", tenant, DEPLOY);
  const queue = async () => (await call("GET", "/admin/queue", VIEWER)).body;
  expect(await queue()).toMatchObject({ depth: 0, accepting: true, retryAfterSeconds: null, partitions: 1 });

  await call("POST", "/admin/engine/pause", ADMIN, {});
  await call("POST", "/v1/commands", tenant, CREATE);
  expect(await queue()).toMatchObject({ depth: 1, paused: true, accepting: true, retryAfterSeconds: null });
  await call("POST", "/v1/commands", tenant, CREATE);
  const refused = await call("POST", "/v1/commands", tenant, CREATE);
  expect(refused.status).toBe(503);
  expect(await queue()).toMatchObject({ depth: 2, retryAfterSeconds: refused.body.retryAfterSeconds });

  await call("POST", "/admin/engine/pause", ADMIN, { accept: false });
  expect(await queue()).toMatchObject({ accepting: false, retryAfterSeconds: 30 });
  const seen = await call("GET", "/v1/queue", tenant);
  const { accepting: _a, retryAfterSeconds: _r, partitions: _p, ...shared } = await queue();
  expect(seen.body).toEqual({ ...shared, oldestWaitSeconds: expect.any(Number) });
});
