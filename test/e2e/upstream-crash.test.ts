import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { post } from "../support/node/client.ts";
import { startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The gateway in front of a real backend, killed again and again in the middle of its deliveries. `KILLS=20 npx vitest
// run --project e2e test/e2e/upstream-crash.test.ts` kills it twenty times; two say the same in less time.

const KILLS = Number(process.env.KILLS ?? 2);
const PER_LIFE = 60;
const JOB_MS = 20;

/** A backend that takes its time, and remembers under which ids it was asked to do which job. */
async function startBackend() {
  const idsOfJob = new Map<number, Set<string>>();
  const done = new Map<string, number>();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { n } = JSON.parse(text) as { n: number };
      const id = String(request.headers["idempotency-key"]);
      idsOfJob.set(n, (idsOfJob.get(n) ?? new Set()).add(id));
      setTimeout(() => {
        done.set(id, (done.get(id) ?? 0) + 1);
        response.setHeader("Content-Type", "application/json").end("{}");
      }, JOB_MS);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    idsOfJob,
    done,
    stop: () => server.closeAllConnections() ?? server.close(),
  };
}

describe(`kill -9 in the middle of deliveries, ${KILLS} times`, () => {
  test("no accepted job is missing, and every repeated delivery has the same id", { timeout: 300_000 }, async () => {
    const backend = await startBackend();
    const { folder, remove } = await temporaryFolder();
    const vars = [`UPSTREAM_URL:${backend.url}`, 'UPSTREAM_ROUTES:{"*":{}}', "UPSTREAM_CONCURRENCY:4"];
    const accepted = new Map<string, number>();
    let n = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const gateway = await startGatewayProcess(folder, vars);
      const send = async (job: number) => {
        const body = { intent: "PROCESS_INSTANCE:CREATE", payload: { n: job } };
        const headers = { Authorization: "Bearer hg_dev_premium" };
        const sent = fetch(`${gateway.url}/v1/commands`, { method: "POST", headers, body: JSON.stringify(body) });
        const answer = await sent.then((response) => response.json()).catch(() => null);
        if (answer !== null) accepted.set((answer as { commandId: string }).commandId, job);
      };
      const sent = Array.from({ length: PER_LIFE }, () => send(n++));
      // Killed once a third of these are through, so that some are waiting, some are being delivered, some are done.
      const enough = backend.done.size + PER_LIFE / 3;
      while (backend.done.size < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      await gateway.kill();
      await Promise.all(sent);
    }
    const gateway = await startGatewayProcess(folder, vars);
    expect(accepted.size).toBeGreaterThanOrEqual(KILLS * (PER_LIFE / 3));
    for (const id of accepted.keys()) {
      const { body } = await post(gateway.url, `/v1/commands/${id}?wait=60`, "hg_dev_premium", undefined, "GET");
      expect([id, body.state]).toEqual([id, "succeeded"]);
      expect(backend.done.has(id)).toBe(true);
    }
    for (const [job, ids] of backend.idsOfJob) expect([job, ids.size]).toEqual([job, 1]);
    const repeated = [...backend.done.values()].filter((times) => times > 1).length;
    console.log(`${accepted.size} accepted, ${backend.done.size} done, ${repeated} of them delivered more than once`);
    await gateway.kill();
    backend.stop();
    await remove();
  });
});
