import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { minuteOf } from "../../src/core/usage-minutes.ts";
import { saveUsage } from "../../src/store/usage.ts";
import { type ApiDocument, type ExampleRequest, examplesOf, faultsBy, operationsOf } from "../support/api-document.ts";
import {
  type Credentials,
  expectDocumented,
  fetchFrom,
  type Made,
  membersOf,
  readDocument,
  requestOf,
} from "../support/example-requests.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// Whatever the API document shows is sent to the Worker, and what comes back must be what the document says.

const VARS = {
  ADMIN_TOKEN: "test-admin",
  VIEWER_TOKEN: "test-viewer",
  OAUTH_SECRET: "a secret of 32 characters or more",
};
const app = createApp(parseConfig(VARS));
const document: ApiDocument = await readDocument(app);
const examples = operationsOf(document).flatMap((placed) => examplesOf(placed));
/** A command is dead only in front of a backend: test/upstream/api-examples.test.ts sends these. */
const UPSTREAM_ONLY = /^(list|get|delete|redrive)DeadLetters?\b/;

const ORDER = `<?xml version="1.0"?><bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><bpmn:process id="order" isExecutable="true">
  <bpmn:startEvent id="s" /><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="pay" /><bpmn:serviceTask id="pay">
  <bpmn:extensionElements><zeebe:taskDefinition type="pay" /></bpmn:extensionElements></bpmn:serviceTask>
  </bpmn:process></bpmn:definitions>`;

let credentials: Credentials;
let definitionKey: string;

beforeAll(async () => {
  credentials = { admin: ADMIN, tenant: await newTenant("shop") };
  const form = new FormData();
  form.append("resources", new File([ORDER], "order.bpmn"));
  const headers = { "CF-Connecting-IP": "192.0.2.1", ...credentials.tenant };
  const request = new Request("https://gate.test/v2/deployments", { method: "POST", headers, body: form });
  const deployed: { deployments: [{ processDefinition: { processDefinitionKey: string } }] } = await (
    await fetchFrom(app, request)
  ).json();
  definitionKey = deployed.deployments[0].processDefinition.processDefinitionKey;
});

afterEach(async () => {
  await call("POST", "/admin/engine/resume", ADMIN);
  await call("PATCH", "/admin/flow-control", ADMIN, { writeRate: null });
});

const v2 = <T>(path: string, body: object) => call<T>("POST", `/v2${path}`, credentials.tenant, body);
const acme = async (): Promise<Made> => {
  await call("PUT", "/admin/tenants/acme", ADMIN, { tier: "standard" });
  return {};
};
const noAcme = async (): Promise<Made> => {
  await call("DELETE", "/admin/tenants/acme", ADMIN);
  return {};
};
const gold = async (): Promise<Made> => {
  await call("PUT", "/admin/tiers/gold", ADMIN, { requestsPerSecond: 500, burstSize: 1000, weight: 2 });
  return {};
};
const instance = async (): Promise<Made> => {
  const { body } = await v2<{ processInstanceKey: string }>("/process-instances", { processDefinitionId: "order" });
  return { "1179603723715804": body.processInstanceKey };
};
const job = async (): Promise<Made> => {
  await instance();
  const poll = { type: "pay", timeout: 60_000, maxJobsToActivate: 1, requestTimeout: -1 };
  const { body } = await v2<{ jobs: [{ jobKey: string }] }>("/jobs/activation", poll);
  return { "1179603723715807": body.jobs[0].jobKey, "1179603723715815": body.jobs[0].jobKey };
};
const incident = async (): Promise<Made> => {
  const { "1179603723715807": jobKey } = await job();
  await v2(`/jobs/${jobKey}/failure`, { retries: 0, errorMessage: "card declined" });
  const { body } = await v2<{ items: [{ incidentKey: string }] }>("/incidents/search", {});
  return { "1179603723715810": body.items[0].incidentKey };
};
const send = async (): Promise<Made> => {
  const create = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } };
  const { body } = await call<{ commandId: string }>("POST", "/v1/commands", credentials.tenant, create);
  return { "1179603723715811": body.commandId, "1179603723715817": body.commandId };
};
const waiting = async (): Promise<Made> => {
  await call("POST", "/admin/engine/pause", ADMIN);
  return send();
};
const apiKey = async (): Promise<Made> => {
  await acme();
  const { body } = await call<{ keyId: string }>("POST", "/admin/tenants/acme/keys", ADMIN, { name: "ci" });
  return { key_rc3ukcpBNgUINY6q: body.keyId };
};
const demo = async (): Promise<Made> => {
  const { body } = await call<{ key: string }>("POST", "/admin/tenants/shop/keys", ADMIN);
  return { "demo-standard": "shop", hg_dev_standard: body.key };
};
const used = async (): Promise<Made> => {
  await acme();
  const counts = { tier: "standard", admitted: 12, refused: 3, returned: 0 };
  const parcel = { number: 1, minutes: [{ minute: minuteOf(Date.now()), ...counts }] };
  await saveUsage(env.DB, { tenant: "acme", tier: "standard", life: crypto.randomUUID() }, parcel);
  return {};
};

/** What an example needs to be there first. */
const FIRST: Readonly<Record<string, () => Promise<Made>>> = {
  "sendCommand activate": instance,
  "sendCommand complete": job,
  "getCommand ended": send,
  "getCommand queued": waiting,
  "cancelCommand queued": waiting,
  "createToken form": demo,
  "createProcessInstance byKey": async () => ({ "1179603723715802": definitionKey }),
  "cancelProcessInstance active": instance,
  "activateJobs one": instance,
  "completeJob paid": job,
  "failJob declined": job,
  "throwJobError stolen": job,
  "updateJob longer": job,
  "resolveIncident open": incident,
  "searchProcessInstances active": instance,
  "searchIncidents all": incident,
  "searchJobs ofType": instance,
  "getTier gold": gold,
  "putTier made": async () => {
    await call("DELETE", "/admin/tiers/gold", ADMIN);
    return {};
  },
  "deleteTier gold": gold,
  "listTenants first": acme,
  "getTenant acme": acme,
  "putTenant made": noAcme,
  "putTenant suspended": async () => {
    await call("PUT", "/admin/tenants/umbrella", ADMIN, { tier: "standard" });
    return {};
  },
  "deleteTenant acme": acme,
  "putTenantLimits lower": acme,
  "deleteTenantLimits acme": acme,
  "resetTenant acme": acme,
  "getTenantUsage acme": used,
  "getUsage hour": used,
  "createKey named": acme,
  "createKey expiring": acme,
  "listKeys acme": apiKey,
  "deleteKey ci": apiKey,
};

const named = (of: readonly ExampleRequest[]) =>
  of.map((example): [string, ExampleRequest] => [`${example.operation.operationId} ${example.name}`, example]);

describe("a request of the document is answered as the document says", () => {
  const sent = named(examples).filter(([name]) => !UPSTREAM_ONLY.test(name));

  test.for(sent)("%s", async ([name, example]) => {
    const made = await FIRST[name]?.();
    const answer = await fetchFrom(app, requestOf(example, credentials, made));
    expect([name, answer.status]).toEqual([name, example.status]);
    const body = await expectDocumented(document, example, answer);
    // A whole document is shown by none of its examples.
    if (example.answer !== undefined) expect(membersOf(body)).toEqual(membersOf(example.answer));
  });

  test("and what is set up is for requests that there are", () => {
    const names = sent.map(([name]) => name);
    expect(Object.keys(FIRST).filter((name) => !names.includes(name))).toEqual([]);
  });
});

test.for(named(examples))(
  "the answer that is shown holds against its schema: %s",
  ([name, { operation, status, answer }]) => {
    const response = operation.responses[status];
    if (response === undefined || "$ref" in response) throw new Error(`${name} has no answer of its own`);
    for (const { schema } of Object.values(response.content ?? {})) {
      if (answer !== undefined) expect(faultsBy(document, schema, answer)).toEqual([]);
    }
  },
);

test("every route shows how it is asked and what it answers, as far as there is something to show", () => {
  const bare = operationsOf(document).filter(({ operation }) => {
    const answers = Object.values(operation.responses).some(
      (one) => !("$ref" in one) && Object.values(one.content ?? {}).some(({ examples: shown }) => shown !== undefined),
    );
    const parameters = operation.parameters?.some((one) => one.examples !== undefined) ?? false;
    const bodies = Object.values(operation.requestBody?.content ?? {});
    const unshown = bodies.some(({ examples: shown }) => shown === undefined);
    return unshown || !(answers || parameters || bodies.length > 0);
  });
  // One has neither parameters nor bodies, the other is what is read here.
  expect(bare.map(({ operation }) => operation.operationId).sort()).toEqual(["getApiDocument", "getEngineStatus"]);
});

test("every problem that is shown holds against its schema", () => {
  for (const { content = {} } of Object.values(document.components.responses)) {
    for (const { schema, examples: shown = {} } of Object.values(content)) {
      for (const { value } of Object.values(shown)) expect(faultsBy(document, schema, value)).toEqual([]);
    }
  }
});

describe("a request that is wrong is answered as the document says", () => {
  const firsts = operationsOf(document).flatMap((placed) => examplesOf(placed).slice(0, 1));
  const wrong: Record<string, (example: ExampleRequest) => Request> = {
    "without a credential": (example) => requestOf(example, { admin: {}, tenant: {} }),
    "with a credential that nobody has": (example) =>
      requestOf(example, { admin: { Authorization: "Bearer no" }, tenant: { "X-API-Key": "no" } }),
    "by somebody who may only read": (example) =>
      requestOf(example, { ...credentials, admin: { Authorization: "Bearer test-viewer" } }),
    "with a body that is none": (example) => withBody(requestOf(example, credentials), "{"),
    "with a body of wrong fields": (example) => withBody(requestOf(example, credentials), '{"no":"such field"}'),
    "with a body that is too large": (example) =>
      withBody(requestOf(example, credentials), JSON.stringify("x".repeat(300_000))),
    "of what is not there": (example) => requestOf(example, credentials, { "1179603723715": "9990000000000" }),
  };

  test.for(Object.entries(wrong))("%s", async ([_label, request]) => {
    for (const example of firsts) {
      const answer = await fetchFrom(app, request(example));
      await expectDocumented(document, example, answer);
    }
  });
});

function withBody(request: Request, body: string): Request {
  if (request.method === "GET" || request.method === "DELETE") return request;
  const headers = new Headers(request.headers);
  headers.delete("Content-Type");
  return new Request(request.url, { method: request.method, headers, body });
}
