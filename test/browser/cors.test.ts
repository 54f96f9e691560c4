import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness.ts";

// A page of another origin in a real browser: what CORS_ORIGINS lets it send and read, and what it does not.

const [listed, stranger] = [await servePage(), await servePage()];
afterAll(() => {
  listed.close();
  stranger.close();
});

async function servePage(): Promise<{ origin: string; close: () => void }> {
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html").end("<!doctype html><link rel=icon href=data:,><title>app</title>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the page has a port");
  return { origin: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs in the page. @returns null where the browser does not hand the answer out */
async function fetchThere([url, path, headers]: readonly [
  string,
  string,
  Record<string, string>,
]): Promise<Read | null> {
  try {
    const init = path === "/v1/check" ? { method: "POST", headers, body: '{"cost":1}' } : { headers };
    const answer = await fetch(url + path, init);
    return { status: answer.status, headers: Object.fromEntries(answer.headers) };
  } catch {
    return null;
  }
}

const KEY = { Authorization: "Bearer hg_dev_free", "Content-Type": "application/json", "X-Request-Id": "page-1" };

describeInBrowser(
  "a page of another origin",
  (site) => {
    const openedAt = async (origin: string, expected: readonly RegExp[]) => {
      const { page } = await site.open("/healthz", { expected: [/^another host/, ...expected] });
      await page.goto(origin);
      const read = (path: string, headers: Record<string, string>) =>
        page.evaluate(fetchThere, [site.url(), path, headers] as const);
      return read;
    };

    test("that is listed sends its key and reads limits and refusals", async () => {
      const read = await openedAt(listed.origin, [/^answered 401/, /^console: .* 401/]);
      const decided = await read("/v1/check", KEY);
      expect(decided?.status).toBe(200);
      expect(decided?.headers).toMatchObject({ ratelimit: expect.any(String), "x-request-id": "page-1" });
      expect(Object.keys(decided?.headers ?? {})).toContain("x-ratelimit-remaining");
      const refused = await read("/v1/check", { Authorization: "Bearer wrong" });
      expect(refused?.status).toBe(401);
      expect(refused?.headers).toHaveProperty("ratelimit-policy");
    });

    test("that is listed cannot administer", async () => {
      const read = await openedAt(listed.origin, [
        /^console: .*(CORS policy|ERR_FAILED)/,
        /^failed: GET .*\/admin\/tiers/,
      ]);
      expect(await read("/admin/tiers", { Authorization: "Bearer dev-admin" })).toBeNull();
    });

    test("that is not listed reads nothing", async () => {
      const read = await openedAt(stranger.origin, [/^console: .*(CORS policy|ERR_FAILED)/, /^failed: /]);
      expect(await read("/v1/check", KEY)).toBeNull();
      expect(await read("/healthz", {})).toBeNull();
    });
  },
  [`CORS_ORIGINS:${listed.origin}`],
);
