import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Ask, appOf } from "./admin-support.ts";

// An admin write over several partitions of which one is away: what has changed is told, audited, and safe to repeat.

let ask: Ask;

beforeEach(() => {
  ask = appOf({ ENGINE_PARTITIONS: "3" });
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(async () => {
  await ask("POST", "/admin/engine/resume");
  vi.restoreAllMocks();
});

/** An environment in which these engine objects cannot be reached, once they are asked for a thing by this name. */
function envWithout(away: readonly string[], method = ""): Env {
  const fail = async () => {
    throw new Error("cannot be reached");
  };
  const { COMMAND_ENGINE: engines } = env;
  const stubOf = (id: DurableObjectId) => {
    const stub = engines.get(id);
    if (!away.includes(id.name ?? "")) return stub;
    return new Proxy(stub, {
      get: (target, name) => (method === "" || name === method ? fail : Reflect.get(target, name)),
    });
  };
  const COMMAND_ENGINE = { idFromName: (name: string) => engines.idFromName(name), get: stubOf };
  return { ...env, COMMAND_ENGINE: COMMAND_ENGINE as unknown as Env["COMMAND_ENGINE"] };
}

async function audit(limit: number): Promise<{ action: string; detail: object }[]> {
  return ((await ask("GET", `/admin/audit?limit=${limit}`)).body as { entries: { action: string; detail: object }[] })
    .entries;
}

describe("with a partition that does not answer", () => {
  test.each([
    ["engine.pause", "POST", "/admin/engine/pause", { accept: true }, "pause"],
    ["engine.resume", "POST", "/admin/engine/resume", undefined, "resume"],
    ["flow-control.change", "PATCH", "/admin/flow-control", { bound: 7 }, "changeFlow"],
  ])("%s says which have changed, and so does the audit", async (action, method, path, body, call) => {
    const given = body === undefined ? {} : { body };
    const answer = await ask(method, path, { ...given, env: envWithout(["engine:1"], call) });
    expect(answer.status).toBe(503);
    expect(answer.headers.get("Retry-After")).toBe("5");
    expect(answer.body).toMatchObject({
      code: "unavailable",
      detail: expect.stringMatching(/Partitions 1, 3 confirmed.*Partition 2 did not.*Repeating the request is safe/),
      partitions: { confirmed: [1, 3], unconfirmed: [2] },
    });
    expect(await audit(2)).toMatchObject([
      { action, detail: { confirmed: [1, 3], unconfirmed: [2] } },
      { action, detail: body ?? {} },
    ]);
    expect((await ask(method, path, given)).status).toBe(200);
    expect((await audit(1))[0]?.detail).toEqual(body ?? {});
  });

  test("limits that cannot be read are not changed in any", async () => {
    const before = (await ask("GET", "/admin/flow-control")).body;
    const env = envWithout(["engine:2"]);
    const entries = await audit(1);
    const answer = await ask("PATCH", "/admin/flow-control", { body: { bound: 9 }, env });
    expect(answer).toMatchObject({ status: 503, body: { partitions: { confirmed: [], unconfirmed: [3] } } });
    expect((await ask("GET", "/admin/flow-control")).body).toEqual(before);
    expect(await audit(1)).toEqual(entries);
  });
});
