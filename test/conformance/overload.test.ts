import { type CamundaClient, createCamundaClient } from "@camunda8/orchestration-cluster-api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { post } from "../support/node/client.ts";
import { orderProcess } from "../support/node/order.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The official client in front of an engine that is too slow for it: its own backpressure engages, what relieves the
// engine goes through, and nothing happens twice.

const CLIENTS = 8;
const CREATES_EACH = 25;
const JOBS = 30;

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  state = await temporaryFolder();
  // A queue of a tenth of a second, where nobody waits for room.
  const slow = ["ENGINE_RATE_MAX:80", "QUEUE_MAX:8", "ENQUEUE_WAIT_MS:0"];
  gateway = await startGatewayProcess(state.folder, slow);
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

/** @param requests gets the path of each request; @param heldBack gets clients whose own backpressure has engaged */
function newClient(requests: string[] = [], heldBack = new Set<CamundaClient>()): CamundaClient {
  const config = {
    CAMUNDA_REST_ADDRESS: gateway.url,
    CAMUNDA_SDK_VALIDATION: "fanatical",
    CAMUNDA_AUTH_STRATEGY: "BASIC" as const,
    CAMUNDA_BASIC_AUTH_USERNAME: "demo-premium",
    CAMUNDA_BASIC_AUTH_PASSWORD: "hg_dev_premium",
  };
  const counting: typeof fetch = (input, init) => {
    requests.push(new URL(input instanceof Request ? input.url : String(input)).pathname);
    const { severity, permitsMax } = client.getBackpressureState();
    if (severity !== "healthy" && permitsMax !== null && permitsMax < 16) heldBack.add(client);
    return fetch(input, init);
  };
  const client = createCamundaClient({ config, env: {}, fetch: counting, log: { level: "silent" } });
  return client;
}

const processDefinitionId = "order" as never;
const AT_ONCE = { consistency: { waitUpToMs: 0 } };

async function countInstances(client: CamundaClient): Promise<number> {
  const filter = { processDefinitionId, state: "ACTIVE" as const };
  return (await client.searchProcessInstances({ filter, page: { limit: 1 } }, AT_ONCE)).page.totalItems;
}

test("8 clients on a slow engine: they hold back, relief goes through, nothing is done twice", async () => {
  const first = newClient();
  await first.createDeployment({ resources: [orderProcess("order", "pay")] });
  for (let n = 0; n < JOBS; n++) await first.createProcessInstance({ processDefinitionId });
  const { jobs } = await first.activateJobs({ type: "pay", timeout: 60_000, maxJobsToActivate: JOBS });
  expect(jobs).toHaveLength(JOBS);
  const [completed, cancelled] = [jobs.slice(0, JOBS / 2), jobs.slice(JOBS / 2)];

  const polls: string[] = [];
  const idle = newClient(polls);
  idle.createJobWorker({ jobType: "never", jobHandler: (job) => job.complete() });
  const began = performance.now();

  const requests: string[] = [];
  const heldBack = new Set<CamundaClient>();
  // Standing still until each client has been refused: however slow this machine is, it is then too fast.
  await post(gateway.url, "/admin/engine/pause", "dev-admin", {});
  const clients = Array.from({ length: CLIENTS }, () => newClient(requests, heldBack));
  const creating = Promise.allSettled(
    clients.flatMap((client) =>
      Array.from({ length: CREATES_EACH }, () => client.createProcessInstance({ processDefinitionId })),
    ),
  );
  const relief = Promise.allSettled([
    ...completed.map(({ jobKey }) => first.completeJob({ jobKey })),
    ...cancelled.map(({ processInstanceKey }) => first.cancelProcessInstance({ processInstanceKey })),
  ]);

  await vi.waitUntil(() => heldBack.size === CLIENTS, { timeout: 10_000, interval: 10 });
  await post(gateway.url, "/admin/engine/resume", "dev-admin", {});

  const created = (await creating).filter(({ status }) => status === "fulfilled").length;
  expect((await relief).filter(({ status }) => status === "rejected")).toEqual([]);
  // Refused they were, and those that gave up have made nothing.
  expect(requests.length).toBeGreaterThan(CLIENTS * CREATES_EACH);
  expect(created).toBeGreaterThan(0);
  expect(await countInstances(first)).toBe(created);

  const seconds = (performance.now() - began) / 1000;
  expect(polls.filter((path) => path.endsWith("/activation")).length).toBeLessThan(Math.max(1, seconds) + 1);
  idle.stopAllWorkers();
  console.info(
    `${created} of ${CLIENTS * CREATES_EACH} created in ${seconds.toFixed(1)} s with ${requests.length} requests; ` +
      `${JOBS} relieving calls, none refused; ${polls.length} polls of an idle worker`,
  );
});
