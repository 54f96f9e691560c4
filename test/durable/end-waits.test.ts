import { describe, expect, test, vi } from "vitest";
import { EndWaits } from "../../src/durable/end-waits.ts";

describe("waits for the end of a command", () => {
  test("end with the command, all of them, and each once", async () => {
    const waits = new EndWaits();
    const held = Promise.all([waits.wait("a", 1, 60_000), waits.wait("b", 1, 60_000)]);
    waits.ended(1);
    waits.ended(1);
    await held;
  });

  test("end with their time", async () => {
    vi.useFakeTimers();
    const held = new EndWaits().wait("a", 1, 5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    await held;
    vi.useRealTimers();
  });

  test("of one tenant are bounded, and another still has its own", async () => {
    vi.useFakeTimers();
    const waits = new EndWaits();
    const held = Array.from({ length: 1_000 }, () => waits.wait("a", 1, 5_000));
    await waits.wait("a", 1, 5_000);
    let other = false;
    const others = waits.wait("b", 1, 5_000).then(() => {
      other = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(other).toBe(false);
    waits.ended(1);
    await Promise.all([...held, others]);
    await waits.wait("a", 2, 0);
    vi.useRealTimers();
  });
});
