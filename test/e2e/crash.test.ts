import { describe, expect, test } from "vitest";
import { type Command, create, DEPLOY, post } from "../support/node/client.ts";
import { startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// What is left after every process of the gateway died at once, in the middle of its work.

describe("kill -9 under load", () => {
  test("every acknowledged command is there after a restart, and ran once", async () => {
    const { folder, remove } = await temporaryFolder();
    const acknowledged = new Map<string, number>();
    let first = await startGatewayProcess(folder);
    await post(first.url, "/v1/commands", "hg_dev_premium", DEPLOY);
    let next = 0;
    for (const enough of [200, 400]) {
      const { url } = first;
      const sender = async () => {
        for (;;) {
          const n = next++;
          const answer = await post(url, "/v1/commands", "hg_dev_premium", create(n)).catch(() => null);
          if (answer === null) return;
          if (answer.status < 300) acknowledged.set(answer.body.commandId, n);
          if (acknowledged.size >= enough) await first.kill().catch(() => undefined);
        }
      };
      await Promise.all(Array.from({ length: 16 }, sender));
      first = await startGatewayProcess(folder);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(400);
    const unlimited = { requestsPerSecond: 100_000, burstSize: 1_000_000 };
    await post(first.url, "/admin/tenants/demo-premium/limits", "dev-admin", unlimited, "PUT");

    const seen = new Map<number, number>();
    for (;;) {
      const activate = { intent: "JOB:ACTIVATE", payload: { type: "t", maxJobs: 100, timeoutSeconds: 600 } };
      const { jobs } = (await post(first.url, "/v1/commands", "hg_dev_premium", activate)).body.result;
      if (jobs.length === 0) break;
      for (const { variables } of jobs) seen.set(variables.n, (seen.get(variables.n) ?? 0) + 1);
    }
    expect([...seen.values()].filter((times) => times !== 1)).toEqual([]);
    const headers = { Authorization: "Bearer hg_dev_premium" };
    const shown = async (commandId: string) =>
      (await (await fetch(`${first.url}/v1/commands/${commandId}`, { headers })).json()) as Command;
    const states = await Promise.all([...acknowledged.keys()].map(async (id) => (await shown(id)).state));
    expect(new Set(states)).toEqual(new Set(["succeeded"]));
    for (const n of acknowledged.values()) expect(seen.has(n)).toBe(true);
    await first.kill();
    await remove();
  });
});
