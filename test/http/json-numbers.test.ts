import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { memberText } from "../../src/core/json-scan.ts";
import { ADMIN, call, callText, newTenant } from "../support/http.ts";
import { jsonObjectText } from "../support/json-text.ts";

// Numbers on their way through the embedded engine, and bodies that cannot be read as they are.

let acme: Record<string, string>;

beforeAll(async () => {
  acme = await newTenant("exact");
  const payload = { processId: "order", tasks: [{ type: "pay" }] };
  const { status } = await call("POST", "/v1/commands", acme, { intent: "DEPLOYMENT:CREATE", payload });
  expect(status).toBe(202);
});

const run = async (intent: string, payload: string) => {
  const body = `{"intent":"${intent}","payload":${payload}}`;
  const { status, text } = await callText("POST", "/v1/commands", { ...acme, Prefer: "wait=5" }, body);
  expect([status, JSON.parse(text).state], text).toEqual([200, "succeeded"]);
  return memberText(text, "result") ?? "";
};
const post = (path: string, body: string) => callText("POST", `/v2${path}`, acme, body);

/** The only job of an activation, as text, and its key. */
async function activate(more = ""): Promise<{ jobKey: string; variables: string | undefined }> {
  const result = await run("JOB:ACTIVATE", `{"type":"pay"${more}}`);
  const job = (memberText(result, "jobs") ?? "").slice(1, -1);
  return { jobKey: JSON.parse(job).jobKey, variables: memberText(job, "variables") };
}

describe("an embedded variable", () => {
  test.each(["9007199254740993", "123456789012345678901234567890", "1.10", "-0", "1e-400", "1E+2"])(
    "of %s is handed out as it was written",
    async (number) => {
      const variables = `{"n":${number},"deep":[{"__proto__":${number}}]}`;
      await run("PROCESS_INSTANCE:CREATE", `{"processId":"order","variables":${variables}}`);
      const job = await activate();
      expect(job.variables).toBe(variables);
      await run("JOB:COMPLETE", `{"jobKey":"${job.jobKey}","variables":{"m":${number}}}`);
    },
  );

  test("is handed out as it was written when it is fetched by its name", async () => {
    await run("PROCESS_INSTANCE:CREATE", '{"processId":"order","variables":{"a":1.10,"b":2.20}}');
    const job = await activate(',"fetchVariables":["b"]');
    expect(job.variables).toBe('{"b":2.20}');
    await run("JOB:COMPLETE", `{"jobKey":"${job.jobKey}"}`);
  });

  test("of whatever kind survives creation, activation, completion and the awaited end", async () => {
    await fc.assert(
      fc.asyncProperty(jsonObjectText(), jsonObjectText(), async (start, end) => {
        const body = `{"processDefinitionId":"order","awaitCompletion":true,"variables":{"start":${start}}}`;
        const awaited = post("/process-instances", body);
        const asked = '{"type":"pay","timeout":60000,"maxJobsToActivate":1,"requestTimeout":5000}';
        const { text } = await post("/jobs/activation", asked);
        const job = (memberText(text.trim(), "jobs") ?? "").slice(1, -1);
        expect(memberText(job, "variables")).toBe(`{"start":${start}}`);
        const key: string = JSON.parse(job).jobKey;
        expect((await post(`/jobs/${key}/completion`, `{"variables":{"end":${end}}}`)).status).toBe(204);
        expect(memberText((await awaited).text, "variables")).toBe(`{"start":${start},"end":${end}}`);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a number that is calculated with", () => {
  const LONG = "5.00000000000000000001";
  test.each<[string, string, string, string]>([
    ["a cost", "/v1/check", `{"cost":${LONG}}`, "cost"],
    [
      "a deadline",
      "/v1/commands",
      `{"intent":"JOB:ACTIVATE","payload":{"type":"x"},"deadlineSeconds":${LONG}}`,
      "deadlineSeconds",
    ],
    [
      "a lease",
      "/v1/commands",
      `{"intent":"JOB:ACTIVATE","payload":{"type":"x","timeoutSeconds":${LONG}}}`,
      "payload.timeoutSeconds",
    ],
    [
      "how many jobs",
      "/v1/commands",
      `{"intent":"JOB:ACTIVATE","payload":{"type":"x","maxJobs":1.00000000000000000001}}`,
      "payload.maxJobs",
    ],
    ["a poll's time", "/v2/jobs/activation", `{"type":"x","timeout":${LONG},"maxJobsToActivate":1}`, "timeout"],
    ["a page", "/v2/jobs/search", `{"page":{"limit":${LONG}}}`, "page.limit"],
    ["a filter", "/v2/jobs/search", `{"filter":{"retries":{"$in":[${LONG}]}}}`, "filter.retries.$in.0"],
  ])("is named and not rounded: %s", async (_label, path, body, field) => {
    const { status, text } = await callText("POST", path, acme, body);
    expect([status, JSON.parse(text).errors?.[0]?.path], text).toEqual([400, field]);
  });

  test.each<[string, string, string]>([
    ["PUT", "/admin/tiers/exact", `{"requestsPerSecond":${LONG},"burstSize":10}`],
    ["PATCH", "/admin/flow-control", `{"algorithm":"aimd","parameters":{"backoffRatio":0.90000000000000000001}}`],
    ["PATCH", "/admin/flow-control", `{"bound":9007199254740993}`],
  ])("is named and not rounded by %s %s", async (method, path, body) => {
    const { status, text } = await callText(method, path, ADMIN, body);
    expect([status, JSON.parse(text).errors?.length], text).toEqual([400, 1]);
  });

  test("may be spelt otherwise than a double prints it", async () => {
    const { status, text } = await callText("POST", "/v1/check", acme, '{"cost":1.0}');
    expect([status, JSON.parse(text).allowed]).toEqual([200, true]);
    await run("JOB:ACTIVATE", '{"type":"none","maxJobs":1.0e0,"timeoutSeconds":6E+1}');
    expect((await post("/jobs/search", '{"page":{"limit":1.0}}')).status).toBe(200);
  });
});

describe("a body", () => {
  test.each<[string, string, string]>([
    ["POST", "/v1/check", "gzip"],
    ["POST", "/v1/commands", "br"],
    ["POST", "/v2/process-instances", "deflate, gzip"],
    ["POST", "/v2/deployments", "zstd"],
  ])("of %s %s that is encoded is a 415 that names %s", async (method, path, encoding) => {
    const types: Record<string, string> = {
      "/v2/deployments": "multipart/form-data; boundary=x",
    };
    const headers = { ...acme, "Content-Encoding": encoding, "Content-Type": types[path] ?? "application/json" };
    const { status, text } = await callText(method, path, headers, "{}");
    expect([status, JSON.parse(text).code], text).toEqual([415, "unsupported_media_type"]);
    expect(JSON.parse(text).detail).toContain(JSON.stringify(encoding));
  });

  test("of an admin's that is encoded is a 415, and identity is no encoding", async () => {
    const encoded = await callText("PUT", "/admin/tiers/zip", { ...ADMIN, "Content-Encoding": "gzip" }, "{}");
    expect(encoded.status).toBe(415);
    expect((await callText("POST", "/v1/check", { ...acme, "Content-Encoding": "identity" }, "{}")).status).toBe(200);
  });

  test("that is not UTF-8 is a 400", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"key":"'), 0xf0, 0x9f, 0x98, 0x22, 0x7d]);
    expect((await callText("POST", "/v1/check", acme, bytes)).status).toBe(400);
  });

  test("with a member twice is a 400 that names it", async () => {
    const { status, text } = await callText("POST", "/v1/check", acme, '{"cost":1,"cost":5}');
    expect([status, JSON.parse(text).errors]).toEqual([400, [{ path: "cost", message: "is there twice" }]]);
  });
});
