import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Submission, Submitted } from "../../src/durable/submission.ts";
import { settled } from "../support/event-loop.ts";
import { again, CREATE, calls, deployed, type Engine, lastToken, status, submit } from "./support.ts";

const T0 = Date.UTC(2040, 0, 1);
const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ now: T0, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function keyed(engine: Engine, key: string, fingerprint = "f", more: Partial<Submission> = {}): Promise<Submitted> {
  return submit(engine, "PROCESS_INSTANCE:CREATE", CREATE, more.tenant, 1, {
    idempotency: { key, fingerprint },
    ...more,
  });
}

const problemOf = (submitted: Submitted) => (submitted.kind === "refused" ? submitted.problem : null);

describe("a key that was used", () => {
  test("gets the first answer again, and makes no second command", async () => {
    const engine = await deployed();
    const first = await keyed(engine, "k");
    const second = await keyed(engine, "k");
    if (first.kind !== "accepted") throw new Error(first.kind);
    const { commandId, state } = first.command;
    expect(second).toMatchObject({ kind: "repeated", answer: { told: "accepted", commandId, state } });
    expect((await status(engine)).counters.accepted).toBe(2);
  });

  test("with another body is a mistake", async () => {
    const engine = await deployed();
    await keyed(engine, "k");
    expect(problemOf(await keyed(engine, "k", "other"))?.code).toBe("idempotency_conflict");
  });

  test("is its tenant's own: another one's is another key", async () => {
    const engine = await deployed();
    await keyed(engine, "k");
    expect((await keyed(engine, "k", "other", { tenant: "tenant:u" })).kind).toBe("accepted");
  });

  test("is looked up before any limit: a full queue refuses others, and not a repeat", async () => {
    const engine = await deployed(1);
    await engine.pause(true);
    const first = await keyed(engine, "k");
    expect(first.kind).toBe("accepted");
    expect(problemOf(await keyed(engine, "other"))?.code).toBe("queue_full");
    expect((await keyed(engine, "k")).kind).toBe("repeated");
  });

  test("of a refused command is free: a refusal saves nothing", async () => {
    const engine = await deployed(1);
    await engine.pause(true);
    await keyed(engine, "first");
    expect(problemOf(await keyed(engine, "k"))?.code).toBe("queue_full");
    await engine.resume();
    expect((await keyed(engine, "k", "another body")).kind).toBe("accepted");
  });

  test("is known after a restart, for a day, and then cleared", async () => {
    const engine = await deployed();
    const first = await keyed(engine, "k");
    await evictDurableObject(engine);
    vi.setSystemTime(T0 + 24 * HOUR_MS - 1);
    const later = again(engine);
    const second = await keyed(later, "k");
    expect([first.kind, second.kind]).toEqual(["accepted", "repeated"]);
    vi.setSystemTime(T0 + 24 * HOUR_MS);
    await runDurableObjectAlarm(later);
    const left = await runInDurableObject(later, (_object, { storage }) =>
      storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM idempotency_keys").one(),
    );
    expect(left.n).toBe(0);
    expect((await keyed(later, "k", "another body")).kind).toBe("accepted");
  });
});

describe("a key whose first request is held open", () => {
  test("is in flight until that one is answered; then a repeat is told the same, word for word", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const first = await keyed(engine, "k", "f", { waitMs: 30_000 });
    if (first.kind !== "accepted") throw new Error(first.kind);
    const { commandId } = first.command;
    const held = calls(engine).firstAnswer("tenant:t", commandId, 30_000, "held", "k");
    await settled();
    expect(problemOf(await keyed(engine, "k", "f", { waitMs: 30_000 }))).toMatchObject({
      code: "idempotency_in_flight",
      retryAfterSeconds: expect.any(Number),
    });
    expect(problemOf(await keyed(engine, "k", "other"))?.code).toBe("idempotency_conflict");
    await engine.resume();
    const command = await held;
    expect(command?.state).toBe("succeeded");
    expect(await keyed(engine, "k")).toMatchObject({ kind: "repeated", answer: { told: "ended", command } });
  });

  test("is told the acceptance when its first caller hung up, or the object restarted", async () => {
    const engine = await deployed();
    await engine.pause(true);
    const first = await keyed(engine, "hung-up", "f", { waitMs: 30_000 });
    if (first.kind !== "accepted") throw new Error(first.kind);
    const held = calls(engine).firstAnswer("tenant:t", first.command.commandId, 30_000, "held", "hung-up");
    await settled();
    await engine.abandon("held");
    await held;
    expect(await keyed(engine, "hung-up")).toMatchObject({ kind: "repeated", answer: { told: "accepted" } });

    await keyed(engine, "crashed", "f", { waitMs: 30_000 });
    await evictDurableObject(engine);
    expect(await keyed(again(engine), "crashed")).toMatchObject({ kind: "repeated", answer: { told: "accepted" } });
  });

  test("and never asks again is in flight no longer than it would have waited", async () => {
    const engine = await deployed();
    await engine.pause(true);
    await keyed(engine, "k", "f", { waitMs: 30_000 });
    const refused = problemOf(await keyed(engine, "k"));
    expect(refused).toMatchObject({ code: "idempotency_in_flight", retryAfterSeconds: 5 });
    vi.setSystemTime(T0 + 32_000);
    expect((await keyed(engine, "k")).kind).toBe("repeated");
  });

  test("while it waits for room is in flight, and free when it gets none", async () => {
    const engine = await deployed(1, 5_000);
    await engine.pause(true);
    await keyed(engine, "first");
    const waiting = keyed(engine, "k");
    await settled();
    const token = lastToken();
    expect(problemOf(await keyed(engine, "k"))?.code).toBe("idempotency_in_flight");
    await engine.abandon(token);
    expect(problemOf(await waiting)?.code).toBe("queue_full");
    await engine.changeFlow({ bound: 2 });
    expect((await keyed(engine, "k")).kind).toBe("accepted");
  });
});
