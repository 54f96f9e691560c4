import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { type ApiDocument, groupsOf, isFound, type Route, whole } from "../../src/web/docs/document.ts";
import { addressOf, curlOf, fileOf, requestsOf, type ShownRequest } from "../../src/web/docs/requests.ts";
import { examplesOf, operationsOf } from "../support/api-document.ts";
import { startGatewayProcess, temporaryFolder } from "../support/node/process.ts";

// What the reference makes of the real document: its routes, the requests that it shows, and the commands for a shell.

let text: string;
let document: ApiDocument;
let routes: readonly Route[];
let shown: readonly { readonly route: Route; readonly request: ShownRequest }[];

beforeAll(async () => {
  const { folder, remove } = await temporaryFolder();
  const gateway = await startGatewayProcess(folder);
  text = await (await fetch(`${gateway.url}/openapi.json`)).text();
  await gateway.kill().finally(remove);
  document = JSON.parse(text);
  routes = groupsOf(document).flatMap((group) => group.routes);
  shown = routes.flatMap((route) => requestsOf(document, route).map((request) => ({ route, request })));
});

/** The arguments that a shell makes of a command. */
function argumentsOf(command: string): string[] {
  const env = { TENANT_KEY: "the tenant's key", ADMIN_TOKEN: "the admin's token" };
  const print = command.replace(/^curl/, "printf '%s\\0'");
  return execFileSync("sh", ["-c", print], { env, encoding: "utf8" }).split("\0").slice(0, -1);
}

test("every route of the document is in one group", () => {
  const all = operationsOf(JSON.parse(text)).map(({ operation }) => operation.operationId);
  expect(routes.map(({ operation }) => operation.operationId).sort()).toEqual(all.sort());
});

test("every request that the document shows is shown, with its status and its answer", () => {
  const expected = operationsOf(JSON.parse(text))
    .flatMap((placed) => examplesOf(placed))
    .map(({ operation, name, status, answer }) => [operation.operationId, name.replace("plain", ""), status, answer]);
  const actual = shown.map(({ route, request }) => [
    route.operation.operationId,
    request.name,
    Number(request.status),
    request.answer,
  ]);
  const byName = (one: unknown[], other: unknown[]) => (`${one[0]} ${one[1]}` < `${other[0]} ${other[1]}` ? -1 : 1);
  expect(actual.sort(byName)).toEqual(expected.sort(byName));
});

test("a shell reads each command as the request that is meant", () => {
  for (const { route, request } of shown) {
    const given = argumentsOf(curlOf("http://gate.test", route, request));
    expect(given).toContain(`http://gate.test${addressOf(route.path, request)}`);
    if (route.method !== "GET") expect(given.slice(0, 2)).toEqual(["-X", route.method]);
    for (const [name, value] of Object.entries(request.headers)) expect(given).toContain(`${name}: ${value}`);
    if (request.body?.type === "application/json") {
      expect(JSON.parse(given[given.indexOf("-d") + 1] ?? "")).toEqual(request.body.value);
    }
  }
});

test("each command has the credential that its route takes, by the name of a variable", () => {
  const credential = (id: string) => {
    const found = shown.find(({ route }) => route.operation.operationId === id);
    if (found === undefined) throw new Error(`there is no ${id}`);
    return argumentsOf(curlOf("http://gate.test", found.route, found.request)).filter((one) => one.startsWith("Auth"));
  };
  expect(credential("sendCommand")).toEqual(["Authorization: Bearer the tenant's key"]);
  expect(credential("putTier")).toEqual(["Authorization: Bearer the admin's token"]);
  for (const open of ["getHealth", "getMetrics", "createToken"]) expect(credential(open)).toEqual([]);
});

test("quotes in a value stay quotes, and forms are forms", () => {
  const [route] = routes.filter(({ operation }) => operation.operationId === "createToken");
  if (route === undefined) throw new Error("there is no createToken");
  const body = { type: "application/x-www-form-urlencoded", value: { a: 'it\'s $HOME & "more"' } };
  const request = {
    name: "x",
    summary: "",
    path: {},
    query: {},
    headers: {},
    body,
    status: "200",
    isBodiless: true,
    answer: undefined,
  };
  expect(argumentsOf(curlOf("http://gate.test", route, request))).toContain('a=it\'s $HOME & "more"');
  const file = { type: "multipart/form-data", value: { resources: ["<xml />"] } };
  expect(argumentsOf(curlOf("http://gate.test", route, { ...request, body: file }))).toContain("resources=@order.bpmn");
  expect([fileOf(file), fileOf(body)]).toEqual(["<xml />", null]);
});

test("a search takes all its words from anywhere, in any case", () => {
  const found = (search: string) =>
    routes.filter((route) => isFound(route, search)).map(({ operation }) => operation.operationId);
  expect(found("REDRIVE post")).toEqual(["redriveDeadLetter"]);
  expect(found("").length).toBe(routes.length);
  expect(found("redrive get")).toEqual([]);
});

test("a schema that is put together of others has the members of all", () => {
  const { properties = {}, required } = whole(document, { $ref: "#/components/schemas/SavedTier" });
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(["name", "policies", "tenantsUpdated"]));
  expect(required).toEqual(expect.arrayContaining(["name", "tenantsPending"]));
});
