import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { judgeWhole } from "../../src/core/delivery/answer.ts";
import { ENGINE_ROUTES, isPlainPath, readsByCustom, routeFor } from "../../src/core/engine-routes.ts";
import { INTENTS, intentTable, isCritical } from "../../src/core/intents.ts";

const ROUTES = Object.values(ENGINE_ROUTES);

describe("the table of the engine's surface", () => {
  test("says of each intent what the table of intents says, and has all of them", () => {
    const own = intentTable();
    for (const { intent, critical } of ROUTES)
      expect([intent, critical]).toEqual([intent, isCritical(own, `${intent}`)]);
    const named = new Set<string>(ROUTES.flatMap(({ intent }) => intent ?? []));
    expect(INTENTS.filter((intent) => !named.has(intent))).toEqual([]);
  });

  test.each<[string, string, string, string | null | undefined]>([
    ["a fixed path", "POST", "/v2/jobs/activation", "JOB:ACTIVATE"],
    ["a key in the path", "POST", "/v2/jobs/12/completion", "JOB:COMPLETE"],
    ["another method", "PATCH", "/v2/jobs/12", "JOB:UPDATE"],
    ["a read", "GET", "/v2/topology", null],
    ["an empty key", "POST", "/v2/jobs//completion", undefined],
    ["a longer path", "POST", "/v2/jobs/12/completion/x", undefined],
    ["a shorter path", "POST", "/v2/jobs", undefined],
    ["a method that it has not", "DELETE", "/v2/jobs/12", undefined],
  ])("finds %s", (_label, method, path, intent) => {
    expect(routeFor(ROUTES, method, path)?.intent).toBe(intent);
  });

  test("what only reads is known by custom", () => {
    expect(readsByCustom("GET", "/v2/anything/5")).toBe(true);
    expect(readsByCustom("POST", "/v2/user-tasks/search")).toBe(true);
    expect(readsByCustom("POST", "/v2/user-tasks/5/completion")).toBe(false);
    expect(readsByCustom("DELETE", "/v2/resources/5/search")).toBe(false);
  });
});

describe("a path that every server reads as the same segments", () => {
  test.each(["/v2/topology", "/v2/jobs/12/completion", "/v2/a%20b/100%25", "/v2/...", "/v2/a;b", "/v2/.well-known"])(
    "%s",
    (path) => {
      expect(isPlainPath(path)).toBe(true);
    },
  );

  test.each([
    "/v2/..%2factuator",
    "/v2/jobs/..%2f..%2fadmin/completion",
    "/v2/a%5cb",
    "/v2//evil.com/x",
    "/v2/topology/",
    "/v2/",
    "/v2/%00",
    "/v2/a%0d%0ab",
    "/v2/a%7f",
    "/v2/%2e%2e",
    "/v2/%252e%252e%252factuator",
    "/v2/..;/actuator",
    "/v2/;x/actuator",
    "/v2/..%3bx/actuator",
    "/%762/topology",
    "/actuator",
    "//v2/topology",
  ])("%s is none", (path) => {
    expect(isPlainPath(path)).toBe(false);
  });
});

describe("V2_ROUTES", () => {
  const upstream = (routes: unknown) =>
    parseConfig({ UPSTREAM_URL: "http://cluster.test", V2_ROUTES: JSON.stringify(routes) });

  test("adds rows, whose intents are taken, and goes before ours", () => {
    const path = "/v2/messages/publication";
    const { V2_ROUTES, intents } = upstream([
      { method: "POST", path, intent: "MESSAGE:PUBLISH", critical: true },
      { method: "POST", path: "/v2/process-instances", intent: "PROCESS_INSTANCE:CREATE", cost: 5 },
    ]);
    expect(routeFor(V2_ROUTES.routes, "POST", path)).toMatchObject({ critical: true, repeatable: false, cost: 1 });
    expect(intents.get("MESSAGE:PUBLISH")).toMatchObject({ critical: true, path });
    expect(routeFor(V2_ROUTES.routes, "POST", "/v2/process-instances")?.cost).toBe(5);
  });

  test.each<[string, unknown]>([
    ["no list", {}],
    ["a path elsewhere", [{ method: "POST", path: "/admin/tiers", intent: "A:B" }]],
    ["a path with a query", [{ method: "POST", path: "/v2/a?b=1", intent: "A:B" }]],
    ["an intent of another form", [{ method: "POST", path: "/v2/a", intent: "publish" }]],
    ["an unknown member", [{ method: "POST", path: "/v2/a", intent: "A:B", priority: 1 }]],
  ])("that is %s stops the start and is named", (_label, routes) => {
    expect(() => upstream(routes)).toThrow(/V2_ROUTES/);
  });
});

describe("a request that is handed on whole", () => {
  const answered = (status: number, text = "said") =>
    ({
      kind: "answered",
      status,
      retryAfter: null,
      contentType: "text/plain",
      body: { kind: "text", value: text },
    }) as const;
  const broken = { kind: "broken", code: "timeout", why: "no answer" } as const;
  const kept = (status: number) => JSON.stringify({ status, contentType: "text/plain", body: "said" });

  test.each<[string, Parameters<typeof judgeWhole>[0], boolean, object]>([
    ["done", answered(200), false, { verdict: "succeeded", result: kept(200) }],
    ["refused", answered(404), false, { verdict: "failed", result: kept(404) }],
    ["not now", answered(503), false, { verdict: "hold" }],
    ["nobody knows, once only", answered(500), false, { verdict: "failed", result: kept(500) }],
    ["nobody knows, again", answered(500), true, { verdict: "again" }],
    ["no answer, once only", broken, false, { verdict: "failed", error: { code: "upstream_timeout" } }],
    ["no answer, again", broken, true, { verdict: "again" }],
  ])("%s", (_label, result, repeatable, verdict) => {
    expect(judgeWhole(result, repeatable, 0)).toMatchObject(verdict);
  });
});
