import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pollPauseMs } from "../../src/client/wait.ts";
import { parseIdempotencyKey } from "../../src/core/idempotency.ts";
import { accepted, broken, CREATE, json, type Play, page, problem, silent, stage, succeeded, view } from "./support.ts";

// Commands from sending to their end.

const queued = json(200, view("queued", { queuedAhead: 4, estimatedWaitSeconds: 1 }));
/** Holds a request as long as it asks for, and then shows the command. */
const held =
  (play: Play, wayMs = 0): Play =>
  async (seen, time) => {
    const asked = /wait=(\d+)/.exec(seen.init.headers.prefer ?? seen.url)?.[1] ?? "0";
    await time.sleep(Number(asked) * 1000 + wayMs, seen.init.signal);
    return play(seen, time);
  };

describe("sending", () => {
  test("says what is sent, to the letter", async () => {
    const { client, time, seen } = stage([accepted()]);
    const payload = { processId: "order", variables: { total: 42, note: undefined } };
    await time.settle(
      client.send("PROCESS_INSTANCE:CREATE", payload, {
        waitSeconds: 5,
        deadlineSeconds: 1.5,
        idempotencyKey: "order-7",
      }),
    );
    expect(seen[0]).toMatchObject({ url: "https://gate.test/v1/commands", init: { method: "POST" } });
    expect(seen[0]?.init.body).toBe(
      '{"intent":"PROCESS_INSTANCE:CREATE","payload":{"processId":"order","variables":{"total":42}},"deadlineSeconds":1.5}',
    );
    expect(seen[0]?.init.headers).toEqual({
      authorization: "Bearer hg_test",
      "content-type": "application/json",
      accept: "application/json, application/problem+json",
      prefer: "wait=5",
      "idempotency-key": '"order-7"',
    });
  });

  test.each([
    ["accepted, and on disk", accepted(), { outcome: "accepted", commandId: "1000000000000001", queuedAhead: 3 }],
    [
      "deferred: it is taken up later",
      json(201, { ...ACCEPTED(), deferred: true }),
      { outcome: "deferred", state: "queued" },
    ],
    [
      "ended within the wait",
      succeeded,
      { outcome: "ended", commandId: "1000000000000001", command: { state: "succeeded" } },
    ],
  ])("%s", async (_label, play, value) => {
    const { client, time } = stage([play]);
    const result = await time.settle(client.send(...CREATE));
    expect(result).toMatchObject({ ok: true, value: { intent: "PROCESS_INSTANCE:CREATE", ...value } });
  });

  test("a deployment's own intent is sent like any other", async () => {
    const { client, time, seen } = stage([accepted()]);
    const result = await time.settle(client.send("INVOICE:PAY", { invoice: "7" }));
    expect(result).toMatchObject({ ok: true, value: { intent: "INVOICE:PAY" } });
    expect(seen[0]?.init.body).toBe('{"intent":"INVOICE:PAY","payload":{"invoice":"7"}}');
  });

  test("whatever key a caller gives, the server reads the same", async () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
      minLength: 1,
      maxLength: 255,
    });
    await fc.assert(
      fc.asyncProperty(printable, async (idempotencyKey) => {
        const { client, time, seen } = stage([accepted()]);
        await time.settle(client.send(...CREATE, { idempotencyKey }));
        // What a header goes through on its way.
        const header = new Headers({ "Idempotency-Key": seen[0]?.init.headers["idempotency-key"] ?? "" });
        expect(parseIdempotencyKey(header.get("Idempotency-Key") ?? "")).toBe(idempotencyKey);
      }),
    );
  });

  test("a failure tells the key, so that the same command can be sent again later and is never a second one", async () => {
    const { client, time, seen } = stage([broken, broken, accepted()], { retry: { attemptsMax: 2 } });
    const failed = await time.settle(client.send(...CREATE));
    if (failed.ok) return expect.unreachable();
    expect(failed.error).toMatchObject({ code: "network", gaveUp: "attempts" });
    const idempotencyKey = failed.error.idempotencyKey ?? undefined;
    expect(await time.settle(client.send(...CREATE, { idempotencyKey }))).toMatchObject({ ok: true });
    expect(new Set(seen.map(({ init }) => init.headers["idempotency-key"])).size).toBe(1);
  });

  test.each<[string, object]>([
    ["an empty key", { idempotencyKey: "" }],
    ["a key of 256 characters", { idempotencyKey: "k".repeat(256) }],
    ["a key that is not ASCII", { idempotencyKey: "ключ" }],
    ["a key with a line break", { idempotencyKey: "a\r\nb" }],
    ["a wait of more than a minute", { waitSeconds: 61 }],
    ["a wait of half a second", { waitSeconds: 0.5 }],
    ["a deadline of nothing", { deadlineSeconds: 0 }],
    ["a deadline that is no number", { deadlineSeconds: Number.NaN }],
    ["no time", { totalMs: 0 }],
    ["more time than a timer holds", { totalMs: 2 ** 31 }],
  ])("%s is the caller's mistake: rejected, and nothing is sent", async (_label, options) => {
    const { client, seen } = stage([accepted()]);
    await expect(client.send(...CREATE, options)).rejects.toThrow(TypeError);
    expect(seen).toHaveLength(0);
  });

  test("a payload that is no JSON is the caller's mistake too", async () => {
    const loop: Record<string, never> = {};
    Object.assign(loop, { loop });
    const { client, seen } = stage([accepted()]);
    await expect(client.send("INVOICE:PAY", loop)).rejects.toThrow(TypeError);
    expect(seen).toHaveLength(0);
  });
});

function ACCEPTED() {
  return { commandId: "1000000000000001", state: "queued", statusUrl: "/", queuedAhead: 3, estimatedWaitSeconds: 2 };
}

describe("running to the end", () => {
  test("takes one request when the command ends within a minute", async () => {
    const { client, time, seen } = stage([succeeded]);
    const result = await time.settle(client.run(...CREATE));
    expect(result).toMatchObject({
      ok: true,
      value: { state: "succeeded", result: { processInstanceKey: "1000000000000002" } },
      meta: { attempts: 1 },
    });
    expect(seen.map(({ init }) => init.headers.prefer)).toEqual(["wait=60"]);
  });

  test("goes on waiting by held requests, one after the other", async () => {
    const { client, time, seen } = stage([held(accepted()), held(queued), held(queued), succeeded]);
    const result = await time.settle(client.run(...CREATE));
    expect(result).toMatchObject({ ok: true, meta: { attempts: 4 } });
    expect(seen.slice(1).map(({ url }) => url)).toEqual([
      "https://gate.test/v1/commands/1000000000000001?wait=60",
      "https://gate.test/v1/commands/1000000000000001?wait=60",
      "https://gate.test/v1/commands/1000000000000001?wait=60",
    ]);
  });

  test.each<[string, object]>([
    ["failed", { error: { code: "unknown_job", message: "There is none." } }],
    ["dead", { error: { code: "upstream_500", message: "It broke." } }],
    ["cancelled", {}],
    ["expired", {}],
  ])("an end is a value, also %s", async (state, more) => {
    const { client, time } = stage([json(200, view(state, more))]);
    expect(await time.settle(client.run(...CREATE))).toMatchObject({ ok: true, value: { state, ...more } });
  });

  test("a deferred command is waited for too", async () => {
    const { client, time } = stage([json(201, { ...ACCEPTED(), deferred: true }), succeeded]);
    expect(await time.settle(client.run(...CREATE))).toMatchObject({ ok: true, value: { state: "succeeded" } });
  });

  test("a result without members is an empty one", async () => {
    const { client, time } = stage([json(200, view("succeeded", { intent: "JOB:COMPLETE" }))]);
    const result = await time.settle(client.run("JOB:COMPLETE", { jobKey: "1" }));
    expect(result).toMatchObject({ ok: true, value: { result: {} } });
  });

  test("time that is over is told with the command's id, and with time to hear of it", async () => {
    const { client, time } = stage([held(accepted()), held(queued)]);
    const before = time.nowMs;
    const result = await time.settle(client.run(...CREATE, { totalMs: 90_500 }));
    expect(result).toMatchObject({
      ok: false,
      error: { code: "timeout", commandId: "1000000000000001", gaveUp: "time" },
    });
    expect(time.nowMs - before).toBe(90_500);
    expect(time.pending).toBe(0);
  });

  test("a server that goes silent after the acceptance costs the time, not the id", async () => {
    const { client, time } = stage([accepted(), silent]);
    expect(await time.settle(client.run(...CREATE, { totalMs: 30_000 }))).toMatchObject({
      ok: false,
      error: { code: "timeout", commandId: "1000000000000001", attempts: 2 },
    });
  });

  test("a command is heard of within the call's time, also when the answer's way is not short", async () => {
    const { client, time } = stage([held(accepted(), 900), held(queued, 900)]);
    expect(await time.settle(client.run(...CREATE, { totalMs: 10_000 }))).toMatchObject({
      ok: false,
      error: { code: "timeout", commandId: "1000000000000001" },
    });
  });

  test("a restart in between is lived through", async () => {
    const { client, time } = stage([
      held(accepted()),
      broken,
      page(502),
      problem(503, "queue_full", 5),
      held(queued),
      succeeded,
    ]);
    expect(await time.settle(client.run(...CREATE))).toMatchObject({ ok: true, meta: { attempts: 6 } });
  });

  test("a server that holds nothing is asked at a bearable pace", async () => {
    const { client, time, seen } = stage([accepted(), queued]);
    await time.settle(client.run(...CREATE, { totalMs: 60_000 }));
    const gaps = seen.slice(2).map(({ atMs }, n) => atMs - (seen[n + 1]?.atMs ?? 0));
    expect(Math.min(...gaps.slice(0, -1))).toBeGreaterThanOrEqual(250);
    expect(seen.length).toBeLessThan(200);
  });

  test.each([
    ["held as long as it was asked to: ask again at once", 60_000, 60_000, 0, 0],
    ["held for half of it", 60_000, 30_000, 0, 0],
    ["not held: the shortest pause", 60_000, 10, 0, 375],
    ["not held, ten seconds to go: half of them, at most five", 60_000, 10, 10, 3_750],
    ["not held, an hour to go: five seconds", 60_000, 10, 3_600, 3_750],
    ["not asked to hold", 0, 40, 0, 375],
  ])("the pause before asking again: %s", (_label, askedMs, heldMs, estimate, pauseMs) => {
    expect(pollPauseMs(askedMs, heldMs, estimate, 0.5)).toBe(pauseMs);
  });
});

describe("by its id", () => {
  test("what was sent is enough to ask for it with its result's type, and another command's answer is refused", async () => {
    const { client, time, seen } = stage([accepted(), succeeded, json(200, view("queued", { intent: "JOB:FAIL" }))]);
    const sent = await time.settle(client.send(...CREATE));
    if (!sent.ok) return expect.unreachable();
    const shown = await time.settle(client.command(sent.value, { waitSeconds: 9 }));
    if (!shown.ok || shown.value.state !== "succeeded") return expect.unreachable();
    expect(shown.value.result.processInstanceKey).toBe("1000000000000002");
    expect(seen[1]?.url).toBe("https://gate.test/v1/commands/1000000000000001?wait=9");
    expect(await time.settle(client.command(sent.value))).toMatchObject({ ok: false, error: { why: "wrong_shape" } });
  });

  test.each(["", ".", ".."])("%j is no id", async (id) => {
    const { client } = stage([succeeded]);
    await expect(client.command(id)).rejects.toThrow(TypeError);
    await expect(client.wait(id)).rejects.toThrow(TypeError);
    await expect(client.cancel(id)).rejects.toThrow(TypeError);
  });

  test("an id cannot lead elsewhere", async () => {
    const { client, time, seen } = stage([problem(404, "not_found")]);
    await time.settle(client.cancel("../../admin?x#y"));
    expect(seen[0]?.url).toBe("https://gate.test/v1/commands/..%2F..%2Fadmin%3Fx%23y");
  });

  const gone: Play = () => new Response(null, { status: 204 });
  test.each<[string, Play[], boolean, number]>([
    ["cancelled", [gone], true, 1],
    ["not queued any more", [problem(409, "conflict")], false, 1],
    [
      "cancelled, the answer lost, then found cancelled",
      [broken, problem(409, "conflict"), json(200, view("cancelled"))],
      true,
      3,
    ],
    ["lost, then found at its end", [broken, problem(409, "conflict"), succeeded], false, 3],
    ["lost, then gone", [broken, problem(409, "conflict"), problem(404, "not_found")], false, 3],
  ])("cancelling: %s", async (_label, plays, ok, requests) => {
    const { client, time, seen } = stage(plays);
    const result = await time.settle(client.cancel("1"));
    expect(result.ok).toBe(ok);
    if (!result.ok) expect(result.error).toMatchObject({ code: "conflict", commandId: "1" });
    expect(seen).toHaveLength(requests);
  });
});
