import { describe, expect, test } from "vitest";
import type { BurstAnswer } from "../../src/cli/burst-run.ts";
import { type DemoFacts, judge } from "../../src/cli/demo-judge.ts";
import { verdictLines } from "../../src/cli/demo-report.ts";
import { expectedSeconds, TABLE_PLAN } from "../../src/cli/demo-settings.ts";

const ACCEPTED = 174;
const REFUSED = 126;
const IDS = Array.from({ length: ACCEPTED }, (_, n) => `c${n}`);

const accepted: BurstAnswer[] = IDS.map((commandId, n) => ({
  ...{ n, label: "202", status: 202, retryAfterSeconds: null, commandId },
  ...{ answerMs: 5, lateMs: 0.1 },
}));
const refused: BurstAnswer[] = Array.from({ length: REFUSED }, (_, n) => ({
  ...{ n: ACCEPTED + n, label: "503 queue_full", status: 503, retryAfterSeconds: 83 + (n % 26) },
  ...{ answerMs: 5, lateMs: 0.1 },
}));

/** A burst in which everything was kept. */
const KEPT: DemoFacts = {
  plan: TABLE_PLAN,
  planned: ACCEPTED + REFUSED,
  answers: [...accepted, ...refused],
  peakDepth: 100,
  deepestSeen: 99,
  states: new Map(IDS.map((id) => [id, "succeeded"])),
  backend: { doneIds: IDS, doneTwice: 0, runningPeak: 8 },
};

const broken = (facts: DemoFacts) => judge(facts).flatMap(({ line, ok }) => (ok ? [] : [line]));
const withRefusal = (change: Partial<BurstAnswer>) => ({
  answers: [...accepted, ...refused.slice(1), { ...refused[0], ...change } as BurstAnswer],
});
const { backend } = KEPT;

describe("the demo's judge", () => {
  test("breaks nothing where everything was kept", () => {
    expect(broken(KEPT)).toEqual([]);
    expect(verdictLines(judge(KEPT)).at(-1)).toBe("Every promise was kept.");
  });

  test.each<[string, Partial<DemoFacts>, string]>([
    [
      "a request without an answer",
      { answers: KEPT.answers.slice(1), states: KEPT.states },
      "has an answer: 299 of 300",
    ],
    ["a queue longer than its bound", { deepestSeen: 101 }, "stays within its bound: 101 of 100"],
    ["a peak above the bound", { peakDepth: 107 }, "stays within its bound: 107 of 100"],
    ["a queue that was never full", { peakDepth: 99 }, "filled to the last place: 99 of 100"],
    ["a refusal without Retry-After", withRefusal({ retryAfterSeconds: null }), "125 of 126 (503 queue_full: 1)"],
    ["a refusal that is told to come back at once", withRefusal({ retryAfterSeconds: 0 }), "says when to come back"],
    ["a refusal of another kind", withRefusal({ status: 429, label: "429 rate_limited" }), "(429 rate_limited: 1)"],
    ["a Retry-After that is too short", withRefusal({ retryAfterSeconds: 79 }), "80 to 130 s: 79 to 108 s"],
    ["a Retry-After that is too long", withRefusal({ retryAfterSeconds: 131 }), "80 to 130 s: 83 to 131 s"],
    ["no refusal at all", { answers: accepted, planned: ACCEPTED }, "80 to 130 s: none"],
    ["too few accepted", { answers: [...accepted.slice(3), ...refused] }, "accepted 172 to 176: 171"],
    [
      "an id that was given twice",
      { answers: [...accepted.slice(1), ...accepted.slice(1, 2), ...refused] },
      "173 of 174",
    ],
    [
      "a command that is still queued",
      { states: new Map([...KEPT.states, ["c5", "queued"]]) },
      "173 of 174 (queued: 1)",
    ],
    ["a command that nobody knows any more", { states: new Map() }, "succeeded: 0 of 174 (unknown: 174)"],
    [
      "a command that succeeded and was not done",
      { backend: { ...backend, doneIds: IDS.slice(1) } },
      "backend: 173 of 174",
    ],
    ["a job that was done twice", { backend: { ...backend, doneTwice: 1 } }, "none was done twice: 1"],
    ["a job that nobody was promised", { backend: { ...backend, doneIds: [...IDS, "x"] } }, "was not accepted: 1"],
    ["more at once than the backend takes", { backend: { ...backend, runningPeak: 9 } }, "9 of 8"],
  ])("finds %s, and names it", (_label, change, line) => {
    const facts = { ...KEPT, ...change };
    expect(broken(facts)).toContainEqual(expect.stringContaining(line));
    expect(verdictLines(judge(facts)).at(-1)).toMatch(/^Broken: /);
  });

  test("asks a shorter burst for what must hold for any, and not for figures of another", () => {
    const answers = accepted.slice(0, 20);
    const ids = IDS.slice(0, 20);
    const short: DemoFacts = {
      ...KEPT,
      ...{ plan: { ...TABLE_PLAN, seconds: 2 }, planned: 20, answers, peakDepth: 12, deepestSeen: 12 },
      backend: { ...backend, doneIds: ids },
    };
    expect(broken(short)).toEqual([]);
    expect(broken({ ...short, peakDepth: 101 })).toHaveLength(1);
  });

  test("is told nothing good by a gateway that refuses everything", () => {
    const facts = { ...KEPT, plan: { ...TABLE_PLAN, seconds: 2 }, planned: REFUSED, answers: refused };
    expect(broken({ ...facts, backend: { ...backend, doneIds: [] } })).toEqual([
      "something is accepted, and each under an id of its own: 0 of 0",
    ]);
  });
});

test("how long the demo takes follows from the quota, or from the slots, or from the burst", () => {
  expect(Math.round(expectedSeconds(TABLE_PLAN))).toBe(152);
  expect(expectedSeconds({ ...TABLE_PLAN, rate: 8, seconds: 5 })).toBeCloseTo(40 / (8 / 2.2) + 2.2);
  expect(expectedSeconds({ ...TABLE_PLAN, rate: 1, seconds: 20 })).toBeCloseTo(22.2);
});
