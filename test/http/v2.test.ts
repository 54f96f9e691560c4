import { abortAllDurableObjects } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { settled } from "../support/event-loop.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";
import { appOf } from "./admin-support.ts";

// The engine's own surface over HTTP, where its clients would not go by themselves: bad input, and what a refusal says.

let acme: Record<string, string>;
let other: Record<string, string>;

const PROCESS = (inside: string, id = "p") => `<?xml version="1.0"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <bpmn:process id="${id}" isExecutable="true">${inside}</bpmn:process></bpmn:definitions>`;
const TASK = `<bpmn:startEvent id="s" /><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="t" />
  <bpmn:serviceTask id="t"><bpmn:extensionElements><zeebe:taskDefinition type="work" /></bpmn:extensionElements>
  </bpmn:serviceTask>`;

interface Said {
  title: string;
  detail: string;
  status: number;
}

async function deploy(parts: [string, string | File][], headers = acme) {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  const init = { method: "POST", headers: { "CF-Connecting-IP": "192.0.2.1", ...headers }, body: form };
  const response = await exports.default.fetch("https://gate.test/v2/deployments", init);
  return { status: response.status, body: (await response.json()) as Said };
}

const bpmn = (xml: string, name = "p.bpmn") => new File([xml], name);
const post = <T = Said>(path: string, body?: unknown, headers = acme) => call<T>("POST", `/v2${path}`, headers, body);
const create = () => post<{ processInstanceKey: string }>("/process-instances", { processDefinitionId: "p" });
const take = async () => {
  const asked = { type: "work", timeout: 60_000, maxJobsToActivate: 1, requestTimeout: -1 };
  const { body } = await post<{ jobs: { jobKey: string; processInstanceKey: string }[] }>("/jobs/activation", asked);
  const [job] = body.jobs;
  if (job === undefined) throw new Error("there is no job");
  return job;
};

beforeAll(async () => {
  acme = await newTenant("acme");
  other = await newTenant("other");
  expect((await deploy([["resources", bpmn(PROCESS(TASK))]])).status).toBe(200);
});

describe("a deployment", () => {
  test.each<[string, [string, string | File][]]>([
    ["no part", []],
    ["no file of the right name", [["other", bpmn(PROCESS(TASK))]]],
    ["text in place of a file", [["resources", PROCESS(TASK)]]],
    ["a file of another kind", [["resources", bpmn(PROCESS(TASK), "rules.dmn")]]],
    ["a file that is empty", [["resources", bpmn("")]]],
    ["a file that is not XML", [["resources", bpmn("not xml")]]],
    ["an element that is not supported", [["resources", bpmn(PROCESS(`${TASK}<bpmn:callActivity id="c" />`, "q"))]]],
    ["bytes that are no text", [["resources", new File([new Uint8Array([0xff, 0xfe, 0x00])], "p.bpmn")]]],
  ])("with %s is 400", async (_label, parts) => {
    const { status, body } = await deploy(parts);
    expect([status, body.title]).toEqual([400, "INVALID_ARGUMENT"]);
  });

  test("names what is wrong, and deploys nothing of it", async () => {
    const bad = PROCESS(`<bpmn:startEvent id="s" /><bpmn:callActivity id="calls" />`, "bad");
    const good = PROCESS(TASK, "good");
    const { body } = await deploy([
      ["resources", bpmn(good, "good.bpmn")],
      ["resources", bpmn(bad, "bad.bpmn")],
    ]);
    expect(body.detail).toContain("calls");
    expect(await post("/process-instances", { processDefinitionId: "good" })).toMatchObject({ status: 404 });
  });

  test("that is no form, or too large, is refused", async () => {
    expect(await post("/deployments", { resources: [] })).toMatchObject({ status: 400 });
    const broken = { ...acme, "Content-Type": "multipart/form-data; boundary=x" };
    expect(await post("/deployments", "--y\r\n", broken)).toMatchObject({ status: 400 });
    const large = await deploy([["resources", bpmn(PROCESS(TASK) + " ".repeat(300_000))]]);
    expect([large.status, large.body.title]).toEqual([413, "INVALID_ARGUMENT"]);
  });
});

describe("bad input is 400 and named", () => {
  test.each<[string, string, unknown, string]>([
    ["a body that is not JSON", "/process-instances", "{processDefinitionId", "not JSON"],
    ["no body", "/process-instances", undefined, ""],
    ["neither id nor key", "/process-instances", {}, "either"],
    ["both", "/process-instances", { processDefinitionId: "p", processDefinitionKey: "1" }, "either"],
    ["a version of 0", "/process-instances", { processDefinitionId: "p", processDefinitionVersion: 0 }, "version"],
    ["variables that are a list", "/process-instances", { processDefinitionId: "p", variables: [] }, "variables"],
    ["instructions", "/process-instances", { processDefinitionId: "p", startInstructions: [{}] }, "startInstructions"],
    ["a poll for nothing", "/jobs/activation", { type: "t", timeout: 1, maxJobsToActivate: 0 }, "maxJobsToActivate"],
    ["a lease of no time", "/jobs/activation", { type: "t", timeout: 0, maxJobsToActivate: 1 }, "timeout"],
    ["a key that is none", "/jobs/abc/completion", {}, "jobKey"],
    ["a key that is far too long", `/jobs/${"1".repeat(26)}/completion`, {}, "jobKey"],
    ["an error without a code", "/jobs/1/error", {}, "errorCode"],
    ["negative retries", "/jobs/1/failure", { retries: -1 }, "retries"],
    ["a filter that is text", "/jobs/search", { filter: "x" }, "filter"],
    ["a filter of an unknown field", "/jobs/search", { filter: { nonsense: 1 } }, "nonsense"],
    ["a sort by an unknown field", "/incidents/search", { sort: [{ field: "nonsense" }] }, ""],
  ])("%s", async (_label, path, body, named) => {
    const answer = await post(path, body);
    expect([answer.status, answer.body.title]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(answer.body.detail).toContain(named);
  });

  test("PATCH without a change", async () => {
    expect(await call("PATCH", "/v2/jobs/1000000000000001", acme, { changeset: {} })).toMatchObject({ status: 400 });
    expect(await call("PATCH", "/v2/jobs/1000000000000001", acme, {})).toMatchObject({ status: 400 });
  });
});

describe("what clients send besides is tolerated", () => {
  test("unknown fields, nulls, numbers as text, messages of any length", async () => {
    const body = {
      processDefinitionId: "p",
      processDefinitionVersion: -1,
      tenantId: "<default>",
      operationReference: 5,
    };
    expect((await post("/process-instances", { ...body, variables: null, tags: [], businessId: null })).status).toBe(
      200,
    );
    const asked = { type: "work", timeout: "60000", maxJobsToActivate: 1, requestTimeout: "-1", tenantIds: ["acme"] };
    const polled = await post<{ jobs: { jobKey: string }[] }>("/jobs/activation", asked);
    const errorMessage = `${"x".repeat(1_999)}\u{1f600}\ud800`;
    const failed = await post(`/jobs/${polled.body.jobs[0]?.jobKey}/failure`, { retries: 0, errorMessage });
    expect(failed.status).toBe(204);
  });

  test("a member named __proto__ comes back as it was sent", async () => {
    const body = '{"processDefinitionId":"p","variables":{"__proto__":{"a":1}}}';
    const { body: made } = await post<{ processInstanceKey: string }>("/process-instances", body);
    const asked = { type: "work", timeout: 60_000, maxJobsToActivate: 50, requestTimeout: -1 };
    const response = await exports.default.fetch("https://gate.test/v2/jobs/activation", {
      method: "POST",
      headers: acme,
      body: JSON.stringify(asked),
    });
    expect(await response.text()).toContain('"variables":{"__proto__":{"a":1}}');
    expect((await post(`/process-instances/${made.processInstanceKey}/cancellation`, {})).status).toBe(204);
  });
});

describe("keys", () => {
  test("of another tenant, of nothing, and of what has ended are not found", async () => {
    const { body } = await create();
    const { jobKey } = await take();
    const cancellation = `/process-instances/${body.processInstanceKey}/cancellation`;
    for (const path of [
      cancellation,
      `/jobs/${jobKey}/completion`,
      `/jobs/${jobKey}/failure`,
      `/incidents/1/resolution`,
    ]) {
      expect(await post(path, {}, other)).toMatchObject({ status: 404, body: { title: "NOT_FOUND" } });
    }
    expect(await call("PATCH", `/v2/jobs/${jobKey}`, other, { changeset: { retries: 1 } })).toMatchObject({
      status: 404,
    });
    expect((await post(cancellation)).status).toBe(204);
    expect(await post(cancellation)).toMatchObject({ status: 404 });
    expect(await post(`/jobs/${jobKey}/completion`)).toMatchObject({ status: 404 });
  });

  test("of another tenant are in no search", async () => {
    await create();
    for (const kind of ["process-instances", "jobs", "incidents"]) {
      const found = await post(`/${kind}/search`, {}, other);
      expect(found).toMatchObject({ status: 200, body: { items: [], page: { totalItems: 0 } } });
    }
    const theirs = await post("/jobs/search", { filter: { tenantId: "acme" } }, other);
    expect(theirs).toMatchObject({ status: 403, body: { title: "FORBIDDEN" } });
  });
});

describe("a refusal", () => {
  test("has the title that clients go by, and a Retry-After of at most 30 s", async () => {
    const slow = await newTenant("slow", { requestsPerSecond: 0.01, burstSize: 1 });
    expect((await call("GET", "/v2/topology", slow)).status).toBe(200);
    const limited = await call("GET", "/v2/topology", slow);
    expect(limited).toMatchObject({ status: 429, body: { title: "RESOURCE_EXHAUSTED", code: "rate_limited" } });
    expect(limited.headers.get("Retry-After")).toBe("30");
    await call("POST", "/admin/engine/pause", ADMIN, { accept: false });
    const paused = await post("/process-instances", { processDefinitionId: "p" });
    expect(paused).toMatchObject({ status: 503, body: { title: "RESOURCE_EXHAUSTED", code: "engine_paused" } });
    expect(Number(paused.headers.get("Retry-After"))).toBeLessThanOrEqual(30);
    await call("POST", "/admin/engine/resume", ADMIN);
  });

  test("of an empty bucket or a full queue is not for what relieves the engine", async () => {
    const { processInstanceKey } = (await create()).body;
    await call("PUT", "/admin/tenants/acme/limits", ADMIN, { requestsPerSecond: 0.01, burstSize: 1 });
    expect((await call("GET", "/v2/topology", acme)).status).toBe(200);
    expect((await create()).status).toBe(429);
    expect((await post(`/process-instances/${processInstanceKey}/cancellation`)).status).toBe(204);
    await call("PUT", "/admin/tenants/acme/limits", ADMIN, { requestsPerSecond: 1000, burstSize: 100_000 });
  });

  test("of a path that is not there has that form too, once the caller is known", async () => {
    expect(await call("GET", "/v2/nowhere", acme)).toMatchObject({ status: 404, body: { title: "NOT_FOUND" } });
    expect(await call("GET", "/v2/nowhere")).toMatchObject({ status: 401, body: { title: "UNAUTHORIZED" } });
  });
});

describe("an engine that restarts", () => {
  test("under a command that is held has it all the same, and its caller is answered", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    await call("POST", "/admin/engine/pause", ADMIN, {});
    const held = create();
    await settled(50);
    await abortAllDurableObjects();
    await settled(50);
    await call("POST", "/admin/engine/resume", ADMIN);
    expect((await held).status).toBe(200);
  });

  test("and does not answer is no refusal to send again, unless sending again does no harm", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const silent = new Proxy({}, { get: () => () => Promise.reject(new Error("overloaded")) });
    const away = new Proxy(env.COMMAND_ENGINE, { get: () => () => silent });
    const ask = appOf();
    const asked = { headers: acme, body: { processDefinitionId: "p" }, env: { ...env, COMMAND_ENGINE: away } };
    const unknown = await ask("POST", "/v2/process-instances", asked);
    expect(unknown).toMatchObject({ status: 504, body: { title: "DEADLINE_EXCEEDED" } });
    const again = await ask("POST", "/v2/jobs/1000000000000001/completion", { ...asked, body: {} });
    expect(again).toMatchObject({ status: 503, body: { title: "RESOURCE_EXHAUSTED" } });
  });
});

describe("an Idempotency-Key", () => {
  test("makes a repeat the first answer, also of an instance that has been made", async () => {
    const headers = { ...acme, "Idempotency-Key": "once" };
    const first = await post("/process-instances", { processDefinitionId: "p" }, headers);
    const second = await post("/process-instances", { processDefinitionId: "p" }, headers);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    const conflict = await post("/process-instances", { processDefinitionId: "q" }, headers);
    expect(conflict).toMatchObject({ status: 422, body: { title: "INVALID_ARGUMENT" } });
  });
});
