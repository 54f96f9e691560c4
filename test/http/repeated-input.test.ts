import { beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { examplesOf, operationsOf } from "../support/api-document.ts";
import { type Credentials, expectDocumented, fetchFrom, readDocument, requestOf } from "../support/example-requests.ts";
import { ADMIN, call, newTenant } from "../support/http.ts";

// Parameters that a route does not know, and what is sent twice where one is meant: 400, before anything is done.

const app = createApp(
  parseConfig({
    ADMIN_TOKEN: "test-admin",
    VIEWER_TOKEN: "test-viewer",
    OAUTH_SECRET: "a secret of 32 characters or more",
  }),
);
const document = await readDocument(app);
const operations = operationsOf(document);

let credentials: Credentials;

beforeAll(async () => {
  // Time refills nothing, so that a charge cannot hide.
  credentials = { admin: ADMIN, tenant: await newTenant("still", { requestsPerSecond: 0, burstSize: 1_000 }) };
});

interface Fault {
  readonly code: string;
  readonly errors: readonly { readonly path: string }[];
}

/** What a request could have changed: the audit, the queue's counters and the tenant's limits. */
async function traces(): Promise<unknown[]> {
  const audit = await call<{ entries: { id: number }[] }>("GET", "/admin/audit?limit=1", ADMIN);
  const queue = await call<{ counters: unknown; depth: number }>("GET", "/admin/queue", ADMIN);
  const limits = await call("GET", "/v1/limits", credentials.tenant);
  return [audit.body.entries[0]?.id, queue.body.counters, queue.body.depth, limits.body];
}

async function faultOf(request: Request): Promise<[number, string, string[]]> {
  const answer = await fetchFrom(app, request);
  const { code, errors } = await answer.json<Fault>();
  return [answer.status, code, errors.map(({ path }) => path)];
}

function withQuery(request: Request, query: string): Request {
  const url = new URL(request.url);
  url.search = url.search === "" ? `?${query}` : `${url.search}&${query}`;
  return new Request(url, request);
}

describe("of every documented operation", () => {
  const firsts = operations.flatMap((placed) => examplesOf(placed).slice(0, 1));

  test("a parameter that it does not know is named by a 400, and nothing is changed or charged", async () => {
    const before = await traces();
    for (const example of firsts) {
      const request = withQuery(requestOf(example, credentials), "dryRun=true");
      const faulty = await fetchFrom(app, request);
      const { errors } = await faulty.clone().json<Fault>();
      expect([example.operation.operationId, faulty.status, errors]).toEqual([
        example.operation.operationId,
        400,
        [{ path: "dryRun", message: "is no parameter of this route" }],
      ]);
      await expectDocumented(document, example, faulty);
    }
    expect(await traces()).toEqual(before);
  });

  test("each parameter that it knows is refused when it is there twice", async () => {
    const known = firsts.flatMap((example) =>
      (example.operation.parameters ?? [])
        .filter((parameter) => parameter.in === "query")
        .map(({ name }) => ({ example: { ...example, parameters: { ...example.parameters, query: {} } }, name })),
    );
    expect(known.length).toBeGreaterThan(5);
    for (const { example, name } of known) {
      const request = withQuery(requestOf(example, credentials), `${name}=1&${name}=1`);
      expect(await faultOf(request)).toEqual([400, "invalid_request", [name]]);
    }
  });
});

describe("a query", () => {
  const ask = async (query: string) => {
    const { status, body } = await call<Fault>("GET", `/admin/audit?${query}`, ADMIN);
    return [status, body.errors?.map(({ path }) => path)];
  };

  test.each<[string, string, number, string[] | undefined]>([
    ["is free to be empty", "", 200, undefined],
    ["names every parameter that is wrong", "a=1&limit=1&b&a=2", 400, ["a", "b"]],
    ["without a value is a parameter too", "dryRun", 400, ["dryRun"]],
    ["of names with another case is unknown", "Limit=1", 400, ["Limit"]],
    ["may not hide a name in its encoding", "dry%52un=1", 400, ["dryRun"]],
    ["has no member of every object", "__proto__=1&constructor=1", 400, ["__proto__", "constructor"]],
    ["is percent-encoded UTF-8", "limit=%FF", 400, ["query"]],
  ])("%s: ?%s", async (_label, query, status, paths) => {
    expect(await ask(query)).toEqual([status, paths]);
  });

  test("goes along to a page, which keeps its state there", async () => {
    const redirect = await fetchFrom(app, new Request("https://gate.test/explorer/?rate=5", { redirect: "manual" }));
    expect([redirect.status, redirect.headers.get("Location")]).toEqual([308, "/explorer?rate=5"]);
  });
});

describe("a header that means one thing, sent twice,", () => {
  const twice = (name: string, first: string, second: string, more: Record<string, string> = {}) => {
    const headers = new Headers({ "CF-Connecting-IP": "192.0.2.9", ...more });
    headers.append(name, first);
    headers.append(name, second);
    return headers;
  };
  const command = JSON.stringify({ intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "order" } });
  const send = (headers: Headers) =>
    faultOf(new Request("https://gate.test/v1/commands", { method: "POST", headers, body: command }));

  test("is a 400 that names it and charges nobody", async () => {
    const { tenant } = credentials;
    const own = tenant.Authorization ?? "";
    const before = await traces();
    expect(await send(twice("Idempotency-Key", "a", "b", { ...tenant }))).toEqual([
      400,
      "invalid_request",
      ["Idempotency-Key"],
    ]);
    expect(await send(twice("Authorization", own, own))).toEqual([400, "invalid_request", ["Authorization"]]);
    expect(await send(twice("X-API-Key", own.slice(7), own.slice(7)))).toEqual([400, "invalid_request", ["X-API-Key"]]);
    const admin = new Request("https://gate.test/admin/tiers", {
      headers: twice("Authorization", "Bearer test-admin", "Bearer test-viewer"),
    });
    expect(await faultOf(admin)).toEqual([400, "invalid_request", ["Authorization"]]);
    expect(await traces()).toEqual(before);
  });

  test("a key in quotes may hold a comma: two keys cannot look so", async () => {
    const { tenant } = credentials;
    const ask = (key: string) => call("POST", "/v1/commands", { ...tenant, "Idempotency-Key": key }, command);
    expect((await ask("order 7, line 2")).status).toBe(400);
    expect((await ask('"order 7", "line 2"')).status).toBe(400);
    expect((await ask('"order 7, line 2"')).status).toBe(202);
  });

  test("a form's field that is there twice is a fault too", async () => {
    const body = "grant_type=client_credentials&client_id=a&client_id=b&client_secret=c";
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetchFrom(
      app,
      new Request("https://gate.test/oauth/token", { method: "POST", headers, body }),
    );
    expect(answer.status).toBe(400);
  });
});
