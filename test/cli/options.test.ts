import { describe, expect, test } from "vitest";
import { readBurstArguments } from "../../src/cli/burst-settings.ts";
import { isTablePlan, readDemoArguments, TABLE_PLAN } from "../../src/cli/demo-settings.ts";
import { flag, list, readOptions, usageText, whole } from "../../src/cli/options.ts";
import { DEFAULTS, readProviderArguments } from "../../src/cli/provider-settings.ts";
import { readWatchArguments } from "../../src/cli/watch-settings.ts";

const TABLE = {
  jobMs: whole("N", "how long", { min: 0, max: 9 }, 5),
  loud: flag("loudly"),
  name: list("TEXT", "a name", (given) => given.toUpperCase()),
};

describe("a table of options", () => {
  test("gives the defaults where nothing is said", () => {
    expect(readOptions([], TABLE)).toEqual({ jobMs: 5, loud: false, name: [] });
  });

  test("takes values either way, the last one counting, and lists in their order", () => {
    const argv = ["--job-ms", "1", "--job-ms=2", "--loud", "--name", "a", "--name=b"];
    expect(readOptions(argv, TABLE)).toEqual({ jobMs: 2, loud: true, name: ["A", "B"] });
  });

  test.each([["--help"], ["-h"]])("is asked for with %s, whatever else is said", (help) => {
    expect(readOptions(["--job-ms", "x", help], TABLE)).toBe("help");
  });

  test.each([
    [
      "an option that there is not",
      ["--job", "1"],
      "there is no option --job; known are --job-ms, --loud, --name, --help",
    ],
    ["a short one that there is not", ["-x"], "there is no option -x"],
    ["a word too many", ["burst"], "takes options only, not burst; known are --job-ms"],
    ["a value that is missing", ["--job-ms"], "--job-ms needs a value: N"],
    ["a value for a switch", ["--loud=yes"], "--loud takes no value, not yes"],
    ["a number below its range", ["--job-ms", "-1"], "--job-ms takes 0 to 9, not -1"],
    ["a number in another notation", ["--job-ms", "1e0"], "--job-ms takes 0 to 9, not 1e0"],
    ["an empty number", ["--job-ms", ""], "--job-ms takes 0 to 9, not "],
  ])("names %s in one line", (_label, argv, message) => {
    expect(() => readOptions(argv, TABLE)).toThrow(message);
    expect(() => readOptions(argv, TABLE)).toThrow(/^.*$/);
  });

  test("is the usage text, too", () => {
    expect(usageText("npm run x", "does it", TABLE).split("\n")).toEqual([
      "npm run x -- [options]   does it",
      "  --job-ms N    how long (default 5)",
      "  --loud        loudly",
      "  --name TEXT   a name; may be repeated",
    ]);
  });
});

describe("each tool", () => {
  test("needs no arguments", () => {
    expect(readBurstArguments([])).toMatchObject({ url: "http://127.0.0.1:8787", rate: 10, seconds: 30, wait: 0 });
    expect(readWatchArguments([])).toMatchObject({ url: "http://127.0.0.1:8787", seconds: 0, json: false });
    expect(readDemoArguments([])).toEqual(TABLE_PLAN);
    expect(readProviderArguments([])).toEqual(DEFAULTS);
  });

  test("reads outages of one kind, and no quota where no job a minute may start", () => {
    const argv = ["--outage", "5:10", "--outage", "60:0.5", "--outage-kind", "hang", "--quota-per-minute", "0"];
    expect(readProviderArguments(argv)).toMatchObject({
      quota: null,
      outages: [
        { kind: "hang", fromMs: 5000, untilMs: 15_000 },
        { kind: "hang", fromMs: 60_000, untilMs: 60_500 },
      ],
    });
  });

  test("knows for which plan the figures were worked out", () => {
    const plans = [[], ["--rate", "10", "--seconds", "30"], ["--rate", "5"], ["--seconds", "31"]].map(
      readDemoArguments,
    );
    expect(plans.map((plan) => plan !== "help" && isTablePlan(plan))).toEqual([true, true, false, false]);
  });

  test.each([
    ["burst", readBurstArguments, ["--rate", "0"], "--rate takes a number from 0.01 to 10000, not 0"],
    ["burst", readBurstArguments, ["--url", "localhost:8787"], "--url takes an http or https address"],
    ["burst", readBurstArguments, ["--payload", "[{n}]"], "--payload takes a JSON object, not [{n}]"],
    ["burst", readBurstArguments, ["--payload", "{"], "--payload takes a JSON object, not {"],
    ["burst", readBurstArguments, ["--intent", "create"], "--intent takes NOUN:VERB in capitals, not create"],
    ["burst", readBurstArguments, ["--wait", "61"], "--wait takes 0 to 60, not 61"],
    [
      "burst",
      readBurstArguments,
      ["--rate", "10000", "--seconds", "101"],
      "--rate times --seconds takes up to 1000000",
    ],
    ["watch", readWatchArguments, ["--seconds", "soon"], "--seconds takes a number from 0"],
    ["demo", readDemoArguments, ["--bound", "5"], "there is no option --bound; known are --rate, --seconds, --help"],
    ["provider", readProviderArguments, ["--fault", "fire"], "--fault takes none, reset, html"],
    ["provider", readProviderArguments, ["--outage", "5"], "--outage takes FROM:SECONDS, not 5"],
    ["provider", readProviderArguments, ["--outage-kind", "404"], "--outage-kind takes 503, refuse, hang; not 404"],
    ["provider", readProviderArguments, ["--fail-rate", "1.1"], "--fail-rate takes a number from 0 to 1, not 1.1"],
    ["provider", readProviderArguments, ["--quota-burst", "0"], "--quota-burst takes 1 to 1000000, not 0"],
  ])("%s: %3$s", (_tool, read, argv, message) => {
    expect(() => read(argv)).toThrow(message);
  });
});
