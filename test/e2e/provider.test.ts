import { afterEach, describe, expect, test } from "vitest";
import { type Provider, startProvider } from "../../src/cli/provider-server.ts";
import type { ProviderOptions } from "../../src/cli/provider-settings.ts";

// The simulated backend over real HTTP: what a gateway meets when it delivers.

let provider: Provider;
afterEach(() => provider.stop());

async function start(options: Partial<ProviderOptions> = {}): Promise<Provider> {
  provider = await startProvider({ jobMs: 5, quota: null, ...options });
  return provider;
}

/** Delivers a job; without an id, one of its own. */
async function deliver(id?: string, signal: AbortSignal | null = null) {
  const response = await fetch(`${provider.url}/jobs`, {
    method: "POST",
    headers: id === undefined ? {} : { "Idempotency-Key": id, "X-Headgate-Command-Id": id },
    body: "{}",
    redirect: "manual",
    signal,
  });
  return { status: response.status, retryAfter: response.headers.get("Retry-After"), text: await response.text() };
}

/** Why there was no answer. */
async function brokenBy(delivery: Promise<unknown>): Promise<string> {
  const error = await delivery.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof Error
    ? String((error.cause as { code?: string } | undefined)?.code ?? error.name)
    : "answered";
}

async function control(change: unknown): Promise<number> {
  return (await fetch(`${provider.url}/_control`, { method: "POST", body: JSON.stringify(change) })).status;
}

describe("a backend", () => {
  test("does a job on any path, and tells of it", async () => {
    await start();
    expect(await deliver("a")).toMatchObject({ status: 200, text: '{"done":true,"id":"a"}' });
    expect((await fetch(`${provider.url}/any/where?x=1`)).status).toBe(200);
    const stats: unknown = await (await fetch(`${provider.url}/_stats?ids=1`)).json();
    expect(stats).toMatchObject({ received: 2, started: 2, done: 2, withoutId: 1, doneIds: ["a", "without-id-1"] });
  });

  test("starts as many as its quota allows, whoever asks at once, and says when to come back", async () => {
    await start({ quota: { burst: 50, perMinute: 50 } });
    const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => deliver(`q${n}`)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(refused).toHaveLength(30);
    for (const { retryAfter } of refused) expect(retryAfter).toMatch(/^[12]$/);
    expect(await control({ quota: null })).toBe(200);
    expect((await deliver("more")).status).toBe(200);
    expect(provider.stats()).toMatchObject({ started: 51, refused429: 30, startsPerMinute: 51, doneTwice: 0 });
  });

  test("does a job once, though it is delivered again while it runs and after", async () => {
    await start({ jobMs: 30 });
    const together = await Promise.all([deliver("a"), deliver("a"), deliver("a")]);
    const answers = [...together, await deliver("a")];
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 {"done":true,"id":"a"}']),
    );
    expect(provider.stats(true)).toMatchObject({
      started: 1,
      done: 1,
      repeatedDeliveries: 3,
      doneTwice: 0,
      doneIds: ["a"],
    });
  });

  test("does a job whose caller has gone", async () => {
    await start({ jobMs: 40 });
    const gone = new AbortController();
    const delivery = brokenBy(deliver("a", gone.signal));
    while (provider.stats().running === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    gone.abort();
    expect(await delivery).toBe("AbortError");
    expect(await deliver("a")).toMatchObject({ status: 200 });
    expect(provider.stats()).toMatchObject({ started: 1, done: 1, repeatedDeliveries: 1 });
  });

  test("tells of no job that it did not do because it was stopped", async () => {
    await start({ jobMs: 60_000 });
    const delivery = brokenBy(deliver("a"));
    while (provider.stats().running === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(await provider.stop()).toMatchObject({ started: 1, done: 0 });
    expect(["ECONNRESET", "UND_ERR_SOCKET"]).toContain(await delivery);
  });

  test("fails as many jobs as it is told to, and does them when they come again", async () => {
    await start({ failRate: 1 });
    expect((await deliver("a")).status).toBe(500);
    await control({ failRate: 0 });
    expect((await deliver("a")).status).toBe(200);
    expect(provider.stats()).toMatchObject({ started: 2, failed: 1, done: 1 });
  });

  test("refuses a change that makes no sense, and names the field", async () => {
    await start();
    const response = await fetch(`${provider.url}/_control`, { method: "POST", body: '{"failRate":7}' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("failRate");
    expect(await control("no object")).toBe(400);
    expect((await deliver()).status).toBe(200);
  });
});

describe("a fault", () => {
  test.each([
    ["reset", "ECONNRESET"],
    ["close-mid-body", "UND_ERR_SOCKET"],
  ] as const)("%s loses the answer of a job that is done; its repeat is told of it", async (fault, code) => {
    await start({ fault });
    expect([code, "UND_ERR_SOCKET"]).toContain(await brokenBy(deliver("a")));
    expect(await deliver("a")).toMatchObject({ status: 200, text: '{"done":true,"id":"a"}' });
    expect(provider.stats()).toMatchObject({ started: 1, done: 1, faulted: 1, repeatedDeliveries: 1 });
  });

  test("answers a page, or far too much, for a job that is done", async () => {
    await start({ fault: "html" });
    expect((await deliver("a")).text).toContain("<!doctype html>");
    await control({ fault: "huge" });
    expect((await deliver("b")).text.length).toBeGreaterThan(8_000_000);
    expect(provider.stats()).toMatchObject({ done: 2, faulted: 2 });
  });

  test("makes a job slow", async () => {
    await start({ fault: "slow", jobMs: 10 });
    const began = performance.now();
    expect((await deliver("a")).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(95);
  });

  test.each([
    ["redirect", 302, null],
    ["garbage-retry-after", 503, /^soon$/],
    ["retry-after-date", 503, /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/],
    ["huge-retry-after", 503, /^\d{20}$/],
  ] as const)("%s turns a job away before it starts", async (fault, status, retryAfter) => {
    await start({ fault });
    const answer = await deliver("a");
    expect(answer.status).toBe(status);
    if (retryAfter !== null) expect(answer.retryAfter).toMatch(retryAfter);
    expect(provider.stats()).toMatchObject({ started: 0, done: 0, faulted: 1 });
  });
});

describe("an outage", () => {
  test("answers 503 with the time that it still lasts, until it is ended", async () => {
    await start({ outages: [{ kind: "503", fromMs: 0, untilMs: 60_000 }] });
    expect(await deliver("a")).toMatchObject({ status: 503, retryAfter: "60" });
    await control({ outage: null });
    expect((await deliver("a")).status).toBe(200);
  });

  test("leaves nobody to connect to, and is over by itself", async () => {
    await start();
    expect((await deliver("a")).status).toBe(200);
    expect(await control({ outage: { seconds: 0.2, kind: "refuse" } })).toBe(200);
    while ((await brokenBy(deliver("b"))) !== "ECONNREFUSED") expect(provider.stats().done).toBe(1);
    while ((await brokenBy(deliver("b"))) !== "answered") await new Promise((resolve) => setTimeout(resolve, 10));
    expect(provider.stats(true)).toMatchObject({ done: 2, doneIds: ["a", "b"] });
  });

  test("gives no answer, however long one waits", async () => {
    await start({ outages: [{ kind: "hang", fromMs: 0, untilMs: 60_000 }] });
    expect(await brokenBy(deliver("a", AbortSignal.timeout(50)))).toBe("TimeoutError");
    expect(provider.stats()).toMatchObject({ received: 1, started: 0, unanswered: 1 });
  });
});
