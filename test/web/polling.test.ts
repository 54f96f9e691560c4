import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FAILING_EVERY_MS_MAX, HIDDEN_EVERY_MS, nextPollMs, startPolling } from "../../src/web/shared/polling.ts";

describe("when to ask next", () => {
  test.each([
    ["all is well", 1000, 0, false, 1000],
    ["one answer is missed", 1000, 1, false, 2000],
    ["three are missed", 1000, 3, false, 8000],
    ["many are missed", 1000, 30, false, FAILING_EVERY_MS_MAX],
    ["many are missed of what is asked rarely", 60_000, 30, false, 60_000],
    ["nobody looks", 1000, 0, true, HIDDEN_EVERY_MS],
    ["nobody looks and nothing answers", 60_000, 2, true, 60_000],
  ])("while %s", (_label, everyMs, failures, hidden, next) => {
    expect(nextPollMs(everyMs, failures, hidden)).toBe(next);
  });
});

describe("asking again and again", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** What answers when it is told to. */
  function slow() {
    const waiting: ((ok: boolean) => void)[] = [];
    const ask = vi.fn(() => new Promise<boolean>((resolve) => waiting.push(resolve)));
    const answer = async (ok = true) => {
      waiting.shift()?.(ok);
      await vi.advanceTimersByTimeAsync(0);
    };
    return { ask, answer };
  }

  test("asks at once, and then that long after each answer", async () => {
    const ask = vi.fn(async () => true);
    const polling = startPolling(1000, ask, () => false);
    await vi.advanceTimersByTimeAsync(3_500);
    expect(ask).toHaveBeenCalledTimes(4);
    polling.stop();
  });

  test("never asks two questions at a time", async () => {
    const { ask, answer } = slow();
    const polling = startPolling(1000, ask, () => false);
    await vi.advanceTimersByTimeAsync(60_000);
    polling.now();
    expect(ask).toHaveBeenCalledTimes(1);
    await answer();
    expect(ask).toHaveBeenCalledTimes(2);
    polling.stop();
  });

  test("asks once more after a change, when an answer from before it is still on its way", async () => {
    const { ask, answer } = slow();
    const polling = startPolling(30_000, ask, () => false);
    polling.now();
    polling.now();
    await answer();
    await answer();
    expect(ask).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(ask).toHaveBeenCalledTimes(3);
    polling.stop();
  });

  test("asks ever more rarely while nothing answers, and at its pace again after one answer", async () => {
    const answers = [false, false, false, true, true];
    const at: number[] = [];
    const begun = Date.now();
    const polling = startPolling(
      1000,
      async () => {
        at.push(Date.now() - begun);
        return answers.shift() ?? true;
      },
      () => false,
    );
    await vi.advanceTimersByTimeAsync(16_000);
    expect(at.slice(0, 6)).toEqual([0, 2_000, 6_000, 14_000, 15_000, 16_000]);
    polling.stop();
  });

  test("asks nothing more once it was stopped, also when an answer comes later", async () => {
    const { ask, answer } = slow();
    const polling = startPolling(1000, ask, () => false);
    polling.stop();
    await answer();
    polling.now();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
