import { describe, expect, test } from "vitest";
import { BURST, type BurstOptions, burstWorld } from "../../src/sim/burst.ts";
import { capacity } from "../../src/sim/capacity.ts";
import { threeModes } from "../../src/sim/three-modes.ts";
import { runWorld } from "../../src/sim/world.ts";

// The tables that the simulator must give, row by row.

describe("table 1: three ways to meet a burst", () => {
  const [none, held, shed] = threeModes();

  test.each([
    ["no control, queue", none, "queue", [2, 4, 6, 8, 10, 12, 10, 8, 6, 4]],
    ["backpressure, queue", held, "queue", [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]],
    ["backpressure, held at the producer", held, "held", [0, 2, 4, 6, 8, 10, 8, 6, 4, 2]],
    ["load shedding, queue", shed, "queue", [2, 2, 2, 2, 2, 2, 0, 0, 0, 0]],
    ["load shedding, refused so far", shed, "refused", [0, 2, 4, 6, 8, 10, 10, 10, 10, 10]],
  ] as const)("%s", (_label, mode, column, values) => {
    expect(mode?.ticks.map((tick) => tick[column])).toEqual(values);
  });

  test.each([
    ["no control", none, [20, 12, 0, 4, 0]],
    ["backpressure", held, [20, 2, 0, 2, 2]],
    ["load shedding", shed, [14, 2, 10, 0, 0]],
  ] as const)("totals of %s: processed, peak queue, refused, left, held", (_label, mode, totals) => {
    expect([mode?.processed, mode?.peakQueue, mode?.refused, mode?.leftInQueue, mode?.held]).toEqual(totals);
  });

  test("other arrivals, another bound: what is held is what load shedding refuses", () => {
    const modes = threeModes({ arrivals: [7, 0, 7, 0, 0, 0], perTick: 3, bound: 5 });
    expect(modes.map(({ processed, refused, held: still }) => [processed, refused, still])).toEqual([
      [14, 0, 0],
      [14, 0, 0],
      [10, 4, 0],
    ]);
  });
});

describe("table 2: the burst", () => {
  type Row = {
    accepted: number;
    refused: number;
    peak: [number, number];
    oldest?: [number, number];
    empty?: [number, number];
    told?: [number, number];
  };
  const rows: [string, Partial<BurstOptions>, Row][] = [
    [
      "10/s, 2 workers, no bound, quota",
      { bound: null },
      { accepted: 300, refused: 0, peak: [226, 226], oldest: [22.5, 22.6], empty: [298, 302] },
    ],
    [
      "10/s, 2 workers, bound 100, quota",
      {},
      { accepted: 174, refused: 126, peak: [100, 100], oldest: [22.5, 22.6], empty: [147, 151], told: [83, 108] },
    ],
    [
      "10/s, 4 workers, bound 100, quota",
      { workers: 4 },
      { accepted: 174, refused: 126, peak: [100, 100], oldest: [22.5, 22.6], empty: [147, 151], told: [83, 99] },
    ],
    [
      "10/s, 2 workers, no bound, no quota",
      { bound: null, quota: "off" },
      { accepted: 300, refused: 0, peak: [188, 188], oldest: [18.8, 18.8], empty: [81, 83] },
    ],
    [
      "10/s, 4 workers, no bound, no quota",
      { bound: null, quota: "off", workers: 4 },
      { accepted: 300, refused: 0, peak: [77, 78], oldest: [7.7, 7.7], empty: [40, 42] },
    ],
    [
      "2/s, 1 worker, no bound, no quota",
      { bound: null, quota: "off", rate: 2, workers: 1 },
      { accepted: 60, refused: 0, peak: [6, 6] },
    ],
  ];

  test.each(rows)("%s", (_label, options, row) => {
    const report = runWorld(burstWorld({ ...BURST, ...options }));
    const within = (value: number | null | undefined, range: readonly [number, number] | undefined) => {
      if (range === undefined) return;
      expect(value).toBeGreaterThanOrEqual(range[0]);
      expect(value).toBeLessThanOrEqual(range[1]);
    };
    expect([report.accepted, report.refused]).toEqual([row.accepted, row.refused]);
    within(report.peakDepth, row.peak);
    within(report.oldestWaitSeconds, row.oldest);
    within(report.emptyAtSeconds, row.empty);
    if (row.told !== undefined) expect([report.retryAfter?.min, report.retryAfter?.max]).toEqual(row.told);
    else expect(report.retryAfter).toBeNull();
  });

  test("a backend whose quota we were not told of says so itself, and nothing is lost", () => {
    const report = runWorld(burstWorld({ ...BURST, quota: "untold" }));
    expect(report.ends.succeeded).toBe(report.accepted);
    expect(report.accepted).toBeGreaterThan(165);
    expect(report.accepted).toBeLessThan(180);
    // One that was told to come back keeps its place in the bound while it is not in the queue.
    expect(report.peakDepth).toBeGreaterThanOrEqual(95);
    expect(report.peakDepth).toBeLessThanOrEqual(100);
  });
});

test("capacity: 10 000 commands at 500/s are 20 s of headroom", () => {
  expect(capacity({ rate: 500, safety: 5, bound: 10_000 })).toMatchObject({
    neededPace: 2_500,
    headroomSeconds: 20,
    longestWaitSeconds: 20,
    longestWaitAtNeededPaceSeconds: 4,
    tellable: true,
  });
  expect(capacity({ rate: 10, safety: 2, bound: 10_000 }).tellable).toBe(false);
});
