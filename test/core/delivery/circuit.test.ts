import { describe, expect, test } from "vitest";
import {
  afterAnswer,
  afterFailure,
  afterHold,
  type Circuit,
  CLOSED,
  HOLD_MS_MAX,
  isWaiting,
  mayBegin,
  released,
} from "../../../src/core/delivery/circuit.ts";

const T0 = 1_700_000_000_000;
const OPTIONS = { failuresMax: 3, backoff: { baseMs: 1_000, maxMs: 60_000 } };

/** The circuit after so many attempts in a row that failed, each begun when it was let pass. */
function failed(times: number): Circuit {
  let circuit = CLOSED;
  for (let n = 0; n < times; n++) {
    const beganMs = Math.max(T0, circuit.notBeforeMs);
    circuit = afterFailure(circuit, beganMs, beganMs + 1, 0, OPTIONS);
  }
  return circuit;
}

describe("the circuit", () => {
  test("lets everything pass until so many failures in a row", () => {
    expect(mayBegin(failed(2), [T0, T0], T0 + 10)).toEqual({ verdict: "pass" });
    expect(mayBegin(failed(3), [], T0 + 10).verdict).toBe("wait");
  });

  test("an answer in between begins the count anew, also one that says no", () => {
    const circuit = afterFailure(afterAnswer(failed(2), T0, T0), T0, T0, 0, OPTIONS);
    expect(mayBegin(circuit, [T0], T0).verdict).toBe("pass");
  });

  test("waits from half of its time up to all of it, and twice as long after each probe that fails, up to the most", () => {
    const waits = (random: number) =>
      [3, 4, 5, 12].map((times) => {
        const before = failed(times - 1);
        const beganMs = Math.max(T0, before.notBeforeMs);
        return afterFailure(before, beganMs, beganMs, random, OPTIONS).notBeforeMs - beganMs;
      });
    expect(waits(0)).toEqual([500, 1_000, 2_000, 30_000]);
    expect(waits(0.999_999)).toEqual([1_000, 2_000, 4_000, 60_000]);
  });

  test("lets one probe pass, and the others when that one was answered", () => {
    const circuit = failed(3);
    const { notBeforeMs } = circuit;
    expect(mayBegin(circuit, [], notBeforeMs - 1)).toEqual({ verdict: "wait", untilMs: notBeforeMs });
    expect(mayBegin(circuit, [T0], notBeforeMs)).toEqual({ verdict: "pass" });
    expect(mayBegin(circuit, [notBeforeMs], notBeforeMs)).toEqual({ verdict: "wait", untilMs: null });
    expect(afterAnswer(circuit, notBeforeMs, notBeforeMs + 1)).toBe(CLOSED);
  });

  test("is not moved by what was under way when it opened", () => {
    const circuit = failed(3);
    const { notBeforeMs } = circuit;
    expect(afterFailure(circuit, T0, T0 + 100, 0, OPTIONS)).toBe(circuit);
    expect(isWaiting(afterAnswer(circuit, T0, T0 + 100), notBeforeMs - 1)).toBe(true);
  });

  test("a hold is obeyed to the millisecond, the longest of several that came together", () => {
    const first = afterHold(CLOSED, 7_000, T0, T0 + 10, 0, OPTIONS);
    const second = afterHold(first, 2_000, T0, T0 + 20, 0, OPTIONS);
    expect([first.notBeforeMs, second.notBeforeMs, second.holds]).toEqual([T0 + 7_010, T0 + 7_010, 1]);
  });

  test("a clock that steps back ends the wait, and what begins then counts again", () => {
    const circuit = afterHold(CLOSED, 7_000, T0, T0, 0, OPTIONS);
    const earlier = T0 - 2 * HOLD_MS_MAX;
    expect(mayBegin(circuit, [], earlier)).toEqual({ verdict: "pass" });
    expect(isWaiting(afterFailure(circuit, earlier, earlier, 0, OPTIONS), earlier + 1)).toBe(true);
    expect(afterAnswer(circuit, earlier, earlier + 1)).toBe(CLOSED);
  });

  test("an operator may end a wait: the next attempt is a probe", () => {
    const circuit = released(afterHold(CLOSED, 3_600_000, T0, T0, 0, OPTIONS), T0 + 1);
    expect(mayBegin(circuit, [T0], T0 + 1)).toEqual({ verdict: "pass" });
    expect(mayBegin(circuit, [T0 + 1], T0 + 1)).toEqual({ verdict: "wait", untilMs: null });
    expect(released(CLOSED, T0)).toBe(CLOSED);
  });
});
