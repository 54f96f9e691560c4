import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import {
  checkFeel,
  conditionOf,
  evaluate,
  FEEL_STEPS_MAX,
  valueFor,
} from "../../../src/executor/embedded/feel/feel.ts";
import { stepsSpent } from "../../../src/executor/embedded/spent.ts";

const ORDER: JsonObject = {
  order: {
    total: 120,
    lines: [
      { sku: "a", price: 100 },
      { sku: "b", price: 20 },
    ],
    "due-date": "2030-01-01",
  },
  status: "ok",
  none: null,
};
/** As it comes in a request: members with hostile names are members. */
const HOSTILE: JsonObject = JSON.parse(`{"__proto__": {"secret": 1}, "x": {"__proto__": {"y": 1}, "constructor": 2},
  "status = \\"ok\\"": true, "a": {"b - c": 1, "b-c": 1, "b": 5}, "c": 2, "b - c": 9}`);

describe("an expression has the value that FEEL gives it", () => {
  test.each<[string, Json]>([
    ["1 + 2 * 3", 7],
    ["order.total", 120],
    ['order.total > 100 and status = "ok"', true],
    ["order.total between 100 and 200", true],
    ["order.total in [100..200]", true],
    ['if none = null then "none" else "some"', "none"],
    ["order.lines[price > 50].sku", ["a"]],
    ["order.lines[1].sku", "a"],
    ["order.lines[-1].sku", "b"],
    ["for line in order.lines return line.price * 2", [200, 40]],
    ["some line in order.lines satisfies line.price > 50", true],
    ["every line in order.lines satisfies line.price > 50", false],
    ["sum(order.lines.price)", 120],
    ["count(order.lines)", 2],
    ["for i in 1..3 return i", [1, 2, 3]],
    ["order.`due-date`", "2030-01-01"],
    ['{a: 1, b: a + 1, "c d": [b]}', { a: 1, b: 2, "c d": [2] }],
    ['string join(["a", "b"], "-")', "a-b"],
    ['upper case("a") + string(1)', "A1"],
    ['duration("PT1H") + duration("PT30M")', "PT1H30M"],
    ['date("2024-02-28") + duration("P2D")', "2024-03-01"],
    ['date and time("2024-01-01T10:00:00Z") + duration("PT1S")', "2024-01-01T10:00:01Z"],
    ['@"P1Y2M"', "P1Y2M"],
    ["missing", null],
    ["missing.member", null],
    ["missing > 1", null],
    ['"a" + 1', null],
    ["1 / 0", null],
  ])("%s", (feel, value) => {
    expect(checkFeel(feel)).toBeNull();
    expect(evaluate(feel, ORDER)).toEqual({ ok: true, value });
  });

  test("a literal is its text", () => {
    expect(valueFor({ literal: "1 + 1" }, {})).toEqual({ ok: true, value: "1 + 1" });
    expect(valueFor({ feel: "1 + 1" }, {})).toEqual({ ok: true, value: 2 });
  });
});

describe("names of variables are data", () => {
  test.each<[string, string, Json]>([
    ["a name that is an expression hides nothing", 'status = "ok"', false],
    ["nor does a member's", "a.b - c", 3],
    ["nor one without spaces", "a.b-c", 3],
    ["backticks name it", "a.`b-c`", 1],
    ["a prototype is no variable", "constructor", null],
    ["nor a member", "c.constructor", null],
    ["a member that is called so is one", "x.constructor", 2],
    ["what a member called __proto__ has is not inherited", "x.y", null],
    ["such a variable is one", "__proto__.secret", 1],
    ["and is handed on", "x", HOSTILE.x ?? null],
  ])("%s", (_label, feel, value) => {
    expect(evaluate(feel, HOSTILE)).toEqual({ ok: true, value });
  });

  test("nothing is written to a prototype, or to the variables", () => {
    const before = JSON.stringify(HOSTILE);
    for (const feel of [
      'context put({}, ["__proto__", "polluted"], 1)',
      '{"__proto__": {polluted: 1}}',
      "context merge([x, a])",
    ]) {
      evaluate(feel, HOSTILE);
    }
    expect(JSON.stringify(HOSTILE)).toBe(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(evaluate("c.polluted", HOSTILE)).toEqual({ ok: true, value: null });
  });
});

describe("what is not an expression, or has no bound, is told when it is checked", () => {
  test.each<[string, string]>([
    ["", "it breaks off at its end"],
    ["x >", "it breaks off at its end"],
    ["1 2", 'it cannot be read at "2" (character 3)'],
    ["a".repeat(1_001), "longer than 1000 characters"],
    [`${"(".repeat(50)}1${")".repeat(50)}`, "nests deeper than 32"],
    ['matches(a, "(a+)+$")', 'the function "matches" is not supported: it has no bound on its time'],
    ["is defined(x)", 'there is no function "is defined"'],
    ['{m: matches}.m("a", "b")', 'there is no function "{m: matches}.m"'],
    ["function(x) x", "functions of one's own are not supported"],
    ["{f: function(x) f(x), r: f(1)}", "functions of one's own are not supported"],
    [
      "x + 1.2345678901234567890123456789012345678",
      "the number 1.2345678901234567890123456789012345678 has more than 34 digits",
    ],
    ["x instance of unicorn", 'the type "unicorn" is not supported'],
    ["for i in 1..9 return partial", '"partial" is not supported'],
  ])("%s", (feel, problem) => {
    expect(checkFeel(feel)).toBe(problem);
    expect(evaluate(feel, {})).toMatchObject({ ok: false });
  });
});

describe("a result is JSON, or a fault", () => {
  test("a range is none", () => {
    expect(evaluate("[1..3]", {})).toEqual({ ok: false, message: '"[1..3]" gives a range, which is not JSON' });
  });

  test("a built-in function is no value", () => {
    expect(evaluate("count", {})).toEqual({ ok: true, value: null });
  });

  test("a regular expression cannot be reached under another name", () => {
    expect(evaluate('{count: matches, r: count("aa")}.r', {})).toEqual({ ok: true, value: 1 });
    expect(evaluate("split", { split: 4 })).toEqual({ ok: true, value: 4 });
  });

  test("variables that nest too deeply make a fault, not an overflow", () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 20_000; i++) deep = { deep };
    expect(evaluate("deep", deep)).toMatchObject({ ok: false });
    expect(evaluate("deep = deep", deep)).toMatchObject({ ok: false });
  });
});

describe("work is bounded", () => {
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  test.each<[string, string]>([
    ["loops in loops", "for a in x return for b in x return a"],
    ["loops beside loops", "for a in x, b in x, c in x return 1"],
    ["a long range", "for i in 1..1000000000 return 1"],
    ["comparing each with each", "distinct values(for i in x return [i])"],
    ["doubling that is written out", "string({a: [x, x], b: [a, a], c: [b, b], d: [c, c], e: [d, d]})"],
    ["filters in filters", "x[count(x[item > 3]) > item]"],
  ])("%s is refused on large variables", (_label, feel) => {
    expect(checkFeel(feel)).toBeNull();
    const refused = evaluate(feel, { x: numbers });
    expect(refused).toMatchObject({ ok: false });
    expect(!refused.ok && refused.message).toMatch(/too many steps|more than 1048576 characters or members/);
  });

  test("a value in between is no larger than a variable may be", () => {
    const doubling = Array.from({ length: 7 }, (_, i) => `a${i + 1}: a${i} + a${i}`).join(", ");
    const made = evaluate(`string length({a0: x, ${doubling}}.a7)`, { x: "x".repeat(10_000) });
    expect(made).toEqual({
      ok: false,
      message: expect.stringContaining("a value of more than 1048576 characters or members"),
    });
  });

  test("a large list is looked at once without any trouble", () => {
    expect(evaluate("count(x)", { x: numbers })).toEqual({ ok: true, value: 20_000 });
    expect(evaluate("x = y", { x: numbers, y: numbers })).toEqual({ ok: true, value: true });
  });

  test("dates and times are weighed by what they take, in loops above all", () => {
    const inLoops = "(for i in x return for j in x return string(now())) = null";
    const many = evaluate(inLoops, { x: Array.from({ length: 200 }, (_, i) => i) });
    expect(many.ok ? "" : many.message).toContain("too many steps");
    expect(evaluate(inLoops, { x: [1, 2, 3] })).toEqual({ ok: true, value: false });
    expect(evaluate('date("2026-01-31") + duration("P1M")', {})).toEqual({ ok: true, value: "2026-02-28" });
  });

  test("what they take can be read off, so that others get their turn", () => {
    const before = stepsSpent();
    evaluate("sum(x)", { x: numbers });
    expect(stepsSpent() - before).toBeGreaterThan(numbers.length);
  });

  test("all expressions of a command share one budget", () => {
    const budget = { steps: FEEL_STEPS_MAX / 5 };
    let count = 0;
    while (evaluate("count(x)", { x: numbers }, budget).ok) count++;
    expect(count).toBeGreaterThan(100);
    expect(conditionOf("true", {}, budget)).toEqual({
      ok: false,
      message: "the expressions of this command take too many steps",
    });
  });
});

describe("a condition is true or false", () => {
  test.each<[string, boolean | string]>([
    ["order.total > 100", true],
    ["order.total > 200", false],
    ["missing > 1", `"missing > 1" is null, not true or false: Variable 'missing' not found`],
    ["order.total", '"order.total" is number, not true or false'],
    ["1 +", '"1 +" is not an expression: it breaks off at its end'],
  ])("%s", (feel, expected) => {
    const held = conditionOf(feel, ORDER);
    expect(held.ok ? held.value : held.message).toBe(expected);
  });
});
