import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { advance } from "../durable/support.ts";
import { settled } from "../support/event-loop.ts";
import { type Answer, call, engineStub, newTenant } from "../support/http.ts";
import { FUTURE_MS, newBackend } from "./support.ts";

// An answer after a wait tells how the command stands at the time of the answer, whatever it was at the start.

let tenant: Record<string, string>;
let keys = 0;

beforeAll(async () => {
  tenant = await newTenant("waiting");
});
// A limiter's own timer would go off after two seconds, inside the engine's object: waits are shorter.
beforeEach(async () => {
  await engineStub().changeFlow({ bound: 100, enqueueWaitMs: 0 });
  vi.useFakeTimers({ now: FUTURE_MS, toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  // What still waits is done before the next test.
  newBackend();
  await engineStub().resume();
  await settled();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const COMMAND = { intent: "ORDER:PLACE", payload: { n: 1 } };
const BUSY = () => new Response(null, { status: 429, headers: { "Retry-After": "3600" } });

/** Lets time pass while an answer is awaited. */
async function through<T>(seconds: number, answering: Promise<T>): Promise<T> {
  await settled();
  await advance(engineStub(), seconds * 1000);
  return await answering;
}

const post = (path: string, headers: Record<string, string> = {}) =>
  call("POST", path, { ...tenant, ...headers }, COMMAND);

describe("a wait that runs out behind an upstream that is held for an hour", () => {
  test.each<[string, () => Promise<Answer<Record<string, unknown>>>, string | null]>([
    ["?wait=1", () => post("/v1/commands?wait=1"), null],
    ["Prefer: wait=1", () => post("/v1/commands", { Prefer: "wait=1" }), "wait=1"],
    [
      "a preference among others",
      () => post("/v1/commands", { Prefer: 'foo="a, wait=9", respond-async, Wait = "1"; x=1' }),
      "wait=1",
    ],
  ])("is answered by what is so then: %s", async (_label, send, applied) => {
    newBackend(BUSY);
    const { status, body, headers } = await through(1, send());
    expect(status).toBe(202);
    expect(body).toMatchObject({ state: "queued", queuedAhead: 0, statusUrl: `/v1/commands/${body.commandId}` });
    expect(body.estimatedWaitSeconds).toBeCloseTo(3_599, 0);
    expect(headers.get("Preference-Applied")).toBe(applied);
  });

  test("says the same on GET, with and without a wait", async () => {
    newBackend(BUSY);
    const { commandId } = (await post("/v1/commands")).body;
    await settled();
    const path = `/v1/commands/${commandId}`;
    const after = await through(1, call("GET", `${path}?wait=1`, tenant));
    expect(after.body).toMatchObject({ state: "queued", queuedAhead: 0, estimatedWaitSeconds: 3_599 });
    expect((await call("GET", path, tenant)).body).toMatchObject({ state: "queued", estimatedWaitSeconds: 3_599 });
  });

  test("is what a repeat with the same Idempotency-Key gets", async () => {
    newBackend(BUSY);
    keys += 1;
    const named = { "Idempotency-Key": `wait-${keys}` };
    const first = await through(1, post("/v1/commands?wait=1", named));
    const repeat = await post("/v1/commands?wait=1", named);
    expect(repeat.headers.get("Idempotency-Replayed")).toBe("true");
    expect(repeat.body).toEqual(first.body);
    expect(repeat.body).toMatchObject({ state: "queued" });
  });
});

test("a command that ends within the wait is a 200 with the command as GET shows it, whatever its end", async () => {
  newBackend(() => Response.json({ message: "no" }, { status: 409 }));
  const { status, body } = await post("/v1/commands?wait=5");
  expect([status, body.state]).toEqual([200, "failed"]);
  expect((await call("GET", `/v1/commands/${body.commandId}`, tenant)).body).toEqual(body);
});
