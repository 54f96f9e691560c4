import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { advance } from "../durable/support.ts";
import { examplesOf, operationsOf } from "../support/api-document.ts";
import { expectDocumented, fetchFrom, membersOf, readDocument, requestOf } from "../support/example-requests.ts";
import { ADMIN, engineStub, newTenant } from "../support/http.ts";
import { FUTURE_MS, newBackend, place } from "./support.ts";

// Dead letters as the API document shows them: there are some only in front of a backend that fails.

const app = createApp(parseConfig({ ADMIN_TOKEN: "test-admin", UPSTREAM_URL: "http://upstream.test/api" }));
const document = await readDocument(app);
const shown = operationsOf(document)
  .filter(({ path }) => path.startsWith("/admin/dead-letters"))
  .flatMap((placed) => examplesOf(placed));
let tenant: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant("shop");
});
beforeEach(() => {
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** @returns the id of a command that could not be run */
async function deadLetter(): Promise<string> {
  newBackend(() => new Response(null, { status: 500 }));
  // Not over HTTP: the clock of the engine alone must move.
  const { commandId } = await place(engineStub(), 1, "tenant:shop");
  for (let second = 0; second < 60; second++) await advance(engineStub(), 1_000);
  return commandId;
}

test.for(shown.map((example) => [example.operation.operationId, example] as const))("%s", async ([name, example]) => {
  const made = { "1179603723715820": await deadLetter() };
  const answer = await fetchFrom(app, requestOf(example, { admin: ADMIN, tenant }, made));
  expect([name, answer.status]).toEqual([name, example.status]);
  const body = await expectDocumented(document, example, answer);
  if (example.answer !== undefined) expect(membersOf(body)).toEqual(membersOf(example.answer));
});

test("all four routes are sent", () => {
  expect(shown.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /admin/dead-letters",
    "GET /admin/dead-letters/{id}",
    "DELETE /admin/dead-letters/{id}",
    "POST /admin/dead-letters/{id}/redrive",
  ]);
});
