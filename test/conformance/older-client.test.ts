import { createCamundaClient } from "@camunda8/orchestration-cluster-api";
import { Camunda8 } from "@camunda8/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../support/node/client.ts";
import { orderProcess } from "../support/node/order.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The engine's older official client: it obeys Retry-After to the letter, with its call held open, and gets through.
// And the newer one in front of a cluster: our own engine stands in for it, behind a gateway of its own.

let cluster: GatewayProcess;
let front: GatewayProcess;
let states: Awaited<ReturnType<typeof temporaryFolder>>[];

beforeAll(async () => {
  states = [await temporaryFolder(), await temporaryFolder()];
  const [behind, before] = states.map(({ folder }) => folder);
  cluster = await startGatewayProcess(behind ?? "");
  front = await startGatewayProcess(before ?? "", [
    `UPSTREAM_URL:${cluster.url}/v2`,
    `UPSTREAM_AUTHORIZATION:Basic ${btoa("demo-premium:hg_dev_premium")}`,
  ]);
});
afterAll(async () => {
  for (const gateway of [front, cluster]) await gateway.kill();
  for (const { remove } of states) await remove();
});

test("in front of a cluster: deploy, a worker, an awaited result, a refusal in the cluster's words, searches", async () => {
  const config = {
    CAMUNDA_REST_ADDRESS: front.url,
    CAMUNDA_SDK_VALIDATION: "fanatical",
    CAMUNDA_AUTH_STRATEGY: "BASIC" as const,
    CAMUNDA_BASIC_AUTH_USERNAME: "demo-standard",
    CAMUNDA_BASIC_AUTH_PASSWORD: "hg_dev_standard",
  };
  const client = createCamundaClient({ config, env: {}, log: { level: "silent" } });
  await client.getTopology();
  const processDefinitionId = "forwarded" as never;
  await client.createDeployment({ resources: [orderProcess("forwarded", "forwarded")] });
  client.createJobWorker({ jobType: "forwarded", jobHandler: (job) => job.complete({ paid: true }) });
  const ended = await client.createProcessInstance({ processDefinitionId, awaitCompletion: true });
  expect(ended.variables).toEqual({ paid: true });
  const { processInstanceKey } = await client.createProcessInstance({ processDefinitionId, businessId: "b" as never });
  await expect(client.completeJob({ jobKey: "1000000000000001" as never })).rejects.toMatchObject({ status: 404 });
  const consistency = { consistency: { waitUpToMs: 0 } };
  const { items } = await client.searchProcessInstances({ filter: { processInstanceKey } }, consistency);
  expect(items).toMatchObject([{ processDefinitionId, businessId: "b" }]);
  client.stopAllWorkers();
  // A deployment, an instance, two completions and the one that was refused; the awaited instance went past the queue.
  const queue = await post<{ counters: Record<string, number> }>(
    front.url,
    "/v1/queue",
    "hg_dev_free",
    undefined,
    "GET",
  );
  expect(queue.body.counters).toMatchObject({ failed: 1, dead: 0 });
  expect(queue.body.counters.accepted).toBeGreaterThanOrEqual(4);
});

test("the older client waits as long as it is told, and no second call was needed", async () => {
  const client = new Camunda8({
    ZEEBE_REST_ADDRESS: cluster.url,
    CAMUNDA_AUTH_STRATEGY: "BASIC",
    CAMUNDA_BASIC_AUTH_USERNAME: "demo-free",
    CAMUNDA_BASIC_AUTH_PASSWORD: "hg_dev_free",
  }).getCamundaRestClient();
  const content = await orderProcess("order", "pay").text();
  await client.deployResources([{ name: "order.bpmn", content }]);
  const usage = async () => {
    const headers = { Authorization: "Bearer dev-admin" };
    const answer = await fetch(`${cluster.url}/admin/tenants/demo-free/usage`, { headers });
    return (await answer.json()) as { admitted: number; refused: number };
  };
  const limits = { requestsPerSecond: 0.5, burstSize: 1 };
  await post(cluster.url, "/admin/tenants/demo-free/limits", "dev-admin", limits, "PUT");
  const before = await usage();

  const began = performance.now();
  const create = () => client.createProcessInstance({ processDefinitionId: "order", variables: {} });
  const [first, second] = [await create(), await create()];
  const waitedMs = performance.now() - began;

  expect(first.processInstanceKey).not.toBe(second.processInstanceKey);
  // One token comes in 2 s: the second call was refused once, told so, and came back then.
  expect(waitedMs).toBeGreaterThanOrEqual(1_900);
  expect(waitedMs).toBeLessThan(4_500);
  const { admitted, refused } = await usage();
  expect([admitted - before.admitted, refused - before.refused]).toEqual([2, 1]);
});

test("the older client's worker waits in a held poll, with a token, and has a job at once", async () => {
  const client = new Camunda8({
    ZEEBE_REST_ADDRESS: cluster.url,
    CAMUNDA_AUTH_STRATEGY: "OAUTH",
    CAMUNDA_OAUTH_URL: `${cluster.url}/oauth/token`,
    ZEEBE_CLIENT_ID: "demo-premium",
    ZEEBE_CLIENT_SECRET: "hg_dev_premium",
    CAMUNDA_TOKEN_DISK_CACHE_DISABLE: true,
  }).getCamundaRestClient();
  const content = await orderProcess("worked", "worked").text();
  await client.deployResources([{ name: "worked.bpmn", content }]);
  const worker = client.createJobWorker({
    type: "worked",
    worker: "older",
    timeout: 10_000,
    maxJobsToActivate: 5,
    jobHandler: (job) => job.complete({ paid: true }),
  });
  // Long enough that the answer of its poll has begun, with blanks.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const began = performance.now();
  const ended = await client.createProcessInstanceWithResult({ processDefinitionId: "worked", variables: { n: 1 } });
  expect(ended.variables).toMatchObject({ n: 1, paid: true });
  expect(performance.now() - began).toBeLessThan(1_000);
  worker.stop();
});
