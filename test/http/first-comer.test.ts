import { beforeAll, expect, test, vi } from "vitest";
import { FIRST_COMERS_PER_SECOND_MAX } from "../../src/core/first-comers.ts";
import { CommandEngine } from "../../src/durable/command-engine.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// A tenant floods a full queue, and others send their first command.

const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };
const BOUND = 8;

let floods: Record<string, string>;

const send = (tenant: Record<string, string>) => call("POST", "/v1/commands", tenant, CREATE);

beforeAll(async () => {
  floods = await newTenant("floods", { requestsPerSecond: 100_000, burstSize: 1_000_000 });
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: BOUND, enqueueWaitMs: 60_000 });
  await call("POST", "/admin/engine/pause", ADMIN, {});
});

test("a first command reaches the engine in five of five floods, and gets the next place", async () => {
  const calms = [];
  for (let run = 0; run < 5; run++) calms.push(await newTenant(`calm-${run}`));
  for (let n = 0; n < BOUND; n++) expect((await send(floods)).status).toBe(202);
  // They wait for room, in all the seats that one tenant may have; what comes after them is refused at the edge.
  const waiting = Array.from({ length: 95 }, () => send(floods));
  await vi.waitFor(async () => expect((await send(floods)).status).toBe(503));
  const firsts = [];
  for (const calm of calms) {
    for (let n = 0; n < 5; n++) expect((await send(floods)).status).toBe(503);
    firsts.push(send(calm));
  }
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: BOUND + 5 });
  expect((await Promise.all(firsts)).map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1_000 });
  await Promise.all(waiting);
  await call("PATCH", "/admin/flow-control", ADMIN, { bound: 1, enqueueWaitMs: 0 });
});

test("first commands of many tenants reach the engine so often a second at most", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 60_000) * 60_000 });
  const many = [];
  for (let n = 0; n < 2 * FIRST_COMERS_PER_SECOND_MAX; n++) many.push(await newTenant(`many-${n}`));
  expect((await send(floods)).status).toBe(503);
  const submits = vi.spyOn(CommandEngine.prototype, "submit");
  submits.mockClear();
  for (const tenant of many) expect((await send(tenant)).status).toBe(503);
  expect(submits).toHaveBeenCalledTimes(FIRST_COMERS_PER_SECOND_MAX);
  vi.useRealTimers();
});

test("a first command that its own limit refuses takes nobody's turn", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 60_000) * 60_000 + 600_000 });
  const spent = await newTenant("spent", { requestsPerSecond: 0, burstSize: 0 });
  const calm = await newTenant("calm-last");
  await send(floods);
  for (let n = 0; n < 2 * FIRST_COMERS_PER_SECOND_MAX; n++) expect((await send(spent)).status).toBe(422);
  const submits = vi.spyOn(CommandEngine.prototype, "submit");
  submits.mockClear();
  await send(calm);
  expect(submits).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});
