import { describe, expect, test } from "vitest";
import { LIMIT_DEFAULTS } from "../../../src/core/flow-control/limit.ts";
import {
  changeFlow,
  type FlowChange,
  type FlowSettings,
  flowConfigOf,
} from "../../../src/core/flow-control/settings.ts";

const BASE: FlowSettings = {
  bound: 100,
  boundBytes: 1_000_000,
  enqueueWaitMs: 0,
  algorithm: "aimd",
  windowed: false,
  parameters: { ...LIMIT_DEFAULTS.aimd },
  writeRate: null,
};

describe("a change of flow control", () => {
  test("merges parameters of the same algorithm", () => {
    const checked = changeFlow(BASE, { parameters: { maxLimit: 500 } });
    expect(checked).toMatchObject({ ok: true, settings: { parameters: { ...LIMIT_DEFAULTS.aimd, maxLimit: 500 } } });
  });

  test("of the algorithm starts from that one's defaults", () => {
    const checked = changeFlow(BASE, { algorithm: "gradient2", parameters: { longWindow: 100 } });
    expect(checked.ok && flowConfigOf(checked.settings).limit).toEqual({
      algorithm: "gradient2",
      windowed: false,
      params: { ...LIMIT_DEFAULTS.gradient2, longWindow: 100 },
    });
  });

  test("can take the limit away", () => {
    const checked = changeFlow(BASE, { algorithm: "none" });
    expect(checked.ok && flowConfigOf(checked.settings).limit).toBeNull();
  });

  test.each<[string, FlowChange, string]>([
    ["a parameter of another algorithm", { parameters: { alpha: 3 } }, "parameters.alpha"],
    ["a parameter that there is not", { parameters: { __proto__x: 3 } }, "parameters.__proto__x"],
    ["a ratio of one", { parameters: { backoffRatio: 1 } }, "parameters.backoffRatio"],
    ["a limit of zero", { parameters: { minLimit: 0 } }, "parameters.minLimit"],
    ["a limit as text", { parameters: { maxLimit: "9" } }, "parameters.maxLimit"],
    ["a start over the most", { parameters: { maxLimit: 100 } }, "parameters.initialLimit"],
    ["an unknown function", { algorithm: "vegas", parameters: { alpha: { times: 3, of: "ln" } } }, "parameters.alpha"],
    ["parameters without a limit", { algorithm: "none", parameters: { limit: 3 } }, "parameters.limit"],
  ])("with %s is refused whole, by name", (_label, change, path) => {
    const checked = changeFlow(BASE, change);
    expect(checked.ok ? [] : checked.faults.map((fault) => fault.path)).toContain(path);
  });
});
