import { describe, expect, test } from "vitest";
import {
  type EngineHealth,
  GATE_INTERVAL_MS,
  GATE_PROBES_MAX,
  type GateState,
  gate,
  heard,
} from "../../src/core/depth-gate.ts";

const T0 = 1_700_000_000_000;
const full: EngineHealth = { refusing: "queue_full", overShare: false, retryAfterSeconds: 8 };
const open: EngineHealth = { refusing: null, overShare: false, retryAfterSeconds: 1 };
const overShare: EngineHealth = { refusing: null, overShare: true, retryAfterSeconds: 3 };

/** An isolate: asks the gate and keeps its state. */
function isolate(first: GateState | undefined) {
  let state = first;
  return {
    passes(tenant: string, nowMs: number): boolean {
      const verdict = gate(state, tenant, nowMs);
      if (verdict.verdict === "pass") state = verdict.next;
      return verdict.verdict === "pass";
    },
    hears(health: EngineHealth, tenant: string, nowMs: number): void {
      state = heard(state, health, tenant, nowMs);
    },
  };
}

describe("the gate at the edge", () => {
  test("lets everything pass before it has heard anything: unknown is not full", () => {
    expect(gate(undefined, "a", T0).verdict).toBe("pass");
  });

  test("refuses with the engine's own reason and time while it is full", () => {
    const refusal = { verdict: "refuse", code: "queue_full", overShare: false, retryAfterSeconds: 8 };
    expect(gate(heard(undefined, full, "a", T0), "a", T0 + 500)).toEqual(refusal);
  });

  test("lets exactly one probe of a tenant through per interval, however many ask", () => {
    const edge = isolate(heard(undefined, full, "a", T0));
    let passed = 0;
    for (let ms = 0; ms < 10 * GATE_INTERVAL_MS; ms++) if (edge.passes("a", T0 + ms)) passed += 1;
    expect(passed).toBe(9);
  });

  test("a tenant that floods does not use up the probe of another", () => {
    const edge = isolate(heard(undefined, full, "flood", T0));
    expect([edge.passes("flood", T0 + 1), edge.passes("b", T0 + 1), edge.passes("b", T0 + 2)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("so many tenants per interval may ask a full engine, and no more", () => {
    const edge = isolate(heard(undefined, full, "first", T0));
    const ask = (nowMs: number) =>
      Array.from({ length: 3 * GATE_PROBES_MAX }, (_, n) => edge.passes(`t${n}`, nowMs)).filter(Boolean).length;
    expect(ask(T0 + 1)).toBe(GATE_PROBES_MAX - 1);
    expect(ask(T0 + 1 + GATE_INTERVAL_MS)).toBe(GATE_PROBES_MAX);
  });

  test("opens with the first answer that says there is room, whoever hears it", () => {
    const edge = isolate(heard(undefined, full, "a", T0));
    edge.hears(open, "b", T0 + 10);
    expect([edge.passes("a", T0 + 11), edge.passes("c", T0 + 11)]).toEqual([true, true]);
  });

  test("a tenant over its share is refused for an interval, and nobody else is", () => {
    const edge = isolate(heard(undefined, overShare, "flood", T0));
    expect([edge.passes("flood", T0 + 999), edge.passes("b", T0 + 999)]).toEqual([false, true]);
    edge.hears(open, "b", T0 + 999);
    expect([edge.passes("flood", T0 + 999), edge.passes("flood", T0 + GATE_INTERVAL_MS)]).toEqual([false, true]);
    expect(gate(heard(undefined, overShare, "flood", T0), "flood", T0)).toEqual({
      verdict: "refuse",
      code: "queue_full",
      overShare: true,
      retryAfterSeconds: 3,
    });
  });

  test("a clock that steps back does not keep it shut", () => {
    expect(gate(heard(undefined, full, "a", T0), "a", T0 - 5_000).verdict).toBe("pass");
    expect(gate(heard(undefined, overShare, "a", T0), "a", T0 - 5_000).verdict).toBe("pass");
  });
});
