import { describe, expect, test } from "vitest";
import { fullForMs, GATE_INTERVAL_MS, gate, heard } from "../../src/core/depth-gate.ts";

const T0 = 1_700_000_000_000;
const full = { refusing: "queue_full", retryAfterSeconds: 8, places: null, lastsMs: 60_000 } as const;

describe("the gate at the edge", () => {
  test("lets everything pass before it has heard anything: unknown is not full", () => {
    expect(gate(undefined, T0).verdict).toBe("pass");
  });

  test("refuses with the engine's own reason and time while it is full", () => {
    expect(gate(heard(full, T0), T0 + 500)).toEqual({ verdict: "refuse", code: "queue_full", health: full });
  });

  test("lets exactly one probe through per interval, however many ask", () => {
    let state = heard(full, T0);
    let passed = 0;
    for (let ms = 0; ms < 10 * GATE_INTERVAL_MS; ms++) {
      const verdict = gate(state, T0 + ms);
      if (verdict.verdict === "refuse") continue;
      passed += 1;
      if (verdict.next !== undefined) state = verdict.next;
    }
    expect(passed).toBe(9);
  });

  test("stays shut for requests that took their time before the answer was heard", () => {
    let state = heard(full, T0 + 100);
    let passed = 0;
    for (let n = 0; n < 1_000; n++) {
      const verdict = gate(state, T0 + (n % 200));
      if (verdict.verdict === "refuse") continue;
      passed += 1;
      if (verdict.next !== undefined) state = verdict.next;
    }
    expect(passed).toBe(0);
  });

  test("refuses no longer than the engine will be full: a fast one must not stand idle", () => {
    expect(fullForMs(200, 250)).toBe(80);
    expect(fullForMs(10_000, 1)).toBe(GATE_INTERVAL_MS);
    expect(fullForMs(10, 10_000)).toBe(20);
    const state = heard({ ...full, lastsMs: fullForMs(200, 250) }, T0);
    expect([gate(state, T0 + 79).verdict, gate(state, T0 + 80).verdict]).toEqual(["refuse", "pass"]);
  });

  test("opens with the first answer that says there is room", () => {
    const state = heard({ refusing: null, retryAfterSeconds: 1, places: null, lastsMs: 0 }, T0);
    expect(gate(state, T0 + 1).verdict).toBe("pass");
  });

  test("a clock that steps back does not keep it shut", () => {
    expect(gate(heard(full, T0), T0 - 5_000).verdict).toBe("pass");
  });
});
