import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { create, DEPLOY, post } from "../support/node/client.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// Callers that hang up on a raw socket while their command waits for room: layer 1 has charged them by then.

const BURST = 10;
const WAIT_MS = 2_000;

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder, ["QUEUE_MAX:1", `ENQUEUE_WAIT_MS:${WAIT_MS}`]);
  await post(gateway.url, "/v1/commands", "hg_dev_premium", DEPLOY);
  await post(gateway.url, "/v1/commands", "hg_dev_free", DEPLOY);
  const limits = { requestsPerSecond: 0, burstSize: BURST };
  await post(gateway.url, "/admin/tenants/demo-free/limits", "dev-admin", limits, "PUT");
  await post(gateway.url, "/admin/engine/pause", "dev-admin", {});
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

/** Sends a command, and cuts the connection once the gateway has had the time to charge it. */
async function sendAndReset(n: number): Promise<void> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const body = JSON.stringify(create(n));
  const head = [
    "POST /v1/commands HTTP/1.1",
    `Host: ${hostname}:${port}`,
    "Authorization: Bearer hg_dev_free",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  socket.resetAndDestroy();
}

describe("a caller that resets its connection while its command waits for room", () => {
  test("has its charge back, and takes no place", async () => {
    expect((await post(gateway.url, "/v1/commands", "hg_dev_premium", create(0), "POST")).status).toBe(202);
    const headers = { Authorization: "Bearer hg_dev_free" };
    const remaining = async () => {
      const answer = await fetch(`${gateway.url}/v1/limits`, { headers });
      const { policies } = (await answer.json()) as { policies: { remaining: number }[] };
      return policies[0]?.remaining;
    };
    await Promise.all(Array.from({ length: 5 }, (_, n) => sendAndReset(n)));
    await expect.poll(remaining, { timeout: 3 * WAIT_MS, interval: 100 }).toBe(BURST);
    const queue = (await (await fetch(`${gateway.url}/v1/queue`, { headers })).json()) as { depth: number };
    expect(queue.depth).toBe(1);
  });
});
