import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { isCritical } from "../../src/core/intents.ts";
import { faultsForPath, parseRoutes, routeOf, type UpstreamRoutes, urlOf } from "../../src/executor/upstream/routes.ts";

// The table that says where a command of each intent goes.

function routes(table: object): UpstreamRoutes {
  const parsed = parseRoutes(JSON.stringify(table));
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

const BASE = "https://backend.test/api/";

describe("a route", () => {
  test.each<[string, object, Record<string, string | number>, string]>([
    ["of the table", { path: "/orders" }, {}, "https://backend.test/api/orders"],
    [
      "with members of the payload",
      { path: "/o/{id}?t={t}" },
      { id: 7, t: "a&b/../c" },
      "https://backend.test/api/o/7?t=a%26b%2F..%2Fc",
    ],
    ["without a path", {}, {}, BASE],
  ])("%s", (_label, route, payload, url) => {
    const table = routes({ "ORDER:PLACE": route });
    expect(urlOf(BASE, routeOf(table, "ORDER:PLACE"), payload)).toBe(url);
  });

  test("of an intent that the table does not name is that of *, or the upstream's own URL", () => {
    expect(routeOf(routes({ "*": { method: "PUT", path: "/all" } }), "JOB:COMPLETE")).toMatchObject({
      method: "PUT",
      path: "/all",
    });
    expect(routeOf(routes({}), "JOB:COMPLETE")).toEqual({ method: "POST", path: "" });
  });

  test.each([
    ["missing", {}],
    ["empty", { id: "" }],
    ["a dot segment, which would be another path", { id: ".." }],
    ["no scalar", { id: { a: 1 } }],
    ["inherited", {}],
  ])("a member of the payload that is %s is named", (_label, payload) => {
    const table = routes({ "ORDER:PLACE": { path: "/o/{id}" } });
    expect(faultsForPath(table, "ORDER:PLACE", payload)).toEqual([{ path: "payload.id", message: expect.any(String) }]);
  });

  test("declares its intent, critical or not; ours stay as they are unless it says so", () => {
    const { intents } = routes({
      "ORDER:PLACE": {},
      "ORDER:STOP": { critical: true },
      "JOB:FAIL": { critical: false },
    });
    const critical = ["ORDER:PLACE", "ORDER:STOP", "JOB:FAIL", "JOB:COMPLETE"].map((one) => isCritical(intents, one));
    expect(critical).toEqual([false, true, false, true]);
    expect(intents.has("ORDER:OTHER")).toBe(false);
  });
});

describe("a deployment's variables", () => {
  test.each([
    ["UPSTREAM_ROUTES", "{", "must be a JSON object of routes"],
    ["UPSTREAM_ROUTES", '{"order":{}}', "NOUN:VERB"],
    ["UPSTREAM_ROUTES", '{"ORDER:PLACE":{"method":"BREW"}}', "ORDER:PLACE.method"],
    ["UPSTREAM_ROUTES", '{"ORDER:PLACE":{"path":"orders"}}', "slash"],
    ["UPSTREAM_URL", "ftp://x", "UPSTREAM_URL"],
    ["UPSTREAM_FORWARD_HEADERS", "traceparent, authorization", "authorization is not a header that can be handed on"],
    ["UPSTREAM_QUOTA_BURST", "5", "a quota is both"],
    ["OVERFLOW", "drop", "OVERFLOW"],
    ["RETRY_AFTER", "never", "RETRY_AFTER"],
    ["MAX_ATTEMPTS", "0", "MAX_ATTEMPTS"],
  ])("%s of %s is named", (name, value, said) => {
    expect(() => parseConfig({ [name]: value })).toThrow(said);
  });

  test("an upstream has no limit on what is in flight unless one is chosen; the embedded engine has aimd", () => {
    expect(parseConfig({}).flow.algorithm).toBe("aimd");
    expect(parseConfig({ UPSTREAM_URL: "http://x.test" }).flow.algorithm).toBe("none");
    expect(parseConfig({ UPSTREAM_URL: "http://x.test", FLOW_ALGORITHM: "vegas" }).flow.algorithm).toBe("vegas");
  });
});
