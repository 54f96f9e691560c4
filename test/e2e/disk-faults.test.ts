import { readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { create, DEPLOY, post } from "../support/node/client.ts";
import { startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// What callers and operators hear when the disk under an engine fails, with a real gateway on real files.

const MIB = 1024 ** 2;

async function withGateway(
  vars: readonly string[],
  run: (url: string, folder: string) => Promise<void>,
): Promise<void> {
  const { folder, remove } = await temporaryFolder();
  const gateway = await startGatewayProcess(folder, vars);
  try {
    await run(gateway.url, folder);
  } finally {
    await gateway.kill();
    await remove();
  }
}

/** The engine's database, opened beside the gateway. */
function engineDatabase(folder: string): DatabaseSync {
  const objects = path.join(folder, "v3/do/headgate-CommandEngine");
  const [name = ""] = readdirSync(objects).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file));
  return new DatabaseSync(path.join(objects, name));
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: (await response.json()) as { engine: string } };
};

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!(await holds()) && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await holds()).toBe(true);
}

describe("an engine's disk", () => {
  test("that another process has locked is 503 unavailable with a time to come back, until it is free again", () =>
    withGateway([], async (url, folder) => {
      expect((await post(url, "/v1/commands", "hg_dev_free", DEPLOY)).status).toBe(200);
      const other = engineDatabase(folder);
      other.exec("BEGIN IMMEDIATE");
      const refused = await post(url, "/v1/commands", "hg_dev_free", create(1));
      expect(refused).toMatchObject({ status: 503, body: { code: "unavailable" } });
      expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
      await until(async () => (await readiness(url)).status === 503);
      other.exec("ROLLBACK");
      other.close();
      await until(async () => (await readiness(url)).status === 200);
      expect((await post(url, "/v1/commands", "hg_dev_free", create(1))).status).toBe(200);
    }));

  test("that is short of space refuses ordinary commands, takes critical ones, shows, and heals by itself", () =>
    withGateway([`STORAGE_BYTES_MAX:${MIB}`, "FINISHED_KEEP_HOURS:1"], async (url) => {
      await post(url, "/v1/commands", "hg_dev_premium", DEPLOY);
      const text = "x".repeat(200_000);
      const big = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p", variables: { text } } };
      const keys: string[] = [];
      for (let n = 0; n < 300; n++) {
        const { status, body } = await post(url, "/v1/commands", "hg_dev_premium", big);
        if (status !== 200) break;
        keys.push(body.result.processInstanceKey);
      }
      const refused = await post(url, "/v1/commands", "hg_dev_free", create(1));
      expect(refused).toMatchObject({ status: 503, body: { code: "storage_full" } });
      expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
      await until(async () => (await readiness(url)).body.engine === "storage_full");
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const value = (name: string) => Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(metrics)?.[1]);
      expect(value("headgate_storage_bytes")).toBeGreaterThan(value("headgate_storage_bytes_max"));

      const [first = ""] = keys;
      const cancel = { intent: "PROCESS_INSTANCE:CANCEL", payload: { processInstanceKey: first } };
      expect((await post(url, "/v1/commands", "hg_dev_premium", cancel)).status).toBe(200);
      const removed = await fetch(`${url}/admin/tenants/demo-premium`, {
        method: "DELETE",
        headers: { Authorization: "Bearer dev-admin" },
      });
      expect(removed.status).toBe(204);
      await until(async () => (await readiness(url)).status === 200);
      await until(async () => (await post(url, "/v1/commands", "hg_dev_free", DEPLOY)).status === 200);
    }));
});
