import { afterEach, describe, expect, test } from "vitest";
import { burstReport } from "../../src/cli/burst-report.ts";
import { type BurstProgress, runBurst } from "../../src/cli/burst-run.ts";
import { type Provider, startProvider } from "../../src/cli/provider-server.ts";
import type { ProviderOptions } from "../../src/cli/provider-settings.ts";

// The stream against a server that can be told how to behave: it does not matter to a stream that this is no gateway.

let server: Provider;
afterEach(() => server.stop());

async function start(options: Partial<ProviderOptions> = {}): Promise<void> {
  server = await startProvider({ jobMs: 0, quota: null, ...options });
}

function options(rate: number, seconds: number, idempotency = true) {
  const command = { intent: "A:B", payload: '{"n":{n}}', wait: 0 };
  return { url: server.url, key: "k", rate, seconds, idempotency, ...command };
}

describe("a stream", () => {
  test("is sent on time though nobody answers, and ends soon after it is interrupted", async () => {
    await start({ outages: [{ kind: "hang", fromMs: 0, untilMs: 60_000 }] });
    const interrupted = new AbortController();
    const seen: BurstProgress[] = [];
    const running = runBurst(options(100, 0.5), (progress) => seen.push(progress), interrupted.signal);
    while (server.stats().received < 50) await new Promise((resolve) => setTimeout(resolve, 5));
    interrupted.abort();
    const result = await running;
    expect(result).toMatchObject({ planned: 50, unsent: 0 });
    expect(result.sendingSeconds).toBeLessThan(1);
    expect(result.answers.map(({ label }) => label)).toEqual(new Array(50).fill("no answer (interrupted)"));
    expect(seen.at(-1)).toMatchObject({ sent: 50, open: 0 });
  });

  test("has an id for each request where it is asked for, and another one in the next run", async () => {
    await start();
    for (let run = 0; run < 2; run++) await runBurst(options(200, 0.1), () => undefined);
    expect(server.stats()).toMatchObject({ received: 40, distinctIds: 40, withoutId: 0 });
    await runBurst(options(200, 0.05, false), () => undefined);
    expect(server.stats()).toMatchObject({ received: 50, withoutId: 10 });
  });

  test("tells what it was answered, and when it was told to come back", async () => {
    await start({ quota: { burst: 10, perMinute: 60 } });
    const report = burstReport(await runBurst(options(400, 0.1), () => undefined));
    expect(report).toMatchObject({ planned: 40, sent: 40, unsent: 0 });
    expect(report.byAnswer["200"]).toMatchObject({ count: 10, retryAfterSeconds: null });
    expect(report.byAnswer["429"]).toMatchObject({ count: 30, withoutRetryAfter: 0, retryAfterSeconds: { max: 1 } });
  });

  test("says why when there is nobody", async () => {
    await start();
    await server.stop();
    const report = burstReport(await runBurst(options(100, 0.05), () => undefined));
    expect(report.byAnswer).toMatchObject({ "no answer (ECONNREFUSED)": { count: 5 } });
    expect(report.all.count).toBe(0);
  });
});
