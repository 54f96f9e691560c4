import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Figures, type Outcome, outcomeOf } from "../../src/web/explorer/outcome.ts";
import {
  BOUND,
  DEFAULTS,
  RATE,
  readSettings,
  type Settings,
  typedBound,
  WORKERS,
  writeQuery,
} from "../../src/web/explorer/settings.ts";
import { axisSeconds, description, headline, modeWords, told } from "../../src/web/explorer/words.ts";

// The explorer without its page: settings as an address, what comes of them, and the words for it.

const anySettings: fc.Arbitrary<Settings> = fc.record({
  rate: fc.integer(RATE),
  workers: fc.integer(WORKERS),
  bound: fc.option(fc.oneof(fc.integer(BOUND), fc.constantFrom(1, 100))),
  quota: fc.boolean(),
  view: fc.constantFrom("start", "whole"),
});

describe("the address of a setting", () => {
  test("gives the same setting again, with nothing to mend", () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        expect(readSettings(`?${writeQuery(settings)}`)).toEqual({ settings, mended: [] });
      }),
    );
  });

  test("says nothing of what it does not name, and ignores what is not its own", () => {
    expect(readSettings("")).toEqual({ settings: DEFAULTS, mended: [] });
    expect(readSettings("?utm_source=mail&rate=3")).toEqual({ settings: { ...DEFAULTS, rate: 3 }, mended: [] });
  });

  test.each<[string, Partial<Settings>, string]>([
    ["rate=99", { rate: 12 }, "rate takes a whole number from 2 to 12, not “99”: 12 is shown."],
    ["rate=", {}, "rate takes a whole number from 2 to 12, not “”: 10 is shown."],
    ["rate=2.6", { rate: 3 }, "rate takes a whole number from 2 to 12, not “2.6”: 3 is shown."],
    ["rate=-Infinity", { rate: 2 }, "rate takes a whole number from 2 to 12, not “-Infinity”: 2 is shown."],
    ["workers=many", {}, "workers takes a whole number from 1 to 4, not “many”: 2 is shown."],
    ["bound=0", { bound: 1 }, "bound takes none or a whole number from 1 to 360, not “0”: 1 is shown."],
    ["bound=NONE", {}, "bound takes none or a whole number from 1 to 360, not “NONE”: 100 is shown."],
    ["quota=yes", {}, "quota takes on or off, not “yes”: on is shown."],
    ["view=all", {}, "view takes start or whole, not “all”: start is shown."],
    [
      "workers=a-very-long-value-indeed",
      {},
      "workers takes a whole number from 1 to 4, not “a-very-long-value-in…”: 2 is shown.",
    ],
  ])("%s is mended, and said", (query, mendedTo, line) => {
    expect(readSettings(query)).toEqual({ settings: { ...DEFAULTS, ...mendedTo }, mended: [line] });
  });

  test("any query gives settings that can be run, and those need no mending", () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), fc.string(), (query, value) => {
        for (const text of [query, ...["rate", "workers", "bound", "quota"].map((name) => `${name}=${value}`)]) {
          const { settings } = readSettings(text);
          expect(readSettings(writeQuery(settings))).toEqual({ settings, mended: [] });
        }
      }),
    );
  });

  test("a bound is typed as a whole number within its range, or it is none yet", () => {
    expect(["40", "1", "360", "0", "361", "4.5", "", "x"].map(typedBound)).toEqual([
      40,
      1,
      360,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});

describe("what comes of a setting", () => {
  const figuresOf = ({ accepted, refused, longestQueue }: Figures) => [accepted, refused, longestQueue];

  test("is held against the same burst without its bound, and in the three ways to meet it", () => {
    const { chosen, other, modes } = outcomeOf(DEFAULTS);
    expect(figuresOf(chosen.figures)).toEqual([174, 126, 100]);
    expect(figuresOf(other.figures)).toEqual([300, 0, 226]);
    expect(modes.shedding).toEqual(chosen);
    expect(modes.noControl).toEqual(other);
    const { accepted, refused, longestQueue, mostHeld } = modes.backpressure.figures;
    expect([accepted, refused, longestQueue, mostHeld]).toEqual([300, 0, 100, 126]);
  });

  test("without a bound it is held against the usual one", () => {
    const { chosen, other } = outcomeOf({ ...DEFAULTS, bound: null });
    expect([chosen.figures.refused, other.figures.refused]).toEqual([0, 126]);
  });

  test("its course begins at nothing, keeps to the bound, and ends with nobody waiting or held", () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const { bound, backpressure, shedding } = outcomeOf(settings).modes;
        for (const { course } of [backpressure, shedding]) {
          expect([course.depth[0], course.held[0], course.refused[0]]).toEqual([0, 0, 0]);
          expect([course.depth.at(-1), course.held.at(-1)]).toEqual([0, 0]);
          expect(Math.max(...course.depth)).toBeLessThanOrEqual(bound);
        }
        expect(shedding.course.refused.at(-1)).toBe(shedding.figures.refused);
      }),
      { numRuns: 25 },
    );
  });
});

const numbersOf = (text: string) => [...text.matchAll(/\d+(\.\d+)?/g)].map(([number]) => Number(number));

/** All numbers that may be said of an outcome: what was set, what came of it, and what the burst is made of. */
function numbersThere({ settings, chosen, other, withoutQuota, modes }: Outcome): number[] {
  const runs = [
    chosen,
    other,
    modes.noControl,
    modes.backpressure,
    modes.shedding,
    ...(withoutQuota ? [withoutQuota] : []),
  ];
  const figures = runs.flatMap(({ figures: { retryAfter, ...rest } }) => [
    ...Object.values(rest),
    ...(retryAfter === null ? [] : [retryAfter.min, retryAfter.max]),
  ]);
  const { rate, workers, bound } = settings;
  // Seconds of sending, places of a worker, seconds of a job, the quota, the usual bound, where the charts end.
  const made = [30, 4, 2.2, 50, 100, 120, (workers * 4) / 2.2];
  return [...figures, ...made, rate, bound ?? 100].map((number) => Math.round(number * 10) / 10);
}

describe("the words are true for every setting", () => {
  test("what they claim is so in the runs, and every number is one of them", () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const outcome = outcomeOf(settings);
        const { chosen, other, withoutQuota, modes } = outcome;
        const { offered, accepted, refused, done, longestQueue } = chosen.figures;
        const text = [
          headline(outcome),
          ...description(outcome, settings.view),
          ...Object.values(modeWords(modes)),
        ].join(" ");
        expect(numbersOf(text).filter((number) => !numbersThere(outcome).includes(number))).toEqual([]);
        expect(text).not.toMatch(/undefined|null|NaN|Infinity|\s\s|\.\./);
        // "The … that were accepted are all run."
        expect(done).toBe(accepted);
        expect(accepted + refused).toBe(offered);
        expect(text.includes("no job waits")).toBe(longestQueue === 0 && refused === 0);
        expect(text.includes("is never full")).toBe(settings.bound !== null && refused === 0 && longestQueue > 0);
        expect(text.includes(`told when to come back: in ${told(chosen.figures)}`)).toBe(refused > 0);
        if (text.includes("holds nothing up")) expect(withoutQuota?.figures.accepted).toBe(accepted);
        if (text.includes("would change nothing")) expect(other.figures.accepted).toBe(accepted);
        // "Nothing is lost and nothing is sooner."
        const [none, held] = [modes.noControl.figures, modes.backpressure.figures];
        expect(held.done).toBe(none.done);
        expect(Math.abs(held.emptyAt - none.emptyAt)).toBeLessThan(0.01);
      }),
      { numRuns: 60 },
    );
  });

  test("they say where the charts end before the waiting does, and only there", () => {
    const long = outcomeOf(DEFAULTS);
    expect(description(long, "start").join(" ")).toContain("The charts end at 120");
    expect(description(long, "whole").join(" ")).not.toContain("The charts end");
    expect([axisSeconds("start", long.chosen), axisSeconds("whole", long.chosen, long.other)]).toEqual([120, 360]);
    const short = outcomeOf({ ...DEFAULTS, quota: false });
    expect(description(short, "start").join(" ")).not.toMatch(/charts/);
    const halves = outcomeOf({ ...DEFAULTS, bound: 20 });
    expect([halves.chosen.figures.emptyAt < 120, halves.other.figures.emptyAt > 120]).toEqual([true, true]);
    const said = description(halves, "start").join(" ");
    expect(said).not.toContain("The charts end");
    expect(said).toContain("The waiting without the bound goes on after the charts’ 120 s.");
    expect(description(halves, "whole").join(" ")).not.toMatch(/charts/);
  });
});
