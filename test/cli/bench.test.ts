import { describe, expect, test } from "vitest";
import { AnswerReader } from "../bench/answer-reader.ts";
import { selfTimes } from "../bench/cpu-profile.ts";
import { allowedBy } from "../bench/limits-promised.ts";
import { markdownTable, type Results, rateTable, verdictTable, writeResults } from "../bench/results.ts";
import { figuresOfSide, type Round, ratioOf, type Sample, sidesOf, TABLES } from "../bench/tables.ts";
import { verdictsOf } from "../bench/verdicts.ts";

const sample = (side: string, perSecond: number): Sample => ({
  side,
  perSecond,
  p50: 1,
  p99: 2,
  serverBusy: 1,
  serverMicros: 1e6 / perSecond,
  loadBusy: 0.25,
  wrong: 0,
  answerBytes: 100,
});

/** Three rounds of a machine that slows down: the rates fall, the ratio does not. */
const ROUNDS: readonly Round[] = [1, 2, 4].map((slower) => [
  sample("hono", 8_000 / slower),
  sample("leased", 7_200 / slower),
]);

describe("what the rounds come to", () => {
  test("a rate is the median of its rounds, with the lowest and the highest", () => {
    expect(figuresOfSide(ROUNDS, "hono", "perSecond")).toEqual({ median: 4_000, min: 2_000, max: 8_000 });
  });

  test("a ratio is taken in each round by itself, so that a machine that slows down does not change it", () => {
    const ratio = ratioOf(ROUNDS, "leased", "hono");
    for (const figure of Object.values(ratio ?? {})) expect(figure).toBeCloseTo(0.9);
    expect(Object.keys(ratio ?? {})).toHaveLength(3);
  });

  test("a side that was not measured has neither", () => {
    expect(figuresOfSide(ROUNDS, "exact", "perSecond")).toBeNull();
    expect(ratioOf(ROUNDS, "exact", "hono")).toBeNull();
    expect(ratioOf(ROUNDS, "leased", "object")).toBeNull();
  });

  test("a side that stands in several tables is measured once, and so is what others are divided by", () => {
    const sides = sidesOf(TABLES);
    expect(new Set(sides).size).toBe(sides.length);
    const bases = TABLES.flatMap(({ rows }) => rows.flatMap(([, against]) => (against === null ? [] : [against])));
    expect(bases.filter((base) => !sides.includes(base))).toEqual([]);
  });
});

describe("a verdict", () => {
  const withRatio = (ratio: number): Round[] => [[sample("hono", 1_000), sample("leased", 1_000 * ratio)]];

  test.each([
    [0.85, true],
    [0.84, false],
    [1.2, true],
  ])("of a leased check at %d of a bare route is reached: %s", (ratio, reached) => {
    expect(verdictsOf(withRatio(ratio), null).map((one) => [one.side, one.reached])).toEqual([["leased", reached]]);
  });

  test.each([
    [2, true],
    [2.01, false],
  ])("of critical commands that take %d times as long is reached: %s", (median, reached) => {
    const [verdict] = verdictsOf([], { median, min: 1, max: 9 });
    expect(verdict).toMatchObject({ goal: "≤ 2", reached, side: "critical" });
  });

  test("is given on nothing that was not measured", () => {
    expect(verdictsOf([], null)).toEqual([]);
  });

  test("goes by the median, and says so that nobody overlooks it", () => {
    const rounds = [0.8, 0.84, 0.99].flatMap(withRatio);
    const text = verdictTable(verdictsOf(rounds, null));
    expect(text).toContain("0.84 (0.80–0.99) | **not reached**");
  });
});

describe("a table", () => {
  test("has columns as wide as what stands in them, and cells that cannot end one", () => {
    expect(markdownTable(["a", "long name"], [["x|y", "1"]])).toBe(
      ["| a    | long name |", "| ---- | --------- |", "| x\\|y | 1         |"].join("\n"),
    );
  });

  test("without rows is nothing", () => {
    expect(markdownTable(["a"], [])).toBe("");
  });

  test("of rates leaves out what was not measured", () => {
    const table = {
      section: "check",
      title: "",
      rows: [["hono", null] as const, ["leased", "hono"] as const],
    } as const;
    const text = rateTable({ ...table, rows: [...table.rows, ["exact", "hono"]] }, ROUNDS, (id) => `<${id}>`);
    expect(text.split("\n")).toHaveLength(4);
    expect(text).toContain("| <leased> | 3600 (1800–7200) | 0.90 (0.90–0.90) × <hono> | 0.90    | 278 |");
  });
});

describe("the results", () => {
  const results: Results = {
    machine: ["a machine"],
    versions: ["node 1"],
    seconds: 2,
    pinned: true,
    tables: TABLES.filter(({ title }) => title === "Check, one hot tenant"),
    rounds: ROUNDS,
    verdicts: verdictsOf(ROUNDS, null),
    admission: [],
    latency: [],
    critical: null,
    memory: [],
    cost: [],
    notes: "",
    profiles: [],
  };
  const headings = (given: Results) =>
    [...writeResults(given, String).matchAll(/^## (.*)$/gm)].map(([, title]) => title);

  test("leave out what was not measured", () => {
    expect(headings(results)).toEqual(["Must be reached", "How it was measured", "Check, one hot tenant"]);
  });

  test("tell how much memory grew after the middle, and how many were admitted too many", () => {
    const memory = [{ what: "checks", amount: "2", start: 100, middle: 200, end: 210 }];
    const row = { label: "one", isolates: 2, limit: "200 in 1 s", asked: 900, allowed: 400, admitted: 500 };
    const text = writeResults({ ...results, memory, admission: [row, { ...row, admitted: 400 }] }, String);
    expect(text).toMatch(/\| checks \| 2 +\| 100 +\| 200 +\| 210 +\| 1\.05 +\|/);
    expect(text).toMatch(/\| 500 +\| 100 \(25 %\) \|/);
    expect(text).toMatch(/\| 400 +\| none +\|/);
  });

  test("carry what people have written, and profiles as they are", () => {
    const text = writeResults({ ...results, notes: "Because of the disk.\n", profiles: ["f  10 %"] }, String);
    expect(text).toContain("\n\nBecause of the disk.\n\n");
    expect(text).toContain("```\nf  10 %\n```");
  });
});

describe("what a limit promises", () => {
  test("of a bucket is its burst and its rate for as long as it was asked", () => {
    expect(allowedBy({ kind: "bucket", burst: 200, perSecond: 100 }, 0, 2.5)).toBe(450);
  });

  test.each([
    ["that begins with a request: as many as fit, begun ones too", "hit", 9_900, 1.1, 400],
    ["that goes by the clock: each that is touched", "clock", 9_900, 0.2, 400],
    ["that goes by the clock: one, when it is not left", "clock", 9_000, 0.9, 200],
  ] as const)("of a window %s", (_label, begins, beganMs, seconds, allowed) => {
    expect(allowedBy({ kind: "window", begins, limit: 200, seconds: 1 }, beganMs, seconds)).toBe(allowed);
  });
});

describe("the end of an answer", () => {
  const answers: readonly (readonly [string, string, number])[] = [
    ["with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200],
    ["in chunks", "HTTP/1.1 503 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 503],
    ["in chunks, empty", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200],
    ["that has no body", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", 204],
  ];

  test.each(answers)("%s is found, wherever it was cut", (_label, text, status) => {
    for (let cut = 1; cut < text.length; cut++) {
      const reader = new AnswerReader();
      expect(reader.push(Buffer.from(text.slice(0, cut)))).toBeNull();
      const whole = reader.push(Buffer.from(text.slice(cut)));
      expect(whole).toMatchObject({ status });
      expect(String(whole?.bytes)).toBe(text);
    }
  });

  test("that says no length cannot be found", () => {
    expect(() => new AnswerReader().push(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toThrow("without a length");
  });
});

test("the time of a profile is told by function, each sample standing for the time before it", () => {
  const node = (id: number, functionName: string) => ({
    id,
    callFrame: { functionName, url: "/a/index.js", lineNumber: id },
  });
  const profile = { nodes: [node(1, "f"), node(2, "")], samples: [1, 2, 1], timeDeltas: [1_000, 6_000, 1_000] };
  expect(selfTimes(profile)).toEqual([
    { name: "(anonymous)", where: "index.js:3", ms: 6, share: 0.75 },
    { name: "f", where: "index.js:2", ms: 2, share: 0.25 },
  ]);
});
