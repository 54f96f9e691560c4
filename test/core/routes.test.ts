import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { INTENTS, isCritical } from "../../src/core/intents.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import {
  faultsForPath,
  parseRoutes,
  routeOf,
  type UpstreamRoute,
  type UpstreamRoutes,
  urlOf,
} from "../../src/executor/upstream/routes.ts";

// The table that says where a command of each intent goes.

function routes(table: object): UpstreamRoutes {
  const parsed = parseRoutes(JSON.stringify(table));
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

/** The route of an intent that is taken. */
function routeFor(table: object, intent = "ORDER:PLACE"): UpstreamRoute {
  const route = routeOf(routes(table), intent);
  if (route === null) throw new Error(`${intent} is not taken`);
  return route;
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
    expect(urlOf(BASE, routeFor({ "ORDER:PLACE": route }), payload)).toBe(url);
  });

  test("of an intent that the table does not name is that of *, and none where * is not written", () => {
    expect(routeFor({ "*": { method: "PUT", path: "/all" } }, "JOB:COMPLETE")).toMatchObject({
      method: "PUT",
      path: "/all",
      critical: false,
    });
    expect(routeOf(routes({ "ORDER:PLACE": {} }), "JOB:COMPLETE")).toBeNull();
    expect(routeOf(routes({ "*": {} }), "no intent")).toBeNull();
  });

  test.each([
    ["missing", {}],
    ["empty", { id: "" }],
    ["a dot segment, which would be another path", { id: ".." }],
    ["no scalar", { id: { a: 1 } }],
    ["inherited", {}],
  ])("a member of the payload that is %s is named", (_label, payload) => {
    const route = routeFor({ "ORDER:PLACE": { path: "/o/{id}" } });
    expect(faultsForPath(route, payload)).toEqual([{ path: "payload.id", message: expect.any(String) }]);
  });

  test("is critical where it says so, or where the engine's own intent of its name is", () => {
    const { byIntent } = routes({
      "ORDER:PLACE": {},
      "ORDER:STOP": { critical: true },
      "JOB:FAIL": { critical: false },
      "JOB:COMPLETE": {},
    });
    const critical = ["ORDER:PLACE", "ORDER:STOP", "JOB:FAIL", "JOB:COMPLETE", "JOB:UPDATE"];
    expect(critical.map((one) => isCritical(byIntent, one))).toEqual([false, true, false, true, false]);
  });
});

describe("a member of the payload in a path", () => {
  const ORDER = routeFor({ "ORDER:PLACE": { path: "/o/{id}/lines" } });
  const sent = (path: string, payload: JsonObject) => {
    const route = routeFor({ "ORDER:PLACE": { path } });
    if (faultsForPath(route, payload).length > 0) return null;
    return new URL(urlOf("https://backend.test/api", route, payload)).pathname.split("/").slice(2);
  };

  test.each([
    ...[".", "..", "../x", "a/../b", "a/..", "./a", "..;v=1/x", "/", "/a", "a/", "a//b"],
    ...["\\", "..\\x", "a\\..\\b", "a/..\\b"],
    ...[
      "%2e",
      "%2E%2e",
      ".%2e",
      "%2e%2e%2fadmin",
      "%252e%252e",
      "..%5cx",
      "%2e./%zz",
      "a%2f%2fb",
      "%25252525252525252e",
    ],
    ...["a\u0000", "a%00b", "a\nb", "\ud800"],
  ])("%j is refused and named", (id) => {
    expect(faultsForPath(ORDER, { id })).toEqual([{ path: "payload.id", message: expect.any(String) }]);
  });

  test.each(["7", "a/b", "a b", "50%", "50%25", "v1.0", "...", "a..b", "é/ü", "?x#y", "a;b", "a\\b", "*"])(
    "%j is one segment, and decodes to the same",
    (id) => expect(sent("/o/{id}/lines", { id })?.map(decodeURIComponent)).toEqual(["o", id, "lines"]),
  );

  test.each<[string, Json]>([
    ["true", true],
    ["null", null],
    ["an object", { a: 1 }],
    ["a list", ["a"]],
  ])("%s is no name of anything, and is refused", (_label, id) => {
    expect(faultsForPath(ORDER, { id })).toMatchObject([{ path: "payload.id" }]);
  });

  test("makes no dot segment with its neighbours", () => {
    expect(sent("/o/{a}{b}", { a: "%2", b: "e" })).toBeNull();
    expect(sent("/o/.{a}", { a: "." })).toBeNull();
    expect(sent("/o/v{a}", { a: ".." })).toEqual(["o", "v.."]);
  });

  test("arrives as it is, in a path of as many segments, or its command is refused", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(".", "..", "/", "\\", "%", "%2e", "%2F", "%5c", "%25", ";", "a", "?", "#"),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const segments = sent("/o/{a}/x/{b}?q={b}", { a, b });
        if (segments === null) return;
        expect(segments.map(decodeURIComponent)).toEqual(["o", a, "x", b]);
        // Nor does a server find another path that decodes twice and takes a backslash for a slash.
        const twice = segments.map((one) =>
          decodeURIComponent(decodeURIComponent(one).replace(/%(?![0-9a-f]{2})/gi, "%25")),
        );
        const url = new URL(`https://backend.test/${twice.join("/").replace(/[?#]/g, "_")}`);
        expect(url.pathname.split("/").length).toBe(twice.join("/").split(/[/\\]/).length + 1);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a deployment's variables", () => {
  test.each([
    ["UPSTREAM_ROUTES", "{", "must be a JSON object of routes"],
    ["UPSTREAM_ROUTES", '{"order":{}}', "NOUN:VERB"],
    ["UPSTREAM_ROUTES", '{"ORDER:PLACE":{"method":"BREW"}}', "ORDER:PLACE.method"],
    ["UPSTREAM_ROUTES", '{"ORDER:PLACE":{"path":"orders"}}', "slash"],
    ["UPSTREAM_ROUTES", '{"A:B":{"path":"/a#b"}}', "A:B.path: must have no fragment"],
    ["UPSTREAM_ROUTES", '{"A:B":{"path":"/a/../b"}}', "A:B.path: must have no dot segment"],
    ["UPSTREAM_ROUTES", '{"A:B":{"path":"/a/{id"}}', "A:B.path: must have a member's name"],
    ["UPSTREAM_ROUTES", '{"*":{"critical":true}}', "*.critical: only an intent that is named"],
    ["UPSTREAM_ROUTES", '{"A:B":{"statuses":{"409":"later"}}}', "A:B.statuses.409"],
    ["UPSTREAM_ROUTES", '{"A:B":{"statuses":{"204":"final"}}}', "A:B.statuses.204: must be a status from 300 to 599"],
    ["UPSTREAM_URL", "ftp://x", "UPSTREAM_URL"],
    ["UPSTREAM_URL", "http://h/base?k=1", "UPSTREAM_URL: must have no query"],
    ["UPSTREAM_URL", "http://h/base?", "UPSTREAM_URL: must have no query"],
    ["UPSTREAM_URL", "http://h/base#", "UPSTREAM_URL: must have no fragment"],
    ["UPSTREAM_URL", "http://user:pass@h/base", "UPSTREAM_URL: must have no user and password"],
    ["UPSTREAM_URL", "http:\\\\h\\base", "UPSTREAM_URL: must be an http or https URL"],
    ["JWT_JWKS_URL", "https://user:pass@h/keys", "JWT_JWKS_URL: must have no user and password"],
    ["JWT_JWKS_URL", "https://h/keys#1", "JWT_JWKS_URL: must have no fragment"],
    ["UPSTREAM_FORWARD_HEADERS", "traceparent, authorization", "authorization is not a header that can be handed on"],
    ["UPSTREAM_QUOTA_BURST", "5", "a quota is both"],
    ["OVERFLOW", "drop", "OVERFLOW"],
    ["RETRY_AFTER", "never", "RETRY_AFTER"],
    ["MAX_ATTEMPTS", "0", "MAX_ATTEMPTS"],
  ])("%s of %s is named", (name, value, said) => {
    expect(() => parseConfig({ [name]: value })).toThrow(said);
  });

  test("a URL that is refused is not said back: it may hold a credential", () => {
    expect(() => parseConfig({ UPSTREAM_URL: "http://user:pass@h" })).not.toThrow("pass@");
    expect(parseConfig({ UPSTREAM_URL: "https://h/@scope/base" }).UPSTREAM_URL).toBe("https://h/@scope/base");
  });

  test.each<[string, Record<string, string>, boolean, string[]]>([
    ["a backend with routes takes what they name", { UPSTREAM_ROUTES: '{"MAIL:SEND":{}}' }, false, ["MAIL:SEND"]],
    ["a backend with * takes nothing else by name", { UPSTREAM_ROUTES: '{"*":{}}' }, false, []],
    ["a backend without routes is a cluster", {}, true, [...INTENTS]],
    [
      "one with a surface is, too, whatever routes it has",
      { UPSTREAM_ROUTES: '{"MAIL:SEND":{}}', V2_ROUTES: "[]" },
      true,
      ["MAIL:SEND", ...INTENTS],
    ],
  ])("%s", (_label, vars, cluster, intents) => {
    const config = parseConfig({ UPSTREAM_URL: "http://x.test", ...vars });
    expect(config.cluster).toBe(cluster);
    expect([...config.intents.keys()].sort()).toEqual([...intents].sort());
  });

  test("the engine's own intents go where the rows of the cluster's surface say", () => {
    const { routes: table } = parseConfig({ UPSTREAM_URL: "http://x.test/v2" });
    const complete = routeOf(table, "JOB:COMPLETE");
    expect(complete && urlOf("http://x.test/v2", complete, { jobKey: 7 })).toBe("http://x.test/v2/jobs/7/completion");
  });

  test("an upstream has no limit on what is in flight unless one is chosen; the embedded engine has aimd", () => {
    expect(parseConfig({}).flow.algorithm).toBe("aimd");
    expect(parseConfig({ UPSTREAM_URL: "http://x.test" }).flow.algorithm).toBe("none");
    expect(parseConfig({ UPSTREAM_URL: "http://x.test", FLOW_ALGORITHM: "vegas" }).flow.algorithm).toBe("vegas");
  });
});
