import { type CamundaClient, createCamundaClient } from "@camunda8/orchestration-cluster-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { orderProcess } from "../support/node/order.ts";
import { type GatewayProcess, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The engine's official client, unmodified and with its strictest validation, against the real Worker: every answer has
// each member that its types name and none besides, and every refusal is one that it understands.

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder, ["LOCAL_TENANT:demo-standard"]);
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

type Settings = Record<string, string>;

const BASIC = (tier: string): Settings => ({
  CAMUNDA_AUTH_STRATEGY: "BASIC",
  CAMUNDA_BASIC_AUTH_USERNAME: `demo-${tier}`,
  CAMUNDA_BASIC_AUTH_PASSWORD: `hg_dev_${tier}`,
});
/** How a client may say who it is, with the path in front of `/v2` that it is given. */
const WAYS: [string, { at: string; settings: () => Settings }][] = [
  ["NONE", { at: "", settings: () => ({ CAMUNDA_AUTH_STRATEGY: "NONE" }) }],
  ["BASIC", { at: "/t/demo-premium", settings: () => BASIC("premium") }],
  [
    "OAUTH",
    {
      at: "",
      settings: () => ({
        CAMUNDA_AUTH_STRATEGY: "OAUTH",
        CAMUNDA_OAUTH_URL: `${gateway.url}/oauth/token`,
        CAMUNDA_CLIENT_ID: "demo-standard",
        CAMUNDA_CLIENT_SECRET: "hg_dev_standard",
      }),
    },
  ],
];

/** @param env nothing of this machine's own environment */
function clientOf(at: string, settings: Settings, fetch = globalThis.fetch): CamundaClient {
  const config = { CAMUNDA_REST_ADDRESS: gateway.url + at, CAMUNDA_SDK_VALIDATION: "fanatical", ...settings };
  return createCamundaClient({ config, env: {}, fetch, log: { level: "silent" } });
}

/** Searches are answered from the engine itself: nothing has to be waited for. */
const AT_ONCE = { consistency: { waitUpToMs: 0 } };

/** What a rejected call's status and title were. */
async function refusal(call: Promise<unknown>): Promise<{ status: unknown; title: unknown }> {
  try {
    await call;
  } catch (error) {
    const { status, title } = Object(error);
    return { status, title };
  }
  throw new Error("the call was not refused");
}

describe.each(WAYS)("with %s", (way, { at, settings }) => {
  const name = way.toLowerCase();
  const type = `pay-${name}`;
  const processDefinitionId = `order-${name}` as never;
  let client: CamundaClient;

  const create = (more: object = {}) => client.createProcessInstance({ processDefinitionId, ...more });
  const activate = async (more: object = {}) => {
    const { jobs } = await client.activateJobs({ type, timeout: 60_000, maxJobsToActivate: 1, worker: "w", ...more });
    const [job] = jobs;
    if (job === undefined) throw new Error("there is no job");
    return job;
  };
  const stateOf = async (processInstanceKey: unknown) => {
    const filter = { processInstanceKey: processInstanceKey as never };
    const { items } = await client.searchProcessInstances({ filter }, AT_ONCE);
    return items[0];
  };

  beforeAll(async () => {
    client = clientOf(at, settings());
    const deployed = await client.createDeployment({ resources: [orderProcess(processDefinitionId, type)] });
    expect(deployed.processes).toMatchObject([{ processDefinitionId, processDefinitionVersion: 1 }]);
  });
  afterAll(() => client.stopAllWorkers());

  test("it finds a cluster, and a deployment that is repeated adds nothing", async () => {
    const topology = await client.getTopology();
    expect(topology).toMatchObject({ clusterSize: 1, brokers: [{ partitions: [{ role: "leader" }] }] });
    await client.getStatus();
    expect(await client.getLicense()).toMatchObject({ validLicense: false });
    const again = await client.createDeployment({ resources: [orderProcess(processDefinitionId, type)] });
    expect(again.processes).toMatchObject([{ processDefinitionVersion: 1 }]);
  });

  test("a worker completes jobs; the result is awaited, with the variables that are asked for", async () => {
    // Of a type of its own: its last poll is held for a while after it was stopped.
    const id = `worked-${name}` as never;
    await client.createDeployment({ resources: [orderProcess(id, id)] });
    const worker = client.createJobWorker({
      jobType: id,
      jobHandler: (job) => job.complete({ paid: true, by: String(job.customHeaders.method) }),
    });
    const awaiting = { processDefinitionId: id, variables: { n: 7 }, awaitCompletion: true };
    const ended = await create({ ...awaiting, requestTimeout: 5_000, tags: ["a"] });
    expect(ended).toMatchObject({ variables: { n: 7, paid: true, by: "card" }, tags: ["a"] });
    const some = await create({ ...awaiting, fetchVariables: ["paid"] });
    expect(some.variables).toEqual({ paid: true });
    expect(await stateOf(some.processInstanceKey)).toMatchObject({ state: "COMPLETED", hasIncident: false });
    worker.stop();
  });

  test("what is awaited too long is 504, and the instance is there all the same", async () => {
    const awaiting = create({ awaitCompletion: true, requestTimeout: 50, businessId: `late-${name}` });
    expect(await refusal(awaiting)).toEqual({ status: 504, title: "DEADLINE_EXCEEDED" });
    const again = create({ businessId: `late-${name}` });
    expect(await refusal(again)).toEqual({ status: 409, title: "ALREADY_EXISTS" });
    const job = await activate();
    await client.cancelProcessInstance({ processInstanceKey: job.processInstanceKey });
    expect(await stateOf(job.processInstanceKey)).toMatchObject({ state: "TERMINATED", businessId: `late-${name}` });
  });

  test("a job fails until it is out of retries, its incident is resolved, and it is completed, twice over", async () => {
    const { processInstanceKey } = await create();
    const first = await activate();
    await client.updateJob({ jobKey: first.jobKey, changeset: { timeout: 120_000, retries: 2 } });
    await client.failJob({ jobKey: first.jobKey, retries: 1, errorMessage: "no card", retryBackOff: 0 });
    const second = await activate();
    expect(second).toMatchObject({ jobKey: first.jobKey, retries: 1 });
    await client.failJob({ jobKey: second.jobKey, retries: 0, errorMessage: "still no card" });
    const filter = { processInstanceKey };
    const { items } = await client.searchIncidents({ filter }, AT_ONCE);
    expect(items).toMatchObject([{ errorType: "JOB_NO_RETRIES", errorMessage: "still no card", state: "ACTIVE" }]);
    expect(await stateOf(processInstanceKey)).toMatchObject({ state: "ACTIVE", hasIncident: true });
    const [incident] = items;
    if (incident === undefined) throw new Error("there is no incident");
    await client.updateJob({ jobKey: second.jobKey, changeset: { retries: 1 } });
    await client.resolveIncident({ incidentKey: incident.incidentKey });
    const third = await activate();
    const found = await client.searchJobs({ filter }, AT_ONCE);
    expect(found.items).toMatchObject([{ jobKey: third.jobKey, type, worker: "w", retries: 1 }]);
    await client.completeJob({ jobKey: third.jobKey, variables: { paid: true } });
    await client.completeJob({ jobKey: third.jobKey, variables: { paid: true } });
    expect(await stateOf(processInstanceKey)).toMatchObject({ state: "COMPLETED" });
  });

  test("an error is caught by its boundary event; one that nobody catches makes an incident", async () => {
    const { processInstanceKey } = await create();
    await client.throwJobError({ jobKey: (await activate()).jobKey, errorCode: "DECLINED", errorMessage: "no" });
    expect(await stateOf(processInstanceKey)).toMatchObject({ state: "COMPLETED" });
    const uncaught = await create();
    await client.throwJobError({ jobKey: (await activate()).jobKey, errorCode: "STOLEN" });
    const { processInstanceKey: key } = uncaught;
    const { items } = await client.searchIncidents({ filter: { processInstanceKey: key } }, AT_ONCE);
    expect(items).toMatchObject([{ errorType: "UNHANDLED_ERROR_EVENT", elementId: "pay" }]);
    await client.cancelProcessInstance({ processInstanceKey: key });
  });

  test("what is not there, or not its own, is 404; what is wrong is 400", async () => {
    const { processInstanceKey } = await create();
    const job = await activate();
    const other = clientOf("", BASIC("free"));
    const nowhere = { processDefinitionId: "nowhere" as never };
    expect(await refusal(client.createProcessInstance(nowhere))).toEqual({ status: 404, title: "NOT_FOUND" });
    expect(await refusal(other.cancelProcessInstance({ processInstanceKey }))).toMatchObject({ status: 404 });
    expect(await refusal(other.completeJob({ jobKey: job.jobKey }))).toMatchObject({ status: 404 });
    const foreign = other.createProcessInstance({ processDefinitionId, tenantId: "acme" as never });
    expect(await refusal(foreign)).toEqual({ status: 403, title: "FORBIDDEN" });
    await client.cancelProcessInstance({ processInstanceKey });
    expect(await refusal(client.completeJob({ jobKey: job.jobKey }))).toEqual({ status: 404, title: "NOT_FOUND" });
    const broken = new File(["<bpmn:definitions"], "broken.bpmn");
    const deployment = client.createDeployment({ resources: [broken] });
    expect(await refusal(deployment)).toEqual({ status: 400, title: "INVALID_ARGUMENT" });
  });
});

test("a worker without work asks less than once a second, and a job that comes is there at once", async () => {
  let polls = 0;
  const counting: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url.endsWith("/jobs/activation")) polls += 1;
    return fetch(input, init);
  };
  const client = clientOf("", BASIC("premium"), counting);
  await client.createDeployment({ resources: [orderProcess("idle", "idle")] });
  const taken = Promise.withResolvers<number>();
  client.createJobWorker({
    jobType: "idle",
    jobHandler: (job) => {
      taken.resolve(performance.now());
      return job.complete();
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(polls).toBeLessThan(3);
  const began = performance.now();
  await client.createProcessInstance({ processDefinitionId: "idle" as never });
  expect((await taken.promise) - began).toBeLessThan(500);
  client.stopAllWorkers();
});
