import { describe, expect, test, vi } from "vitest";
import { EndWaits } from "../../src/durable/end-waits.ts";

/** A wait under a name of its own. */
let names = 0;
function wait(waits: EndWaits, tenant: string, sequence: number, waitMs: number): Promise<void> {
  names += 1;
  return waits.wait(tenant, sequence, waitMs, `wait-${names}`);
}

describe("waits for the end of a command", () => {
  test("end with the command, all of them, and each once", async () => {
    const waits = new EndWaits();
    const held = Promise.all([wait(waits, "a", 1, 60_000), wait(waits, "b", 1, 60_000)]);
    waits.ended(1);
    waits.ended(1);
    await held;
  });

  test("end with their time", async () => {
    vi.useFakeTimers();
    const held = wait(new EndWaits(), "a", 1, 5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    await held;
    vi.useRealTimers();
  });

  test("of one tenant are bounded, and another still has its own", async () => {
    vi.useFakeTimers();
    const waits = new EndWaits();
    const held = Array.from({ length: 1_000 }, () => wait(waits, "a", 1, 5_000));
    await wait(waits, "a", 1, 5_000);
    let other = false;
    const others = wait(waits, "b", 1, 5_000).then(() => {
      other = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(other).toBe(false);
    waits.ended(1);
    await Promise.all([...held, others]);
    await wait(waits, "a", 2, 0);
    vi.useRealTimers();
  });

  test("end when their caller has gone, and leave nothing behind", async () => {
    const waits = new EndWaits();
    const held = waits.wait("a", 1, 60_000, "gone");
    waits.leave("gone");
    await held;
    waits.leave("gone");
    waits.ended(1);
  });
});
