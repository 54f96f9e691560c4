import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { evaluate } from "../../src/executor/embedded/feel/feel.ts";
import { FUNCTIONS } from "../../src/executor/embedded/feel/functions/index.ts";
import { STEP_NS, STEPS_MAX } from "../../src/executor/embedded/feel/meter.ts";
import { parseSteps } from "../../src/executor/embedded/feel/parse.ts";
import { stepsSpent } from "../../src/executor/embedded/spent.ts";

// What an expression takes is at most a constant times what it is charged, however its parts are put together. Measured
// in time of this thread on a processor, which others on the machine do not add to; the best of three, since what is not
// compiled yet and what collects garbage is not the expression's own.

/** Between compiled code on a quiet machine, where it is 2, and what caches and other threads take away. */
const RATIO_MAX = 10;
/** Below it a clock tick, a collection and a compilation are more than what is measured. */
const FLOOR_NS = 20_000_000;

const numbers = Array.from({ length: 5_000 }, (_, i) => i);
const VARIABLES: JsonObject = {
  n: 7,
  d: 0.1,
  t: "a".repeat(20_000),
  q: '"'.repeat(1_000),
  numbers,
  decimals: numbers.map((i) => i / 7),
  texts: numbers.map((i) => `text ${i}`),
  rows: numbers.slice(0, 1_000).map((i) => ({ a: i, b: `b${i}`, c: [i, { d: i / 3 }] })),
  tree: Array.from({ length: 6 }).reduce<Json>((inner) => [inner, inner, inner], [1]),
};

function measured(feel: string): { readonly steps: number; readonly ns: number; readonly message: string } {
  let ns = Number.POSITIVE_INFINITY;
  let steps = 0;
  let message = "";
  for (let turn = 0; turn < 3; turn++) {
    const before = stepsSpent();
    const start = process.threadCpuUsage();
    const evaluated = evaluate(feel, VARIABLES);
    const took = process.threadCpuUsage(start);
    steps = stepsSpent() - before;
    ns = Math.min(ns, (took.user + took.system) * 1_000);
    message = evaluated.ok ? "" : evaluated.message;
    if (ns <= Math.max(FLOOR_NS, steps * STEP_NS * RATIO_MAX)) break;
  }
  return { steps, ns, message };
}

function expectPaid(feel: string): void {
  const { steps, ns, message } = measured(feel);
  if (ns <= FLOOR_NS) return;
  expect({ feel, message, ratio: ns / (steps * STEP_NS) }).toMatchObject({
    ratio: expect.toSatisfy((r: number) => r <= RATIO_MAX),
  });
}

/** Every function, with as many arguments as it needs; loops, filters, paths and operators around one another. */
const { expression } = fc.letrec<{ expression: string; leaf: string; inner: string }>((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom(...Object.keys(VARIABLES), "i", "item", "missing"),
    fc.constantFrom(
      "1",
      "0.1",
      "-3",
      "1e6000",
      "1e-6000",
      '"a"',
      '"aaaab"',
      "null",
      "true",
      '"2024-01-01"',
      "[1..9]",
      "(> 3)",
    ),
    fc.constantFrom("1..5000", "1..1000000000").map((range) => `(for i in ${range} return i)`),
    fc.constantFrom('date("2024-01-01")', "now()", 'duration("P1D")', 'duration("P1Y")'),
  ),
  inner: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.array(tie("inner"), { minLength: 4, maxLength: 4 }))
      .map(([[name, { forms }], given]) => {
        const form = forms.at(-1);
        const count = form === undefined ? 1 : form.takesAny ? 2 : form.names.length;
        return `${name}(${given.slice(0, count).join(", ")})`;
      }),
    fc
      .tuple(tie("inner"), fc.constantFrom("+", "-", "*", "/", "**", "=", "!=", "<", ">="), tie("inner"))
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc.tuple(tie("inner"), tie("inner")).map(([list, body]) => `(for i in ${list} return ${body})`),
    fc.tuple(tie("inner"), tie("inner")).map(([list, body]) => `(some i in ${list} satisfies ${body} = i)`),
    fc.tuple(tie("inner"), tie("inner")).map(([list, by]) => `${list}[item > ${by}]`),
    fc.tuple(tie("inner"), tie("inner")).map(([a, b]) => `[${a}, ${b}, ${a}]`),
    fc.tuple(tie("inner"), tie("inner")).map(([a, b]) => `{a: ${a}, b: [a, a, ${b}], c: [b, b], d: [c, c]}`),
    fc.tuple(tie("inner"), tie("inner")).map(([a, b]) => `(if ${a} then ${b} else ${a})`),
    fc.tuple(tie("inner"), tie("inner"), tie("inner")).map(([a, b, c]) => `(${a} in (${b}, > ${c}))`),
    tie("inner").map((a) => `string([${a}])`),
    tie("inner").map((a) => `(${a}).a`),
  ),
  expression: tie("inner").filter((feel) => feel.length <= 900),
}));

describe("the time of an expression is within its charge", () => {
  test("for compositions of all that there is", () => {
    fc.assert(fc.property(expression, expectPaid), { numRuns: 100 });
  }, 120_000);

  test.each([2, 8, 14].map((levels) => [levels, `${"string([".repeat(levels)}q${"])".repeat(levels)}`] as const))(
    "for a text in texts, %i levels deep, each of which doubles the escapes",
    (_levels, feel) => {
      expectPaid(feel);
    },
  );

  test.each([
    "string({a: texts, b: [a, a], c: [b, b], d: [c, c], e: [d, d], f: [e, e], g: [f, f]})",
    "{a: texts, b: [a, a], c: [b, b], d: [c, c], e: [d, d], f: [e, e], g: [f, f]}",
    "for i in numbers return append(numbers, i)",
    'contains(t, "b" + substring(t, 1, 5000))',
    "distinct values(for i in numbers return [i])",
    "for i in numbers return exp(i)",
    "for i in numbers return modulo(1e6000, 7e-6000 + i)",
    'for i in numbers return now() < date and time("2024-01-01T10:00:00@Europe/Paris")',
  ])("for %s", expectPaid);

  test("an expression ends when it has taken what one may take", () => {
    const feel = "for a in numbers return for b in numbers return a + b";
    const before = stepsSpent();
    expect(evaluate(feel, VARIABLES)).toMatchObject({ ok: false, message: expect.stringContaining("too many steps") });
    expect(stepsSpent() - before - parseSteps(feel)).toBeLessThan(STEPS_MAX * 1.01);
  });

  test("a text in texts is refused before it is larger than a variable may be", () => {
    const feel = `${"string([".repeat(14)}q${"])".repeat(14)}`;
    expect(evaluate(feel, VARIABLES)).toMatchObject({
      ok: false,
      message: expect.stringContaining("more than 1048576 characters"),
    });
  });
});
