import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { simulate } from "../../src/cli/simulate-run.ts";

const words = (line: string) => line.split(" ");

describe("npm run simulate", () => {
  test("gives the burst's row of table 2, as a program reads it", () => {
    const line = "burst --rate 10 --seconds 30 --workers 2 --bound 100 --quota on --json";
    const report = JSON.parse(simulate(words(line)).text);
    expect(report).toMatchObject({ accepted: 174, refused: 126, peakDepth: 100 });
    expect(report.retryAfter).toMatchObject({ min: 83, max: 108 });
  });

  test("gives table 1, as people read it", () => {
    const { text } = simulate(["three-modes"]);
    expect(text).toMatch(/^6 +4 +12 +2 +10 +2 +10$/m);
    expect(text).toMatch(/^load shedding +14 +2 +10 +0 +0$/m);
  });

  test("runs as a program", () => {
    const argv = ["src/cli/simulate.ts", ...words("capacity --rate 500 --safety 5 --bound 10000 --json")];
    const report = JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" }));
    expect(report).toMatchObject({ neededPace: 2_500, headroomSeconds: 20 });
  });

  test("draws a picture", () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "headgate-")), "burst.svg");
    simulate(["burst", "--svg", file]);
    expect(readFileSync(file, "utf8")).toMatch(/^<svg [\s\S]*<polygon [\s\S]*<\/svg>\n$/);
  });

  test("ends with 1 when a promise is broken, and says how to see it again", () => {
    const { text, exitCode } = simulate(words("fuzz --seeds 200 --sabotage forgets-running"));
    expect(exitCode).toBe(1);
    expect(text).toMatch(/^seed \d+ breaks invariant 3: /);
    expect(simulate(words("fuzz --seeds 5")).exitCode).toBe(0);
  });

  test("says what there is", () => {
    expect(simulate([]).text).toContain("three-modes");
    expect(simulate(["burst", "--help"]).text).toContain("--job-ms");
  });

  test.each([
    ["an unknown scenario", "brust", "there is no scenario brust; known are burst, three-modes"],
    ["a negative rate", "burst --rate -1", "--rate takes a number from 0.001 to 100000, not -1"],
    ["a bound of 0", "burst --bound 0", "--bound takes 1 to 1000000 or none, not 0"],
    ["a bound that is none", "overload --bound many", "--bound takes 1 to 1000000, not many"],
    ["a quota that is neither", "burst --quota maybe", "--quota takes on, off, untold; not maybe"],
    ["bursts that overlap", "burst --bursts 2 --every-seconds 10", "--every-seconds takes 30"],
    ["callers that are never refused", "burst --bound none --callers obey", "--callers takes never with --bound none"],
    ["an option of another scenario", "three-modes --rate 5", "there is no option --rate; known are --arrivals"],
    ["arrivals that are none", "three-modes --arrivals 4,x", "--arrivals takes whole numbers with commas, not 4,x"],
    ["no file", "world", "--file needs a value"],
  ])("names %s in one line", (_label, line, message) => {
    expect(() => simulate(words(line))).toThrow(message);
  });
});
