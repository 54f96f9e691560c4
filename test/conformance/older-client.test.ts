import { Camunda8 } from "@camunda8/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../support/node/client.ts";
import { orderProcess } from "../support/node/order.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The engine's older official client: it obeys Retry-After to the letter, with its call held open, and gets through.

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder);
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

test("it waits as long as it is told, and no second call was needed", async () => {
  const client = new Camunda8({
    ZEEBE_REST_ADDRESS: gateway.url,
    CAMUNDA_AUTH_STRATEGY: "BASIC",
    CAMUNDA_BASIC_AUTH_USERNAME: "demo-free",
    CAMUNDA_BASIC_AUTH_PASSWORD: "hg_dev_free",
  }).getCamundaRestClient();
  const content = await orderProcess("order", "pay").text();
  await client.deployResources([{ name: "order.bpmn", content }]);
  const usage = async () => {
    const headers = { Authorization: "Bearer dev-admin" };
    const answer = await fetch(`${gateway.url}/admin/tenants/demo-free/usage`, { headers });
    return (await answer.json()) as { admitted: number; refused: number };
  };
  const limits = { requestsPerSecond: 0.5, burstSize: 1 };
  await post(gateway.url, "/admin/tenants/demo-free/limits", "dev-admin", limits, "PUT");
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
