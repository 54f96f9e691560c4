import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { create, DEPLOY, post } from "../support/node/client.ts";
import { type GatewayProcess, serveToEnd, startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// The real gateway over HTTP, with real time: what cannot be seen from inside one process.

let gateway: GatewayProcess;
let state: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  state = await temporaryFolder();
  gateway = await startGatewayProcess(state.folder, ["QUEUE_MAX:100", "ENQUEUE_WAIT_MS:500"]);
  for (const tier of ["free", "standard", "premium"]) await post(gateway.url, "/v1/commands", `hg_dev_${tier}`, DEPLOY);
});
afterAll(async () => {
  await gateway.kill();
  await state.remove();
});

describe("a running gateway", () => {
  test("demo-free's 150 at once: the burst and what refills meanwhile is admitted, the rest told when to come", async () => {
    await post(gateway.url, "/admin/tenants/demo-free/reset", "dev-admin", {});
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, n) => post(gateway.url, "/v1/commands", "hg_dev_free", create(n))),
    );
    const seconds = (performance.now() - began) / 1000;
    const admitted = answers.filter(({ status }) => status === 200).length;
    const refused = answers.filter(({ status }) => status === 429);
    expect(admitted + refused.length).toBe(150);
    expect(admitted).toBeGreaterThanOrEqual(100);
    expect(admitted).toBeLessThanOrEqual(Math.min(150, 100 + 50 * seconds + 1));
    expect((await post(gateway.url, "/v1/commands", "hg_dev_standard", create(0))).status).toBe(200);

    if (refused.length > 0) {
      const retryAfter = Math.max(...refused.map(({ headers }) => Number(headers.get("Retry-After"))));
      await new Promise((resolve) => setTimeout(resolve, retryAfter * 1000));
      expect((await post(gateway.url, "/v1/commands", "hg_dev_free", create(0))).status).toBe(200);
    }
  });

  test("an admin's raise works on the very next request", async () => {
    const limits = (burstSize: number) =>
      post(gateway.url, "/admin/tenants/demo-free/limits", "dev-admin", { requestsPerSecond: 0, burstSize }, "PUT");
    await limits(0);
    expect((await post(gateway.url, "/v1/commands", "hg_dev_free", create(0))).status).toBe(422);
    await limits(10_000);
    expect((await post(gateway.url, "/v1/commands", "hg_dev_free", create(0))).status).toBe(200);
  });

  test("of 1 000 concurrent creates on a paused engine exactly 100 are queued; critical ones pass; all run", async () => {
    const created = await post(gateway.url, "/v1/commands", "hg_dev_premium", create(1));
    const activate = { intent: "JOB:ACTIVATE", payload: { type: "t" } };
    const { body: activated } = await post(gateway.url, "/v1/commands", "hg_dev_premium", activate);
    await post(gateway.url, "/admin/engine/pause", "dev-admin", {});
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        fetch(`${gateway.url}/v1/commands`, {
          method: "POST",
          headers: { Authorization: "Bearer hg_dev_premium" },
          body: JSON.stringify(create(n)),
        }).then(async (response) => ({
          status: response.status,
          code: ((await response.json()) as { code?: string }).code,
        })),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(100);
    expect(answers.filter(({ code }) => code === "queue_full")).toHaveLength(900);

    const noWait = { Authorization: "Bearer hg_dev_premium" };
    for (const [intent, payload] of [
      ["JOB:COMPLETE", { jobKey: activated.result.jobs[0]?.jobKey }],
      ["PROCESS_INSTANCE:CANCEL", { processInstanceKey: created.body.result.processInstanceKey }],
    ] as const) {
      const body = JSON.stringify({ intent, payload });
      expect((await fetch(`${gateway.url}/v1/commands`, { method: "POST", headers: noWait, body })).status).toBe(202);
    }
    interface Status {
      depth: number;
      peakDepth: number;
      inFlight: number;
      counters: Record<"accepted" | "completed" | "failed" | "dead" | "cancelled" | "expired", number>;
    }
    const status = async () => (await (await fetch(`${gateway.url}/v1/queue`, { headers: noWait })).json()) as Status;
    expect(await status()).toMatchObject({ depth: 100, peakDepth: 100, criticalDepth: 2 });
    await post(gateway.url, "/admin/engine/resume", "dev-admin", {});
    // A command that is queued now runs after all of those, so its end is theirs.
    await post(gateway.url, "/v1/commands", "hg_dev_premium", create(2));
    const { inFlight, counters } = await status();
    expect(inFlight).toBe(0);
    const { accepted, completed, failed, dead, cancelled, expired } = counters;
    expect(accepted).toBe(completed + failed + dead + cancelled + expired);
  });
});

describe("the command line", () => {
  test("a bad option ends it with one line that names it, and nothing starts", async () => {
    const { code, output } = await serveToEnd(["--var", "QUEUE_MAX:0"]);
    expect(code).toBe(1);
    expect(output).toContain("QUEUE_MAX");
    expect(output.trim().split("\n")).toHaveLength(1);
  });

  test("a port that is taken is named", async () => {
    const { code, output } = await serveToEnd(["--port", new URL(gateway.url).port, "--persist-to", state.folder]);
    expect(code).toBe(1);
    expect(output).toContain("is taken");
  });
});
