import { beforeAll, describe, expect, test } from "vitest";
import { call, newTenant } from "../support/http.ts";

// An awaited instance whose time runs out: what its caller is told of it.

let acme: Record<string, string>;

const post = <T = { title: string; detail: string }>(path: string, body: unknown) => call<T>("POST", path, acme, body);

beforeAll(async () => {
  acme = await newTenant("acme");
  const payload = { processId: "p", tasks: [{ type: "work" }] };
  await post("/v1/commands?wait=5", { intent: "DEPLOYMENT:CREATE", payload });
});

/** The job of an instance that has just begun. */
async function nextJob(): Promise<string> {
  const asked = { type: "work", timeout: 60_000, maxJobsToActivate: 1 };
  const { body } = await post<{ jobs: { jobKey: string }[] }>("/v2/jobs/activation", asked);
  return body.jobs[0]?.jobKey ?? "";
}

describe("an awaited instance that runs out", () => {
  const awaiting = { processDefinitionId: "p", awaitCompletion: true };

  test("is there, and that is all, while it goes on", async () => {
    const { status, body } = await post("/v2/process-instances", { ...awaiting, requestTimeout: 50 });
    expect([status, body.title]).toEqual([504, "DEADLINE_EXCEEDED"]);
    expect(body.detail).toMatch(/has not completed in time\.$/);
    await nextJob();
  });

  test("names the incident that it waits for", async () => {
    const held = post("/v2/process-instances", { ...awaiting, requestTimeout: 1_000 });
    const failed = await post(`/v2/jobs/${await nextJob()}/failure`, { retries: 0, errorMessage: "no card" });
    expect(failed.status).toBe(204);
    const { status, body } = await held;
    expect([status, body.title]).toEqual([504, "DEADLINE_EXCEEDED"]);
    expect(body.detail).toMatch(/in time\. Incident \d+ \(JOB_NO_RETRIES\) is open at \S+: no card$/);
  });
});
