import { describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { settingsOf } from "../../src/client/settings.ts";
import { countListeners, stage, succeeded } from "./support.ts";

// Options: what they become, and which mistakes are found where they are made.

const good = { baseUrl: "https://gate.test", apiKey: "k" } as const;

describe("a mistake in the options", () => {
  test.each<[string, object, RegExp]>([
    ["no URL", { ...good, baseUrl: "gate.test" }, /baseUrl/],
    ["another scheme", { ...good, baseUrl: "ftp://gate.test" }, /baseUrl/],
    ["a query", { ...good, baseUrl: "https://gate.test/?x=1" }, /baseUrl/],
    ["credentials in the URL", { ...good, baseUrl: "https://a:b@gate.test" }, /baseUrl/],
    ["no credential", { baseUrl: good.baseUrl }, /exactly one/],
    ["two credentials", { ...good, headers: () => ({}) }, /exactly one/],
    ["a tenant without its key", { baseUrl: good.baseUrl, tenant: "acme" }, /go together/],
    ["a tenant with a colon", { baseUrl: good.baseUrl, tenant: "a:b", key: "k" }, /colon/],
    ["a key with a line break", { ...good, apiKey: "k\r\nX-Evil: 1" }, /ASCII/],
    ["no tries", { ...good, retry: { attemptsMax: 0 } }, /attemptsMax/],
    ["half a try", { ...good, retry: { attemptsMax: 1.5 } }, /attemptsMax/],
    ["no time", { ...good, totalMs: 0 }, /totalMs/],
    ["time without an end", { ...good, totalMs: Number.POSITIVE_INFINITY }, /totalMs/],
    ["a time that is no number", { ...good, timeoutMs: Number.NaN }, /timeoutMs/],
    ["a debt as reserve", { ...good, retry: { budget: { earnPercent: 1, reserve: -1 } } }, /reserve/],
    ["answers of no size", { ...good, answerBytesMax: 0 }, /answerBytesMax/],
  ])("%s is named at once", (_label, options, named) => {
    expect(() => createClient(options as typeof good)).toThrow(named);
    expect(() => createClient(options as typeof good)).toThrow(TypeError);
  });
});

describe("the credential", () => {
  test.each([
    ["a key", { apiKey: "hg_1" }, "Bearer hg_1"],
    // "acmé:k€y" in UTF-8, by another hand.
    ["tenant and key, in UTF-8", { tenant: "acmé", key: "k€y" }, "Basic YWNtw6k6a+KCrHk="],
  ])("%s", async (_label, credential, authorization) => {
    const settings = settingsOf({ baseUrl: good.baseUrl, ...credential } as typeof good);
    expect(await settings.headers()).toEqual({ Authorization: authorization });
  });
});

test.each([
  ["https://gate.test", "https://gate.test/v1/commands/1"],
  ["https://gate.test/", "https://gate.test/v1/commands/1"],
  ["https://gate.test:8443/behind/a/path/", "https://gate.test:8443/behind/a/path/v1/commands/1"],
  ["http://[::1]:8787", "http://[::1]:8787/v1/commands/1"],
])("%s may stand before /v1", async (baseUrl, url) => {
  const { client, time, seen } = stage([succeeded], { baseUrl });
  await time.settle(client.command("1"));
  expect(seen[0]?.url).toBe(url);
});

describe("the platform's own time", () => {
  test("a sleep that is aborted, before or meanwhile, ends at once and leaves no timer and no listener", async () => {
    vi.useFakeTimers();
    try {
      const { sleep } = settingsOf(good);
      const controller = new AbortController();
      const listening = countListeners(controller.signal);
      const sleeping = sleep(60_000, controller.signal);
      expect([vi.getTimerCount(), listening()]).toEqual([1, 1]);
      controller.abort();
      await sleeping;
      await sleep(60_000, controller.signal);
      expect([vi.getTimerCount(), listening()]).toEqual([0, 0]);

      const slept = sleep(5, new AbortController().signal);
      vi.advanceTimersByTime(5);
      await slept;
    } finally {
      vi.useRealTimers();
    }
  });

  test("the platform's fetch is looked up when it is called, so that it can be replaced", async () => {
    const before = globalThis.fetch;
    try {
      const client = createClient({ ...good, retry: false });
      globalThis.fetch = async () => new Response('{"tenant":"t","tier":null,"policies":[]}');
      expect(await client.limits()).toMatchObject({ ok: true, value: { tenant: "t" } });
    } finally {
      globalThis.fetch = before;
    }
  });
});
