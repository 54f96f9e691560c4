import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { type ApiDocument, operationsOf } from "../support/api-document.ts";

// The API document against the specification and against the routes that there really are, for each kind of deployment.

const DEPLOYMENTS: Record<string, Record<string, string>> = {
  "the embedded engine": {},
  "every way to say who one is": {
    OAUTH_SECRET: "a secret of at least 32 characters",
    JWT_JWKS_URL: "https://issuer.test/jwks",
    JWT_ISSUER: "https://issuer.test",
    JWT_AUDIENCE: "headgate",
    ANONYMOUS: "allow",
  },
  "a cluster of one's own": {
    UPSTREAM_URL: "http://cluster.test",
    V2_ROUTES: JSON.stringify([
      { method: "POST", path: "/v2/messages/publication", intent: "MESSAGE:PUBLISH" },
      { method: "DELETE", path: "/v2/process-instances/{key}", intent: "PROCESS_INSTANCE:DELETE", critical: true },
      { method: "POST", path: "/v2/jobs/{key}/completion", intent: "JOB:COMPLETE", cost: 2 },
    ]),
  },
};

/** Paths that are asked for with any method: middleware, and in front of a cluster its whole surface, row by row. */
const ANY_METHOD = ["/*", "/admin/*", "/metrics", "/t/:tenant/v2/*", "/v1/*", "/v2/*"];

/** For people: pages, what they are made of, and their names with a slash at the end. */
const PAGES = /^GET \/(dashboard|explorer|docs|assets)?(\/\*?)?$/;

function appOf(vars: Record<string, string>) {
  return createApp(parseConfig({ ADMIN_TOKEN: "test-admin", VIEWER_TOKEN: "test-viewer", ...vars }));
}

async function textOf(app: ReturnType<typeof appOf>): Promise<string> {
  return (await app.request("https://gate.test/openapi.json")).text();
}

async function documentOf(vars: Record<string, string>): Promise<ApiDocument> {
  return JSON.parse(await textOf(appOf(vars)));
}

/** Where an object has neither members nor a word on what else may be in it: generators take it for an empty one. */
function freeObjects(schema: unknown, at = ""): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const isFree = "type" in schema && schema.type === "object" && !("properties" in schema);
  const isSilent = isFree && !("additionalProperties" in schema);
  const members = Object.entries(schema).filter(([name]) => name !== "examples");
  return [...(isSilent ? [at] : []), ...members.flatMap(([name, member]) => freeObjects(member, `${at}/${name}`))];
}

describe.each(Object.entries(DEPLOYMENTS))("the document of %s", (_label, vars) => {
  test("is OpenAPI 3.1 without a fault, its examples too", async () => {
    const config = await createConfig({ extends: ["recommended-strict"] });
    const source = await textOf(appOf(vars));
    const faults = await lintFromString({ source, config, absoluteRef: "openapi.json" });
    const said = faults.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
    expect(said).toEqual([]);
  });

  test("has every route that is served, and no other", async () => {
    const app = appOf(vars);
    const served = app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`)
      .filter((at) => !PAGES.test(at));
    const document: ApiDocument = JSON.parse(await textOf(app));
    const inCluster = (at: string) => vars.UPSTREAM_URL !== undefined && /^\w+ (\/t\/\{tenant\})?\/v2\//.test(at);
    const described = operationsOf(document).flatMap(({ method, path, operation }) =>
      (operation.servers ?? document.servers).map(
        ({ url }) => `${method} ${url.replace(/^https:\/\/gate.test|\/$/, "")}${path}`,
      ),
    );
    expect(described.filter((at) => !inCluster(at)).sort()).toEqual([...new Set(served)].sort());
    const anyMethod = app.routes.filter(({ method }) => method === "ALL").map(({ path }) => path);
    expect([...new Set(anyMethod)].sort()).toEqual(ANY_METHOD);
  });

  test("says of an object that is free what may be in it, and gives addresses that are whole with their variables", async () => {
    const document = await documentOf(vars);
    expect(freeObjects(document)).toEqual([]);
    for (const { operation } of operationsOf(document)) {
      for (const { url, variables = {} } of operation.servers ?? []) {
        if (Object.keys(variables).length === 0) continue;
        const whole = url.replace(/\{(\w+)\}/g, (_braces, name: string) => variables[name]?.default ?? "{}");
        expect([url, URL.canParse(whole), Object.keys(variables.tenant ?? {})]).toEqual([url, true, ["default"]]);
      }
    }
  });

  test("names each operation, in a tag that is described, and says what else may be answered", async () => {
    const document = await documentOf(vars);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operationsOf(document)) {
      expect(operation.operationId).toMatch(/^[a-z]\w+$/);
      expect(tags).toContain(operation.tags[0]);
      const refusals = Object.keys(operation.responses).filter((status) => status.startsWith("4"));
      expect([operation.operationId, refusals.length > 0]).toEqual([operation.operationId, true]);
    }
  });
});

test("in front of a cluster each row of its table is there, the deployment's own first", async () => {
  const { paths } = await documentOf(DEPLOYMENTS["a cluster of one's own"] ?? {});
  expect(paths["/v2/messages/publication"]?.post?.description).toContain("`MESSAGE:PUBLISH`");
  expect(paths["/v2/process-instances/{key}"]?.delete?.description).toContain("never refused for load");
  expect(paths["/v2/jobs/{key}/completion"]?.post?.description).toContain("costs 2 tokens");
  expect(paths["/v2/jobs/{jobKey}/completion"]).toBeUndefined();
  expect(paths["/v2/topology"]?.get).toBeDefined();
});

test("who may ask is said for each route", async () => {
  const { paths, components } = await documentOf(DEPLOYMENTS["every way to say who one is"] ?? {});
  const tenants = ["tenantKey", "tenantKeyHeader", "tenantBasic", "tenantToken"].map((name) => ({ [name]: [] }));
  expect(paths["/v1/commands"]?.post?.security).toEqual([...tenants, {}]);
  expect(paths["/admin/tiers"]?.get?.security).toEqual([{ adminToken: [] }, { viewerToken: [] }]);
  expect(paths["/admin/tiers/{name}"]?.put?.security).toEqual([{ adminToken: [] }]);
  expect(paths["/healthz"]?.get?.security).toEqual([]);
  expect(Object.keys(components.securitySchemes)).toEqual([
    ...tenants.flatMap((one) => Object.keys(one)),
    "adminToken",
    "viewerToken",
  ]);
  const plain = await documentOf({});
  expect(plain.paths["/v1/commands"]?.post?.security).toEqual(tenants.slice(0, 3));
});

test("is kept by clients, and not sent again to one that has it", async () => {
  const app = appOf({});
  const first = await app.request("/openapi.json");
  expect(first.headers.get("Content-Type")).toBe("application/json");
  expect(first.headers.get("Cache-Control")).toBe("public, max-age=300");
  const etag = first.headers.get("ETag") ?? "";
  const again = await app.request("/openapi.json", { headers: { "If-None-Match": etag } });
  expect([again.status, await again.text(), again.headers.get("ETag")]).toEqual([304, "", etag]);
  const other = await app.request("/openapi.json", { headers: { "If-None-Match": '"other"' } });
  expect([other.status, await other.text()]).toEqual([200, await first.text()]);
  expect((await appOf({ ANONYMOUS: "allow" }).request("/openapi.json")).headers.get("ETag")).not.toBe(etag);
});
