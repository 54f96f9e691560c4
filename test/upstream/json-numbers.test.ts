import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { memberText } from "../../src/core/json-scan.ts";
import { advance } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { ADMIN, callText, engineStub, newTenant } from "../support/http.ts";
import { jsonObjectText, jsonText } from "../support/json-text.ts";
import { FUTURE_MS, newBackend } from "./support.ts";

// What is passed through to a backend, and what comes back from it, is passed on as it was written.

let tenant: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant("numbers");
});
beforeEach(async () => {
  await engineStub().changeFlow({ bound: 1000, enqueueWaitMs: 0 });
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const letter = (id: string) => callText("GET", `/admin/dead-letters/${id}`, ADMIN);
const json = (text: string, type = "application/json") => new Response(text, { headers: { "Content-Type": type } });
const send = (body: string, headers: Record<string, string> = {}) =>
  callText("POST", "/v1/commands", { ...tenant, Prefer: "wait=5", ...headers }, body);
const place = (payload: string, headers: Record<string, string> = {}) =>
  send(`{"intent":"ORDER:PLACE","payload":${payload}}`, headers);

describe("a number that a double cannot hold", () => {
  test("reaches the backend as it was sent", async () => {
    const backend = newBackend();
    expect((await place('{"orderId":9007199254740993}')).status).toBe(200);
    expect(backend.deliveries[0]?.body).toBe('{"orderId":9007199254740993}');
  });

  test.each(["9007199254740993", "1.10", "123456789012345678901234567890"])("%s fills a path as it is", async (id) => {
    const backend = newBackend();
    const body = `{"intent":"ORDER:CANCEL","payload":{"orderId":${id}}}`;
    expect((await send(body)).status).toBe(200);
    expect(backend.deliveries[0]?.url).toBe(`http://upstream.test/api/orders/${id}`);
  });

  test("of a backend's answer is in the result, whether read at once or later", async () => {
    newBackend(() => json('{"n":123456789012345678901234567890}'));
    const { text } = await place("{}");
    expect(memberText(text, "result")).toBe('{"n":123456789012345678901234567890}');
    const id: string = JSON.parse(text).commandId;
    expect((await callText("GET", `/v1/commands/${id}`, tenant)).text).toBe(text);
  });

  test("is another request under the same Idempotency-Key, and the first answer comes again as it was", async () => {
    newBackend(() => json('{"n":9007199254740993}'));
    const key = { "Idempotency-Key": "long" };
    const first = await place('{"n":9007199254740992}', key);
    expect(await place('{"n":9007199254740992}', key)).toEqual(first);
    const other = await place('{"n":9007199254740993}', key);
    expect([other.status, JSON.parse(other.text).code]).toEqual([422, "idempotency_conflict"]);
  });

  test("of a dead letter is shown to an operator, and sent again, as it was sent", async () => {
    const backend = newBackend(() => new Response(null, { status: 500 }));
    const { text } = await place('{"n":9007199254740993}', { Prefer: "" });
    const id: string = JSON.parse(text).commandId;
    for (let n = 0; n < 100 && (await letter(id)).status !== 200; n++) await advance(engineStub(), 60_000);
    expect(memberText((await letter(id)).text, "payload")).toBe('{"n":9007199254740993}');
    backend.answer = () => json("{}");
    expect((await callText("POST", `/admin/dead-letters/${id}/redrive`, ADMIN)).status).toBe(202);
    await settled();
    expect(new Set(backend.deliveries.map(({ body }) => body))).toEqual(new Set(['{"n":9007199254740993}']));
  });
});

describe("any JSON", () => {
  test("reaches the backend as it was written, and its answer the caller", async () => {
    const backend = newBackend();
    await fc.assert(
      fc.asyncProperty(jsonObjectText(), jsonText(), async (payload, result) => {
        backend.deliveries.length = 0;
        backend.answer = () => json(result);
        const { status, text } = await place(payload);
        expect([status, backend.deliveries.map(({ body }) => body)]).toEqual([200, [payload]]);
        expect(memberText(text, "result")).toBe(result.startsWith("{") ? result : `{"value":${result}}`);
      }),
      { numRuns: 60 },
    );
  });

  test("keeps its blanks and the order of its members; a member that is there twice is a fault of it", async () => {
    const backend = newBackend();
    await place('{ "b" : 1, "1": 2.0 }');
    expect(backend.deliveries[0]?.body).toBe('{ "b" : 1, "1": 2.0 }');
    const twice = await place('{"a":{"n":1,"n":2}}');
    expect([twice.status, JSON.parse(twice.text).errors]).toEqual([
      400,
      [{ path: "payload.a.n", message: "is there twice" }],
    ]);
  });
});

describe("the text of a backend", () => {
  const bytes = (...all: number[]) => new Uint8Array(all);
  const says = (body: Uint8Array, type: string) => () => new Response(body, { headers: { "Content-Type": type } });

  test.each<[string, Uint8Array, string, unknown]>([
    ["Latin 1", bytes(0xe9), "text/plain; charset=iso-8859-1", { text: "é" }],
    ["a quoted name", bytes(0x80), 'text/plain; charset="Windows-1252"', { text: "€" }],
    ["Japanese", bytes(0x82, 0xa0), "text/plain; charset=Shift_JIS", { text: "あ" }],
    ["JSON in Latin 1", bytes(0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d), "application/json;charset=latin1", { é: 1 }],
    ["UTF-8, as without a word", new TextEncoder().encode("é"), "text/plain", { text: "é" }],
  ])("is decoded by its charset: %s", async (_label, body, type, result) => {
    newBackend(says(body, type));
    const { text } = await place("{}");
    expect(JSON.parse(text)).toMatchObject({ state: "succeeded", result });
  });

  test.each<[string, Uint8Array, string, string]>([
    ["bytes that are none", bytes(0xe9), "text/plain", 'has bytes that are no text in the charset "utf-8"'],
    [
      "an unknown charset",
      bytes(0x61),
      "text/plain; charset=klingon",
      'is in the charset "klingon", which is not known',
    ],
  ])("that cannot be read is told so: %s", async (_label, body, type, why) => {
    newBackend(says(body, type));
    const { text } = await place("{}");
    expect(JSON.parse(text)).toMatchObject({
      state: "succeeded",
      result: { unreadable: expect.stringContaining(why) },
    });
  });

  test.each(["deflate", "klingon", "gzip, br"])(
    "in an encoding that fetch leaves as it is cannot be read: %s",
    async (encoding) => {
      newBackend(() => new Response("a", { headers: { "Content-Type": "text/plain", "Content-Encoding": encoding } }));
      const { text } = await place("{}");
      const why = `the answer has the Content-Encoding "${encoding}"`;
      expect(JSON.parse(text).result).toEqual({ unreadable: why });
    },
  );

  test("that cannot be read says so of a refusal, too", async () => {
    newBackend(() => new Response(bytes(0xff), { status: 404 }));
    const { text } = await place("{}");
    expect(JSON.parse(text).error).toMatchObject({ code: "upstream_404", message: expect.stringContaining("no text") });
  });
});
