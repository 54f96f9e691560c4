import { describe, expect, test } from "vitest";
import { burstJson, burstLines, burstReport, progressLine } from "../../src/cli/burst-report.ts";
import type { BurstAnswer } from "../../src/cli/burst-run.ts";

function answer(given: Partial<BurstAnswer>): BurstAnswer {
  return { n: 0, label: "202", status: 202, retryAfterSeconds: null, answerMs: 5, lateMs: 0.5, ...given };
}

const refused = (retryAfterSeconds: number | null) =>
  answer({ label: "503 queue_full", status: 503, retryAfterSeconds, answerMs: 2 });

function report(answers: BurstAnswer[], unsent = 0) {
  return burstReport({ planned: 10, unsent, sendingSeconds: 1, plannedSeconds: 1, answers });
}

describe("a burst's report", () => {
  test("tells answers apart by status and code, with their waits and times", () => {
    const { byAnswer, all } = report([answer({}), refused(83), refused(108), refused(90)]);
    expect(Object.keys(byAnswer)).toEqual(["202", "503 queue_full"]);
    expect(byAnswer["503 queue_full"]).toMatchObject({
      count: 3,
      retryAfterSeconds: { min: 83, median: 90, max: 108 },
      answerMs: { median: 2 },
      withoutRetryAfter: 0,
    });
    expect(byAnswer["202"]).toMatchObject({ count: 1, retryAfterSeconds: null });
    expect(all.count).toBe(4);
  });

  test("counts refusals that do not say when to come back, and says so", () => {
    const made = report([answer({}), refused(null), refused(5)]);
    expect(made.all.withoutRetryAfter).toBe(1);
    expect(burstLines(made)).toContain("1 refusals carried no Retry-After");
  });

  test("leaves what got no answer out of the answers' figures", () => {
    const { all, sent } = report([answer({}), answer({ label: "no answer (timeout)", status: 0, answerMs: 30_000 })]);
    expect(all).toMatchObject({ count: 1, answerMs: { max: 5 } });
    expect(sent).toBe(2);
  });

  test.each([
    ["in time", [answer({ lateMs: 99 })], 0, true],
    ["late", [answer({ lateMs: 101 })], 0, false],
    ["short of connections", [answer({})], 1, false],
  ])("says when the stream itself was not what was asked for: %s", (_label, answers, unsent, onTime) => {
    const made = report(answers, unsent);
    expect(made.onTime).toBe(onTime);
    expect(burstLines(made).some((line) => line.startsWith("The sender itself was late"))).toBe(!onTime);
  });

  test("is nothing but dashes and no error when nothing was answered", () => {
    expect(burstLines(report([])).join("\n")).toContain("sent 0 of 10");
    expect(JSON.parse(burstJson(report([])))).toMatchObject({ all: { count: 0, answerMs: null } });
  });

  test("has one line for how far it is", () => {
    const counts = new Map([["202", 100]]);
    expect(progressLine({ seconds: 12.2, planned: 300, sent: 122, open: 2, counts })).toBe(
      "  12 s   sent 122/300   open 2   202: 100",
    );
  });
});
