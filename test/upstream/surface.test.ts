import { exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HELD_PER_TENANT_MAX } from "../../src/http/v2/held-places.ts";
import { settled } from "../support/event-loop.ts";
import { call, engineStub, newTenant } from "../support/http.ts";
import { newBackend, takes } from "./support.ts";

// `/v2` in front of a cluster of one's own: commands through the queue, reads straight, what is held held there.

let tenant: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant("shop");
});
beforeEach(async () => {
  await engineStub().changeFlow({ bound: 100, enqueueWaitMs: 0 });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(method, path, { ...tenant, ...headers }, body);
const accepted = async () =>
  (await call<{ counters: { accepted: number } }>("GET", "/v1/queue", tenant)).body.counters.accepted;

describe("a command", () => {
  test("goes through the queue as it is, and its caller gets the cluster's answer as that is", async () => {
    const backend = newBackend(() => Response.json({ processInstanceKey: "7" }));
    const before = await accepted();
    const body = '{"processDefinitionId":"p","variables":{"__proto__":1}}';
    const { status, body: answer } = await send("POST", "/v2/process-instances", body, {
      "Content-Type": "application/json",
    });
    expect([status, answer]).toEqual([200, { processInstanceKey: "7" }]);
    const [delivery] = backend.deliveries;
    expect(delivery).toMatchObject({ method: "POST", url: "http://upstream.test/api/v2/process-instances", body });
    expect(Object.fromEntries(delivery?.headers ?? [])).toMatchObject({
      authorization: "Bearer of-the-backend",
      "content-type": "application/json",
      "x-headgate-intent": "PROCESS_INSTANCE:CREATE",
      "x-headgate-tenant": "shop",
    });
    expect([...(delivery?.headers.keys() ?? [])].filter((name) => name.startsWith(":"))).toEqual([]);
    expect(await accepted()).toBe(before + 1);
  });

  test("without an answer's body, and with a tenant in front of its path", async () => {
    const backend = newBackend(() => new Response(null, { status: 204 }));
    const { status, body } = await send("PATCH", "/t/shop/v2/jobs/12?x=1", { changeset: { retries: 1 } });
    expect([status, body]).toEqual([204, undefined]);
    expect(backend.deliveries[0]).toMatchObject({ method: "PATCH", url: "http://upstream.test/api/v2/jobs/12?x=1" });
  });

  test("that the cluster refuses is refused in the cluster's own words, and not sent again", async () => {
    const said = { title: "NOT_FOUND", status: 404, detail: "no such job", extra: [1] };
    const headers = { "Content-Type": "application/problem+json" };
    const backend = newBackend(() => new Response(JSON.stringify(said), { status: 404, headers }));
    const answer = await send("POST", "/v2/jobs/12/completion", {});
    expect([answer.status, answer.body]).toEqual([404, said]);
    expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
    expect(backend.deliveries).toHaveLength(1);
  });

  test.each<[string, () => Response, number, string]>([
    ["of which the cluster says 500", () => new Response("oops", { status: 500 }), 500, ""],
    [
      "that is never answered",
      () => {
        throw new Error("cut");
      },
      504,
      "DEADLINE_EXCEEDED",
    ],
  ])("%s is not made a second time: it might be there twice", async (_label, answer, status, title) => {
    const backend = newBackend(answer);
    const { status: said, ...rest } = await callText("/v2/process-instances", { processDefinitionId: "p" });
    expect(said).toBe(status);
    expect(rest.text).toContain(title);
    expect(backend.deliveries).toHaveLength(1);
  });

  test("that no row names is not let through", async () => {
    const backend = newBackend();
    expect(await send("POST", "/v2/messages/publication", {})).toMatchObject({
      status: 404,
      body: { title: "NOT_FOUND" },
    });
    expect(await send("DELETE", "/v2/tenants/a", {})).toMatchObject({ status: 404 });
    expect(backend.deliveries).toEqual([]);
  });

  test("that the deployment has added goes by its row", async () => {
    const backend = newBackend(() => Response.json({ done: true }));
    expect((await send("POST", "/v2/signals/broadcast", { signalName: "s" })).status).toBe(200);
    expect(backend.deliveries[0]?.headers.get("X-Headgate-Intent")).toBe("SIGNAL:BROADCAST");
  });
});

describe("past the queue go", () => {
  test("reads, whatever they are: no command, one token", async () => {
    const few = await newTenant("few", { requestsPerSecond: 0, burstSize: 2 });
    const backend = newBackend(() => Response.json({ items: [] }));
    const before = await accepted();
    expect(await call("POST", "/v2/user-tasks/search?x=1", few, { filter: {} })).toMatchObject({
      status: 200,
      body: { items: [] },
    });
    expect((await call("GET", "/v2/process-definitions/5/xml", few)).status).toBe(200);
    expect((await call("GET", "/v2/topology", few)).status).toBe(422);
    expect(backend.deliveries.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["POST", "http://upstream.test/api/v2/user-tasks/search?x=1", '{"filter":{}}'],
      ["GET", "http://upstream.test/api/v2/process-definitions/5/xml", ""],
    ]);
    expect(await accepted()).toBe(before);
  });

  test("polls and awaited instances, which would otherwise wait for themselves", async () => {
    const backend = newBackend(({ url }) =>
      url.endsWith("/completion") ? new Response(null, { status: 204 }) : takes(200, () => Response.json({ jobs: [] })),
    );
    const before = await accepted();
    for (const [path, body] of [
      ["/v2/jobs/activation", { type: "t", timeout: 1, maxJobsToActivate: 1 }],
      ["/v2/process-instances", { processDefinitionId: "p", awaitCompletion: true }],
    ] as const) {
      const held = send("POST", path, body);
      await settled();
      expect((await call("GET", "/v1/queue", tenant)).body).toMatchObject({ running: 0, inFlight: 0 });
      expect((await send("POST", "/v2/jobs/1/completion", {})).status).toBe(204);
      expect((await held).status).toBe(200);
    }
    expect(await accepted()).toBe(before + 2);
    expect(backend.deliveries).toHaveLength(4);
  });

  test("nothing when the cluster is away: its clients are told to come again", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    newBackend(() => {
      throw new Error("refused");
    });
    const poll = { type: "t", timeout: 1, maxJobsToActivate: 1 };
    for (const answer of [await send("GET", "/v2/topology"), await send("POST", "/v2/jobs/activation", poll)]) {
      expect(answer).toMatchObject({ status: 503, body: { title: "RESOURCE_EXHAUSTED" } });
      expect(answer.headers.get("Retry-After")).toBe("5");
    }
  });
});

const AWAITED = { processDefinitionId: "p", awaitCompletion: true };

describe("an awaited instance", () => {
  beforeEach(() => {
    vi.spyOn(console, "warn").mockReturnValue();
  });

  test.each<[string, () => Response]>([
    [
      "the cluster does not answer",
      () => {
        throw new Error("cut");
      },
    ],
    ["its answer breaks off", () => new Response(brokenOff(), { status: 200 })],
  ])("of which nobody knows because %s is no refusal to make it again", async (_label, answer) => {
    const backend = newBackend(answer);
    expect(await send("POST", "/v2/process-instances", AWAITED)).toMatchObject({
      status: 504,
      body: { title: "DEADLINE_EXCEEDED" },
    });
    expect(backend.deliveries).toHaveLength(1);
  });

  test("comes with its whole answer, also one that is too long to be kept", async () => {
    const long = { variables: { text: "x".repeat(2_000_000) } };
    newBackend(() => Response.json(long));
    expect(await send("POST", "/v2/process-instances", AWAITED)).toMatchObject({ status: 200, body: long });
  });

  test("is held no longer than its caller waits, whether or not that one has gone", async () => {
    const waits: number[] = [];
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      waits.push(ms);
      return new AbortController().signal;
    });
    newBackend(() => Response.json({}));
    for (const requestTimeout of [5_000, "5000", 0, undefined, -1, 10_000_000]) {
      await send("POST", "/v2/process-instances", { ...AWAITED, requestTimeout });
    }
    expect(waits).toEqual([10_000, 10_000, 65_000, 65_000, 65_000, 600_000]);
  });

  test("takes one of its tenant's places, which are not all there are, and gives it back", async () => {
    const over = Promise.withResolvers<void>();
    const backend = newBackend(() => over.promise.then(() => Response.json({})));
    const many = Array.from({ length: HELD_PER_TENANT_MAX }, () => send("POST", "/v2/process-instances", AWAITED));
    await vi.waitFor(() => expect(backend.deliveries).toHaveLength(HELD_PER_TENANT_MAX), 10_000);
    expect(await send("POST", "/v2/process-instances", AWAITED)).toMatchObject({
      status: 429,
      body: { title: "RESOURCE_EXHAUSTED", "violated-policies": ["held-calls"] },
    });
    many.push(call("POST", "/v2/process-instances", await newTenant("another"), AWAITED));
    over.resolve();
    for (const { status } of await Promise.all(many)) expect(status).toBe(200);
    expect((await send("POST", "/v2/process-instances", AWAITED)).status).toBe(200);
  });
});

test.each(["/v2/..%2factuator", "/v2/jobs/..%2f..%2fadmin/completion", "/v2//evil.com/x", "/v2/%00", "/%762/topology"])(
  "%s does not reach the cluster",
  async (path) => {
    const backend = newBackend();
    for (const method of ["GET", "POST"]) {
      expect(await send(method, path, method === "GET" ? undefined : {})).toMatchObject({ status: 400 });
    }
    expect((await send("GET", `/t/shop${path}`)).status).toBeGreaterThanOrEqual(400);
    expect(backend.deliveries).toEqual([]);
  },
);

test.each([
  ["7", "7"],
  ["3600", "30"],
  ["Fri, 31 Dec 2100 23:59:59 GMT", "30"],
  ["soon", null],
])("a Retry-After of %s is handed on as %s", async (said, told) => {
  newBackend(() => Response.json({}, { status: 503, headers: { "Retry-After": said } }));
  expect((await send("GET", "/v2/topology")).headers.get("Retry-After")).toBe(told);
});

/** The start of an answer whose connection then breaks. */
function brokenOff(): ReadableStream<Uint8Array> {
  let begun = false;
  return new ReadableStream({
    pull(controller) {
      if (begun) controller.error(new Error("cut"));
      else controller.enqueue(new TextEncoder().encode('{"processInstanceKey":'));
      begun = true;
    },
  });
}

/** As {@link send}, for an answer that may be no JSON. */
async function callText(path: string, body: unknown): Promise<{ status: number; text: string }> {
  const init = { method: "POST", headers: tenant, body: JSON.stringify(body) };
  const response = await exports.default.fetch(`https://gate.test${path}`, init);
  return { status: response.status, text: await response.text() };
}
