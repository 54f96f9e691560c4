import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/core/policy.ts";
import { changeInWords, changeOf, formOf } from "../../src/web/dashboard/flow-change.ts";
import { formOfPolicy, numberOf, policyInWords, policyOf } from "../../src/web/dashboard/policy-form.ts";
import type { FlowControl } from "../../src/web/dashboard/shapes.ts";

const FLOW: FlowControl = {
  bound: 10_000,
  boundBytes: 33_554_432,
  enqueueWaitMs: 5000,
  algorithm: "vegas",
  windowed: false,
  parameters: { initialLimit: 20, maxLimit: 1000, alpha: { times: 3, of: "log10" }, probeMultiplier: 30 },
  writeRate: null,
  limit: 20,
  inFlight: 0,
};

describe("a change of flow control", () => {
  test("is nothing while nothing was typed", () => {
    expect(changeOf(FLOW, formOf(FLOW))).toEqual({});
    const limited = { ...FLOW, writeRate: { perSecond: 5, burst: 10, warmUpSeconds: 0 } };
    expect(changeOf(limited, formOf(limited))).toEqual({});
  });

  test("sends what differs and nothing else", () => {
    const form = { ...formOf(FLOW), bound: "100", windowed: true };
    expect(changeOf(FLOW, form)).toEqual({ bound: 100, windowed: true });
    expect(changeInWords(FLOW, changeOf(FLOW, form))).toEqual(["bound: 10000 → 100", "windowed: false → true"]);
  });

  test("sends single parameters, whatever their shape", () => {
    const form = formOf(FLOW);
    const parameters = {
      ...form.parameters,
      maxLimit: "500",
      alpha: '{"times": 2, "of": "sqrt"}',
      probeMultiplier: "null",
    };
    expect(changeOf(FLOW, { ...form, parameters })).toEqual({
      parameters: { maxLimit: 500, alpha: { times: 2, of: "sqrt" }, probeMultiplier: null },
    });
  });

  test("takes no parameters of the old algorithm to a new one", () => {
    const form = formOf(FLOW);
    const parameters = { ...form.parameters, maxLimit: "500" };
    expect(changeOf(FLOW, { ...form, parameters, algorithm: "aimd" })).toEqual({ algorithm: "aimd" });
  });

  test("turns the write limit on and off", () => {
    const on = { ...formOf(FLOW), isWriteLimited: true, perSecond: "5", burst: "10" };
    expect(changeOf(FLOW, on)).toEqual({ writeRate: { perSecond: 5, burst: 10, warmUpSeconds: 0 } });
    const limited = { ...FLOW, writeRate: { perSecond: 5, burst: 10, warmUpSeconds: 0 } };
    expect(changeOf(limited, { ...formOf(limited), isWriteLimited: false })).toEqual({ writeRate: null });
  });

  test("hands on what is no number as it was typed, for the route to say what it wanted", () => {
    expect(changeOf(FLOW, { ...formOf(FLOW), bound: "many" })).toEqual({ bound: "many" });
    expect(changeOf(FLOW, { ...formOf(FLOW), bound: "" })).toEqual({ bound: "" });
    expect(changeOf(FLOW, { ...formOf(FLOW), bound: "20 000" })).toEqual({ bound: 20_000 });
  });
});

const POLICIES: [Policy, string][] = [
  [
    { type: "token-bucket", name: "requests", scope: "tenant", rate: { tokens: 100, perSeconds: 1 }, burst: 200 },
    "100/s, burst 200",
  ],
  [
    { type: "token-bucket", name: "slow", scope: "key", rate: { tokens: 1, perSeconds: 90 }, burst: 5 },
    "1 in 1 min 30 s, burst 5 for each key that is named",
  ],
  [
    { type: "sliding-window", name: "hour", scope: "ip", limit: 5_000, windowSeconds: 3600 },
    "5,000 in 1 h, sliding for each address",
  ],
  [
    { type: "fixed-window", name: "day", scope: "credential", limit: 0, windowSeconds: 86_400 },
    "0 in 1 d, fixed for each credential",
  ],
];

describe("a limit", () => {
  test.each(POLICIES)("is said in words: %j", (policy, words) => expect(policyInWords(policy)).toBe(words));

  test.each(POLICIES)("comes out of its form as it went in: %j", (policy) => {
    expect(policyOf(formOfPolicy(policy))).toEqual(policy);
  });

  test("hands on what is no number as it was typed", () => {
    expect(numberOf("1 000")).toBe(1000);
    expect(numberOf("0.5")).toBe(0.5);
    expect(numberOf("")).toBe("");
    expect(numberOf("ten")).toBe("ten");
  });
});
