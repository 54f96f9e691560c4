import { afterEach, describe, expect, test } from "vitest";
import { create, DEPLOY, post } from "../support/node/client.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// What callers of a real gateway are told, and what then happens, in real time.

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

/** A gateway whose tenants have limits that they do not meet here. */
async function start(...vars: string[]): Promise<void> {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder, vars);
  for (const tier of ["free", "premium"]) {
    const limits = { requestsPerSecond: 100_000, burstSize: 100_000 };
    await post(gateway.url, `/admin/tenants/demo-${tier}/limits`, "dev-admin", limits, "PUT");
    await post(gateway.url, "/v1/commands", `hg_dev_${tier}`, DEPLOY);
  }
}

afterEach(async () => {
  await gateway.kill();
  await state.remove();
});

async function ask(tier: string, n: number): Promise<{ readonly status: number; readonly toldSeconds: number }> {
  const headers = { Authorization: `Bearer hg_dev_${tier}` };
  const body = JSON.stringify(create(n));
  const response = await fetch(`${gateway.url}/v1/commands`, { method: "POST", headers, body });
  await response.arrayBuffer();
  return { status: response.status, toldSeconds: Number(response.headers.get("Retry-After")) };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

describe("waits over HTTP", () => {
  test("two tenants that ask every 25 ms are told no growing waits, and an empty queue takes all that comes", async () => {
    await start("ENGINE_RATE_MAX:40", "QUEUE_MAX:70");
    const asked: ReturnType<typeof ask>[] = [];
    const beganMs = Date.now();
    for (let n = 0; Date.now() - beganMs < 10_000; n++) {
      asked.push(ask("free", n), ask("premium", n));
      await sleep(beganMs + 25 * (n + 1) - Date.now());
    }
    const refused = (await Promise.all(asked)).filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(50);
    // The queue drains in 1.75 s.
    expect(Math.max(...refused.map(({ toldSeconds }) => toldSeconds))).toBeLessThanOrEqual(4);
    await sleep(2_500);
    const fresh = await Promise.all(Array.from({ length: 30 }, (_, n) => ask("free", n)));
    expect(fresh.map(({ status }) => status)).toEqual(new Array(30).fill(202));
  }, 120_000);

  test("a cold engine tells waits from its known speed, and its pace never exceeds that", async () => {
    await start("ENGINE_RATE_MAX:5", "QUEUE_MAX:20", "ENQUEUE_WAIT_MS:0");
    const first = await Promise.all(Array.from({ length: 45 }, (_, n) => ask("premium", n)));
    const refused = first.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(15);
    const paces: number[] = [];
    const again = await Promise.all(
      refused.map(async ({ toldSeconds }, n) => {
        expect(toldSeconds).toBeLessThanOrEqual(8);
        await sleep(1000 * toldSeconds);
        const headers = { Authorization: "Bearer hg_dev_premium" };
        const status = await (await fetch(`${gateway.url}/v1/queue`, { headers })).json();
        paces.push((status as { pacePerSecond: number | null }).pacePerSecond ?? 0);
        return await ask("premium", n);
      }),
    );
    expect(again.filter(({ status }) => status === 202).length).toBeGreaterThanOrEqual(0.95 * refused.length);
    expect(Math.max(...paces)).toBeLessThanOrEqual(5);
  }, 120_000);
});
