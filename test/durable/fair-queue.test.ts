import { evictDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import type { Submitted } from "../../src/durable/submission.ts";
import { settled } from "../support/event-loop.ts";
import { accepted, DEPLOY, type Engine, newEngine, read, status, submit } from "./support.ts";

// Fair share through the object: a paused engine, so that what waits stays where it is, and two or three tenants.

async function paused(bound: number, enqueueWaitMs = 0): Promise<Engine> {
  const engine = newEngine();
  await engine.changeFlow({ bound, enqueueWaitMs, algorithm: "none" });
  await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY, "a");
  await engine.pause(true);
  return engine;
}

function create(engine: Engine, tenant: string, weight = 1, processId = "nowhere"): Promise<Submitted> {
  return submit(engine, "PROCESS_INSTANCE:CREATE", { processId }, tenant, weight);
}

/** Submits for each in turn; gives the ids of those that were taken, by tenant. */
async function queued(engine: Engine, tenants: readonly (readonly [string, number])[]) {
  const ids: { readonly tenant: string; readonly id: string }[] = [];
  for (const [tenant, weight] of tenants) {
    const submitted = await create(engine, tenant, weight);
    if (submitted.kind === "accepted") ids.push({ tenant, id: submitted.command.commandId });
  }
  return ids;
}

/** The tenants in the order in which their commands will run, as the object tells their places. */
async function order(engine: Engine, ids: readonly { tenant: string; id: string }[]): Promise<string> {
  const places = await Promise.all(
    ids.map(async ({ tenant, id }) => ({ tenant, ahead: (await read(engine, id, tenant))?.queuedAhead })),
  );
  return places
    .sort((one, other) => (one.ahead ?? -1) - (other.ahead ?? -1))
    .map(({ tenant }) => tenant)
    .join("");
}

const times = (n: number, tenant: string, weight = 1) => Array.from({ length: n }, () => [tenant, weight] as const);

describe("two tenants on one engine", () => {
  test("take turns by weight, and after a restart the same turns", async () => {
    const engine = await paused(100);
    const ids = await queued(engine, [...times(4, "a"), ...times(4, "b", 2)]);
    expect(await order(engine, ids)).toBe("abbabbaa");
    await evictDurableObject(engine);
    expect(await order(engine, ids)).toBe("abbabbaa");
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
  });

  test("run in the order that they were told", async () => {
    const engine = await paused(100);
    const ids: { tenant: string; id: string }[] = [];
    for (const tenant of ["a", "a", "a", "b", "b"]) {
      const submitted = await create(engine, tenant, 1, "order");
      if (submitted.kind === "accepted") ids.push({ tenant, id: submitted.command.commandId });
    }
    // A process belongs to its tenant. The deployment is critical, so it goes first.
    await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY, "b");
    expect(await order(engine, ids)).toBe("ababa");
    await engine.resume();
    await vi.waitFor(async () => expect(await status(engine)).toMatchObject({ inFlight: 0 }));
    // Instances get their keys in the order in which they are made.
    const made = await Promise.all(
      ids.map(async ({ tenant, id }) => ({
        tenant,
        key: String(JSON.parse((await read(engine, id, tenant))?.result ?? "{}").processInstanceKey),
      })),
    );
    expect(
      made
        .sort((one, other) => one.key.localeCompare(other.key))
        .map(({ tenant }) => tenant)
        .join(""),
    ).toBe("ababa");
  });

  test("one that filled the queue alone gets nothing more once the other wants some, and loses nothing", async () => {
    const engine = await paused(10);
    const flood = await queued(engine, times(12, "a"));
    expect(flood).toHaveLength(10);
    expect(await create(engine, "b")).toMatchObject({
      kind: "refused",
      overShare: false,
      health: { limit: "queue_full", room: 0 },
    });
    const first = flood[0]?.id ?? "";
    expect(await engine.cancel("a", first)).toBe("cancelled");
    expect(await create(engine, "a")).toMatchObject({
      kind: "refused",
      problem: { code: "queue_full", detail: expect.stringContaining("share") },
      // The others are not told that it is full: for them it is not.
      overShare: true,
      health: { limit: "queue_full", room: 1 },
    });
    expect(await create(engine, "b")).toMatchObject({ kind: "accepted", command: { queuedAhead: 1 } });
    expect(await status(engine)).toMatchObject({ depth: 10, peakDepth: 10 });
  });

  test("who waits for room gets it past those who are over their share, however many came before", async () => {
    const engine = await paused(4, 60_000);
    const flood = await queued(engine, times(4, "a"));
    const inLine = Array.from({ length: 5 }, () => create(engine, "a"));
    await settled();
    const other = create(engine, "b");
    await settled();
    await engine.cancel("a", flood[1]?.id ?? "");
    expect(await other).toMatchObject({ kind: "accepted" });
    // They do not stand in line for what is not theirs: the edge has to hear that there is room for others.
    for (const answer of inLine) {
      const share = { code: "queue_full", detail: expect.stringContaining("share") };
      expect(await answer).toMatchObject({ kind: "refused", overShare: true, problem: share });
    }
  });
});
