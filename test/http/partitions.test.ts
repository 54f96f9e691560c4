import { beforeAll, describe, expect, test } from "vitest";
import { partitionOf } from "../../src/core/partition.ts";
import { newTenant } from "../support/http.ts";
import { type Ask, appOf } from "./admin-support.ts";

const PARTITIONS = 4;
const DEPLOY = { intent: "DEPLOYMENT:CREATE", payload: { processId: "order", tasks: [{ type: "pay" }] } };
const CREATE = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };
const TENANTS = Array.from({ length: 12 }, (_, n) => `spread-${n}`);

interface Command {
  commandId: string;
  state: string;
  statusUrl: string;
  result: { processInstanceKey: string; jobs: { jobKey: string }[] };
}

let ask: Ask;
const keys = new Map<string, Record<string, string>>();

async function send(tenant: string, body: unknown): Promise<Command> {
  const headers = { Prefer: "wait=5", ...keys.get(tenant) };
  const answer = await ask("POST", "/v1/commands", { headers, body });
  expect(answer.status).toBe(200);
  return answer.body as Command;
}

beforeAll(async () => {
  ask = appOf({ ENGINE_PARTITIONS: String(PARTITIONS) });
  for (const tenant of TENANTS) keys.set(tenant, await newTenant(tenant));
});

describe("with several partitions", () => {
  test("a tenant's commands all go to one, and the tenants to all of them", async () => {
    const used = new Set<string>();
    for (const tenant of TENANTS) {
      const ids = [(await send(tenant, DEPLOY)).commandId, (await send(tenant, CREATE)).commandId];
      const own = String(partitionOf(`tenant:${tenant}`, PARTITIONS) + 1);
      expect(ids.map((id) => id.slice(0, -15))).toEqual([own, own]);
      used.add(own);
    }
    expect(used.size).toBe(PARTITIONS);
  });

  test("keys lead to their partition: jobs run to their end, and commands can be read", async () => {
    for (const tenant of TENANTS) {
      const { result } = await send(tenant, { intent: "JOB:ACTIVATE", payload: { type: "pay" } });
      const completed = await send(tenant, { intent: "JOB:COMPLETE", payload: { jobKey: result.jobs[0]?.jobKey } });
      expect(completed.state).toBe("succeeded");
      const shown = await ask("GET", `/v1/commands/${completed.commandId}`, { headers: keys.get(tenant) ?? {} });
      expect(shown).toMatchObject({ status: 200, body: { state: "succeeded" } });
    }
  });

  test("a key of a partition that there is not opens no object", async () => {
    const headers = keys.get(TENANTS[0] ?? "") ?? {};
    expect((await ask("GET", "/v1/commands/900000000000001", { headers })).status).toBe(404);
    expect((await ask("GET", "/v1/commands/9000000000000001", { headers })).status).toBe(404);
    expect((await ask("GET", "/admin/dead-letters/9000000000000001")).status).toBe(404);
  });

  test("/v1/queue and the admin routes see and change all of them", async () => {
    const headers = keys.get(TENANTS[0] ?? "") ?? {};
    const queue = async () => (await ask("GET", "/v1/queue", { headers })).body;
    expect(await queue()).toMatchObject({ counters: { accepted: TENANTS.length * 4, completed: TENANTS.length * 4 } });

    expect((await ask("PATCH", "/admin/flow-control", { body: { bound: 5, algorithm: "fixed" } })).status).toBe(200);
    expect(await queue()).toMatchObject({
      bound: 5 * PARTITIONS,
      limit: { algorithm: "fixed", value: 200 * PARTITIONS },
    });
    await ask("POST", "/admin/engine/pause", { body: {} });
    for (const tenant of TENANTS) {
      const answer = await ask("POST", "/v1/commands", { headers: keys.get(tenant) ?? {}, body: CREATE });
      expect(answer.status).toBe(202);
    }
    expect(await queue()).toMatchObject({ depth: TENANTS.length, inFlight: TENANTS.length, paused: true });
    expect((await ask("GET", "/admin/flow-control")).body).toMatchObject({ bound: 5, inFlight: TENANTS.length });
    await ask("POST", "/admin/engine/resume");
    expect((await ask("GET", "/admin/dead-letters")).body).toEqual({ deadLetters: [] });
  });
});

describe("PATCH /admin/flow-control", () => {
  test("refuses a bad change whole, names the field, and keeps it out of the audit", async () => {
    const before = (await ask("GET", "/admin/flow-control")).body;
    const bad = { bound: 9, algorithm: "vegas", parameters: { alpha: -1, beta: 6 } };
    expect(await ask("PATCH", "/admin/flow-control", { body: bad })).toMatchObject({
      status: 400,
      body: { code: "invalid_request", errors: [{ path: "parameters.alpha" }] },
    });
    expect((await ask("GET", "/admin/flow-control")).body).toEqual(before);
    const { entries } = (await ask("GET", "/admin/audit")).body as { entries: { action: string; detail: object }[] };
    expect(entries.find(({ detail }) => JSON.stringify(detail).includes("alpha"))).toBeUndefined();
  });

  test("is in the audit with what was changed", async () => {
    const change = { writeRate: { perSecond: 500, burst: 50, warmUpSeconds: 0 } };
    expect((await ask("PATCH", "/admin/flow-control", { body: change })).body).toMatchObject(change);
    const { entries } = (await ask("GET", "/admin/audit?limit=1")).body as { entries: unknown[] };
    expect(entries).toMatchObject([{ action: "flow-control.change", target: "engine", detail: change }]);
    await ask("PATCH", "/admin/flow-control", { body: { writeRate: null } });
  });
});
