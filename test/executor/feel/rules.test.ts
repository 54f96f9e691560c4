import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, parseJson } from "../../../src/core/json.ts";
import { conditionOf, evaluate } from "../../../src/executor/embedded/feel/feel.ts";

// What FEEL's operators and functions come to. The values marked TCK are those that the DMN Technology Compatibility Kit
// (github.com/dmn-tck/tck, TestCases/compliance-level-3, by the folder that is named) expects.

function resultOf(feel: string, variables: JsonObject = {}): Json | undefined {
  const evaluated = evaluate(feel, variables);
  return evaluated.ok ? evaluated.value : `fault: ${evaluated.message}`;
}

function json(text: string): JsonObject {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("no object");
  return value as JsonObject;
}

describe("comparing unlike types is null", () => {
  const UNLIKE = [
    ["1", '"1"'],
    ["1", "true"],
    ['"a"', "false"],
    ["1", "[1]"],
    ['"a"', '["a"]'],
    ["1", "{}"],
    ["[]", "{}"],
    ["1", 'duration("P1D")'],
    ['"2024-01-01"', 'date("2024-01-01")'],
    ['date("2024-01-01")', 'date and time("2024-01-01T00:00:00")'],
    ['duration("P1Y")', 'duration("P365D")'],
  ] as const;
  const OPERATORS = ["=", "!=", "<", "<=", ">", ">="] as const;

  test.each(UNLIKE)("%s and %s, by every operator and either way round", (a, b) => {
    for (const operator of OPERATORS) {
      expect([operator, resultOf(`(${a}) ${operator} (${b})`), resultOf(`(${b}) ${operator} (${a})`)]).toEqual([
        operator,
        null,
        null,
      ]);
    }
    expect(resultOf(`(${a}) between (${b}) and (${b})`)).toBeNull();
    expect(resultOf(`(${a}) between (${a}) and (${b})`)).toBeNull();
    expect(resultOf(`(${a}) in [(${b})..(${b})]`)).toBeNull();
    expect(resultOf(`(${a}) in (> (${b}))`)).toBeNull();
    expect(resultOf(`(${a}) in (= (${b}))`)).toBeNull();
  });

  test.each(["true", "[1]", "{a: 1}"])("%s has no order, even with itself", (value) => {
    for (const operator of ["<", "<=", ">", ">="]) expect(resultOf(`${value} ${operator} ${value}`)).toBeNull();
    expect(resultOf(`${value} = ${value}`)).toBe(true);
  });

  test.each<[string, JsonObject, string]>([
    ["x > 5", { x: "10" }, "a string cannot be compared with a number"],
    ["x > 0", { x: [1] }, "a list cannot be compared with a number"],
    ["x in [1..5]", { x: "3" }, "a string cannot be compared with a number"],
    ["x between 1 and 5", { x: "3" }, "a string cannot be compared with a number"],
    ["x in (1, 2, 3)", { x: "3" }, "a string cannot be compared with a number"],
    ["x < true", { x: true }, "a boolean cannot be compared with a boolean"],
  ])("as a condition %s with %o is a fault that says why", (feel, variables, why) => {
    expect(conditionOf(feel, variables)).toEqual({
      ok: false,
      message: `"${feel}" is null, not true or false: ${why}`,
    });
  });
});

describe("numbers are decimals of 34 digits", () => {
  test("0.1 and 0.2 are 0.3", () => {
    expect(conditionOf("a + b = 0.3", { a: 0.1, b: 0.2 })).toEqual({ ok: true, value: true });
  });

  test.each<[string, Json]>([
    ["0.1 + 0.2", 0.3],
    ["0.3 - 0.1", 0.2],
    ["1.1 * 1.1", 1.21],
    ["1 / 3 * 3 = 0.9999999999999999999999999999999999", true],
    ["string(1 / 3)", "0.3333333333333333333333333333333333"],
    ["string(2 / 3)", "0.6666666666666666666666666666666667"],
    ["string(2 ** 0.5)", "1.414213562373095048801688724209698"],
    ["string(2 ** 100)", "1267650600228229401496703205376"],
    ["9007199254740993 > 9007199254740992", true],
    ["9007199254740993 - 9007199254740992", 1],
    ["string(9007199254740991 + 2)", "9007199254740993"],
    ["sum([0.1, 0.2]) = 0.3", true],
    ["sum(0.1, 0.2, 0.3)", 0.6],
    ["mean([0.1, 0.2])", 0.15],
    ["product([1.1, 1.1])", 1.21],
    ["median([0.1, 0.2])", 0.15],
    ["max([0.1, 0.3, 0.2])", 0.3],
    ["min([0.1, 0.3, 0.2])", 0.1],
    ["mode([0.1, 0.10, 0.3])", [0.1]],
    ["stddev([2, 4, 7, 5]) = 2.081665999466132735282297706979931", true],
    ["modulo(0.3, 0.1)", 0],
    ["modulo(-12, 5)", 3],
    ["modulo(12, -5)", -3],
    ["modulo(10.1, 4.5)", 1.1],
    ["modulo(5, 0)", null],
    ["decimal(1/3, 2)", 0.33],
    ["decimal(2.5, 0)", 2],
    ["decimal(1.5, 0)", 2],
    ["decimal(1115, -1)", 1120],
    ["floor(-1.5)", -2],
    ["floor(-1.56, 1)", -1.6],
    ["ceiling(-1.5)", -1],
    ["ceiling(1.51, 1)", 1.6],
    ["round up(5.5, 0)", 6],
    ["round up(-5.5, 0)", -6],
    ["round up(1.121, 2)", 1.13],
    ["round down(-5.5, 0)", -5],
    ["round down(1.129, 2)", 1.12],
    ["round half up(5.5, 0)", 6],
    ["round half up(-5.5, 0)", -6],
    ["round half up(1.005, 2)", 1.01],
    ["round half down(5.5, 0)", 5],
    ["round half down(-5.5, 0)", -5],
    ["round half down(1.126, 2)", 1.13],
    ["abs(-0.1)", 0.1],
    ["odd(-5)", true],
    ["even(2)", true],
    ["sqrt(0.01)", 0.1],
    ["sqrt(-1)", null],
    ["log(0)", null],
    ['number("0.1") + number("0.2")', 0.3],
    ['number("1 000,5", " ", ",")', 1000.5],
    ['number("1.000.000", ".", ",")', 1000000],
    ['number("12,3")', null],
    ['number("0x10")', null],
    ["string(0.1 + 0.2)", "0.3"],
    ['"a" + string(1.10)', "a1.1"],
    ["-0 = 0", true],
    ["0 - 0", 0],
    ["1 / 0", null],
    ["(-8) ** 0.5", null],
    ["10 ** 7000", null],
    ['duration("P1D") * 2', "P2D"],
    ['duration("P2D") / 2', "P1D"],
    ['duration("P1Y") / duration("P1M")', 12],
  ])("%s", (feel, value) => {
    expect(resultOf(feel)).toEqual(value);
  });

  test("a variable that a double cannot hold is the number that its text says", () => {
    const variables = json(
      '{"big": 9007199254740993, "small": 0.12345678901234567890123456789, "list": [1.10, 1e-400]}',
    );
    expect(resultOf("big = 9007199254740993", variables)).toBe(true);
    expect(resultOf("big > 9007199254740992", variables)).toBe(true);
    expect(JSON.stringify(resultOf("big + 1", variables))).toBe("9007199254740994");
    expect(JSON.stringify(resultOf("small * 10", variables))).toBe("1.2345678901234567890123456789");
    expect(JSON.stringify(resultOf("{id: big, l: list}", variables))).toBe('{"id":9007199254740993,"l":[1.10,1e-400]}');
    expect(resultOf("list[2] > 0", variables)).toBe(true);
  });

  test("a number of more digits is never rounded in silence", () => {
    const variables = json('{"long": 1.2345678901234567890123456789012345678, "far": 1e7000}');
    expect(JSON.stringify(resultOf("long", variables))).toBe("1.2345678901234567890123456789012345678");
    expect(resultOf("long + 0", variables)).toContain(
      "1.2345678901234567890123456789012345678, which decimal128 cannot hold",
    );
    expect(resultOf("far > 1", variables)).toContain("1e7000, which decimal128 cannot hold");
    expect(conditionOf("long = long", variables).ok).toBe(false);
  });
});

describe("equality, order, ranges and membership, as the TCK has them", () => {
  test.each<[string, string, Json]>([
    ["0068", "null = null", true],
    ["0068", "null != null", false],
    ["0068", "true = null", false],
    ["0068", "false = 0", null],
    ["0068", "true = 1", null],
    ["0068", "0 = 0.00", true],
    ["0068", "-0 = 0", true],
    ["0068", "100 = null", false],
    ["0068", '100 = "100"', null],
    ["0068", '"foo" = "Foo"', false],
    ["0068", '"foo" = 100', null],
    ["0068", "[1,1,1] = [1,1,1,1]", false],
    ["0068", "[1,2,3] = [3,2,1]", false],
    ["0068", "true[1] = true", true],
    ["0068", "100[1] = 100", true],
    ["0068", "[] = null", false],
    ["0068", "{} = null", false],
    ["0068", '{"foo": 1} = {foo: 1}', true],
    ["0068", "{foo: 1, bar: 2} = {bar: 2, foo: 1}", true],
    ["0068", "{foo: 1} = {foo: 2}", false],
    ["0068", "{} = []", null],
    ["0071", "1 between 1 and 10", true],
    ["0071", "11 between 1 and 10", false],
    ["0071", '"c" between "b" and "d"', true],
    ["0071", "null between 1 and 10", null],
    ["0071", "2 between null and 10", null],
    ["0071", "2 between 1 and null", null],
    ["0072", "1 in [2,3,1]", true],
    ["0072", "1 in [2,3,4]", false],
    ["0072", "1 in [[2..4], [1..3]]", true],
    ["0072", "5 in [[2..4], [1..3]]", false],
    ["0072", "10 in <= 10", true],
    ["0072", "10 in < 10", false],
    ["0072", "2 in (2..4)", false],
    ["0072", "4 in (2..4]", true],
    ["0072", "4 in [2..4)", false],
    ["0072", "1 in 1", true],
    ["0072", "10 in (1, < 5, >=10)", true],
    ["0072", "10 in (1, 5, 9)", false],
    ["0072", "1 in !=1", false],
    ["0072", '"b" in [["f".."h"], ["a".."c"]]', true],
  ])("TCK %s: %s", (_folder, feel, value) => {
    expect(resultOf(feel)).toEqual(value);
  });

  test.each<[string, Json]>([
    ["before(1, 10)", true],
    ["before([1..5), 5)", true],
    ["after([5..8], [1..5))", true],
    ["meets([1..5], [5..8])", true],
    ["met by([5..8], [1..5])", true],
    ["overlaps([1..5], [5..8])", true],
    ["overlaps([1..5), [5..8])", false],
    ["overlaps before([1..5], [3..8])", true],
    ["overlaps after([3..8], [1..5])", true],
    ["finishes(5, [1..5])", true],
    ["finished by([1..5], (2..5])", true],
    ["includes([1..5], (1..5))", true],
    ["during((1..5), [1..5])", true],
    ["starts(1, [1..5])", true],
    ["started by([1..5], [1..3])", true],
    ["coincides([1..5], [1..5])", true],
    ["coincides([1..5], [1..5))", false],
    ["true and null", null],
    ["false and null", false],
    ["true or null", true],
    ["some i in [1, null] satisfies i > 5", null],
    ["every i in [1, null] satisfies i > 0", null],
    ["for i in 3..1 return i", [3, 2, 1]],
    ["for i in 1..n return i * 2", [2, 4]],
    ["if null then 1 else 2", 2],
    ["[1, 2, 3, 4][item > 2]", [3, 4]],
    ["[1, 2, 3][-1]", 3],
    ["[{a: 1}, {a: 2}][a = 2].a", [2]],
    ["5 in (? > 3)", true],
    ['substring("foobar", 3, 2)', "ob"],
    ['substring("\\U01F40Eab", 2)', "ab"],
    ['string length("\\U01F40Eab")', 3],
    ['string join(["a", null, "b"], "-")', "a-b"],
    ['string([1.5, "a\\"b", {c d: null}])', '[1.5, "a\\"b", {"c d": null}]'],
    ['substring(string: "abc", start position: 2)', "bc"],
    ["list contains([1, 2.0], 2)", true],
    ["index of([1, 2, 1], 1)", [1, 3]],
    ['distinct values([1, 1.0, "1", null, null])', [1, "1", null]],
    ["union([1, 2], [2, 3])", [1, 2, 3]],
    ["insert before([1, 3], 2, 2)", [1, 2, 3]],
    ["remove([1, 2, 3], -1)", [1, 2]],
    ["sublist([1, 2, 3], 2)", [2, 3]],
    ["flatten([1, [2, [3]]])", [1, 2, 3]],
    ['context put({a: 1}, "b", 2)', { a: 1, b: 2 }],
    ['context put({a: {b: 1}}, ["a", "c"], 2)', { a: { b: 1, c: 2 } }],
    ["context merge([{a: 1}, {a: 2, b: 3}])", { a: 2, b: 3 }],
    ['get value({a: {b: 1}}, ["a", "b"])', 1],
    ["get entries({a: 1})", [{ key: "a", value: 1 }]],
    ['context([{key: "a", value: 1}])', { a: 1 }],
    ["is(1, 1.0)", true],
    ['is(1, "1")', false],
    ["all([true, null, false])", false],
    ["any([false, null])", null],
    ["[1] instance of list<number>", true],
    ["1 instance of string", false],
    ['date("2024-03-10").month', 3],
    ["date(2024, 2, 29)", "2024-02-29"],
    ['day of week(date("2024-03-10"))', "Sunday"],
    ['date("2024-03-10") < date("2024-03-11")', true],
    ['max([date("2024-03-10"), date("2024-03-11")])', "2024-03-11"],
    ['years and months duration(date("2024-01-01"), date("2025-03-01"))', "P1Y2M"],
    ['-duration("P1D")', "-P1D"],
    ['string(date("2024-03-10"))', "2024-03-10"],
  ])("%s", (feel, value) => {
    expect(resultOf(feel, { n: 2 })).toEqual(value);
  });
});
