import { beforeAll, describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { takesIntent } from "../../src/http/intents.ts";
import { newTenant } from "../support/http.ts";
import { appOf } from "./admin-support.ts";

// What a deployment with a backend takes: the intents that it declares, and no other.

const MAIL = appOf({ UPSTREAM_URL: "http://backend.test", UPSTREAM_ROUTES: '{"MAIL:SEND":{"path":"/mails/{id}"}}' });
const ALL = { UPSTREAM_URL: "http://backend.test", UPSTREAM_ROUTES: '{"*":{"path":"/all"}}' };

let headers: Record<string, string>;

beforeAll(async () => {
  headers = await newTenant("declares");
});

describe("a backend with routes of its own", () => {
  test.each(["JOB:COMPLETE", "PROCESS_INSTANCE:CREATE", "ORDER:EAT", "no intent", ""])(
    "refuses %j, which it does not declare, by name",
    async (intent) => {
      const { status, body } = await MAIL("POST", "/v1/commands", { headers, body: { intent, payload: {} } });
      expect(status).toBe(400);
      const message = `unknown intent ${JSON.stringify(intent)}; taken are MAIL:SEND`;
      expect(body).toMatchObject({ code: "invalid_request", errors: [{ path: "intent", message }] });
    },
  );

  test("has no /v2: that would lead nowhere", async () => {
    for (const path of ["/v2/jobs/1/completion", "/v2/jobs/activation"]) {
      expect((await MAIL("POST", path, { headers, body: {} })).status).toBe(404);
    }
    expect((await MAIL("GET", "/v2/topology", { headers })).status).toBe(404);
  });

  test("refuses a member that would lead elsewhere before anything is accepted", async () => {
    const accepted = async () =>
      (await MAIL("GET", "/v1/queue", { headers })).body as { counters: { accepted: number } };
    const before = (await accepted()).counters.accepted;
    for (const id of ["..", "%2e%2e", "..\\x", "a//b", "", true, null, {}]) {
      const answer = await MAIL("POST", "/v1/commands", { headers, body: { intent: "MAIL:SEND", payload: { id } } });
      expect([answer.status, answer.body]).toMatchObject([400, { errors: [{ path: "payload.id" }] }]);
    }
    expect((await accepted()).counters.accepted).toBe(before);
  });
});

test("where * is written every intent is taken by its form", async () => {
  const body = { intent: "order", payload: {} };
  expect((await appOf(ALL)("POST", "/v1/commands", { headers, body })).body).toMatchObject({
    errors: [{ path: "intent", message: "must be NOUN:VERB in capitals" }],
  });
  expect(takesIntent(parseConfig(ALL), "ORDER:EAT")).toBe(true);
});
