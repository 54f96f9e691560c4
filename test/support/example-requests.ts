import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { createApp } from "../../src/app.ts";
import { type ApiDocument, type ExampleRequest, faultsBy, responseOf } from "./api-document.ts";

/** Sends what an API document shows to the Worker in workerd, and holds the answer against the document. */

export type App = ReturnType<typeof createApp>;
export type Credentials = Readonly<Record<"admin" | "tenant", Readonly<Record<string, string>>>>;
/** What a test has made instead of what the document shows: keys and ids, by those of the document. */
export type Made = Readonly<Record<string, string>>;

export async function fetchFrom(app: App, request: Request): Promise<Response> {
  const context = createExecutionContext();
  const response = await app.fetch(request, env, context);
  await waitOnExecutionContext(context);
  return response;
}

export async function readDocument(app: App): Promise<ApiDocument> {
  return (await fetchFrom(app, new Request("https://gate.test/openapi.json"))).json();
}

/** The request that an example is, with what was made in place of what is shown. */
export function requestOf(example: ExampleRequest, credentials: Credentials, made: Made = {}): Request {
  const { method, operation, parameters, body } = example;
  const real = (text: string) => Object.entries(made).reduce((all, [shown, own]) => all.replaceAll(shown, own), text);
  const path = example.path.replace(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(real(String(parameters.path[name] ?? "1"))),
  );
  const query = new URLSearchParams(Object.entries(parameters.query).map(([name, value]) => [name, String(value)]));
  const headers = new Headers({ "CF-Connecting-IP": "192.0.2.1", ...credentialOf(operation, credentials) });
  for (const [name, value] of Object.entries(parameters.header)) headers.set(name, String(value));
  const url = `https://gate.test${path}${query.size === 0 ? "" : `?${query}`}`;
  if (body === undefined) return new Request(url, { method, headers });
  const value: unknown = JSON.parse(real(JSON.stringify(body.value)));
  return new Request(url, { method, headers, body: asSent(body.type, value) });
}

function credentialOf({ security = [] }: ExampleRequest["operation"], { admin, tenant }: Credentials) {
  const named = security.flatMap((one) => Object.keys(one));
  if (named.includes("adminToken")) return admin;
  return named.includes("tenantKey") ? tenant : {};
}

function asSent(type: string, value: unknown): FormData | URLSearchParams | string {
  const fields = Object.entries(Object(value));
  if (type === "application/x-www-form-urlencoded") {
    return new URLSearchParams(fields.map(([name, text]) => [name, String(text)]));
  }
  if (type !== "multipart/form-data") return JSON.stringify(value);
  const form = new FormData();
  for (const [name, files] of fields) {
    for (const [n, text] of [files].flat().entries()) form.append(name, new File([String(text)], `${name}-${n}.bpmn`));
  }
  return form;
}

/** Holds an answer against what the document says of its status: type, headers and body. @returns the body */
export async function expectDocumented(
  document: ApiDocument,
  { operation }: Pick<ExampleRequest, "operation">,
  answer: Response,
): Promise<unknown> {
  const { status, headers } = answer;
  const text = await answer.text();
  const at = `${operation.operationId} ${status} ${text.slice(0, 300)}`;
  const described = responseOf(document, operation, status);
  if (described === undefined) throw new Error(`not in the document: ${at}`);
  const said = Object.keys(document.components.headers ?? {}).filter((name) => headers.has(name));
  expect(Object.keys(described.headers ?? {}), at).toEqual(expect.arrayContaining(said));
  if (described.content === undefined) {
    expect(text, at).toBe("");
    return undefined;
  }
  const type = headers.get("Content-Type")?.split(";")[0] ?? "";
  const media = described.content[type];
  if (media === undefined) throw new Error(`${type} is not in the document: ${at}`);
  const body: unknown = /json$/.test(type) ? JSON.parse(text) : text;
  expect([at, faultsBy(document, media.schema, body)]).toEqual([at, []]);
  return body;
}

/** Members of an object and of the first object in each of its lists, so that an example tells of all that there is. */
export function membersOf(value: unknown): Record<string, unknown> {
  const sorted = (object: object) => Object.keys(object).sort();
  if (typeof value !== "object" || value === null) return {};
  const lists = Object.entries(value).flatMap(([name, list]) => {
    const first: unknown = Array.isArray(list) ? list[0] : undefined;
    return typeof first === "object" && first !== null ? [[name, sorted(first)]] : [];
  });
  return { members: sorted(value), ...Object.fromEntries(lists) };
}
