import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { EngineParts } from "../../src/durable/engine-parts.ts";
import { Writer } from "../../src/durable/writer.ts";
import { newEngine } from "./support.ts";

test("a critical command does not wait for the engine's rate, and what it took is missing to the others", async () => {
  await runInDurableObject(newEngine(), async (_object, state) => {
    const nowMs = Date.now();
    const parts = new EngineParts(state, { ...env, ENGINE_RATE_MAX: "4" }, nowMs);
    const writer = new Writer(parts, { expire: () => undefined, madeRoom: () => undefined });
    const accept = (critical: boolean) => {
      const command = { tenant: "tenant:t", bytes: 2, weight: 1, critical, acceptedAtMs: nowMs, deadlineAtMs: null };
      const intent = critical ? "JOB:COMPLETE" : "JOB:ACTIVATE";
      const payload = critical ? '{"jobKey":"1000000000000001"}' : '{"type":"t"}';
      const write = () => {
        const sequence = parts.keys.next();
        parts.ledger.accept({ ...command, sequence, intent, payload, headers: {} });
        return sequence;
      };
      expect(typeof parts.queue.offer(command, write, nowMs, 100)).toBe("object");
      writer.start();
      parts.store.flush();
    };
    // One is run at once; of the others there is one in a quarter of a second.
    for (let n = 0; n < 5; n++) accept(false);
    expect(parts.queue.depth).toBe(4);
    accept(true);
    accept(true);
    expect([parts.queue.depth, parts.queue.criticalDepth]).toEqual([4, 0]);
    expect(writer.wakeInMs(nowMs)).not.toBeNull();
  });
});
