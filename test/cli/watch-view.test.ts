import { describe, expect, test } from "vitest";
import { liveOutput } from "../../src/cli/live.ts";
import type { QueueStatus } from "../../src/cli/queue-status.ts";
import { alignRows } from "../../src/cli/text-table.ts";
import { TABLE_ROWS, watchLine, watchTable } from "../../src/cli/watch-view.ts";

const STATUS: QueueStatus = {
  depth: 63,
  criticalDepth: 2,
  running: 8,
  inFlight: 73,
  bound: 100,
  oldestWaitSeconds: 22.5,
  completedLastMinute: 74,
  pacePerSecond: 0.834,
  peakDepth: 100,
  paused: false,
  counters: { accepted: 174, completed: 101, failed: 0, dead: 1, refused: { queue_full: 120, rate_limited: 6 } },
};

describe("the queue, watched", () => {
  test("is one line where there is no terminal", () => {
    expect(watchLine({ status: STATUS })).toBe(
      "depth 63/100  ready 65  running 8  oldest 22.5 s  done/min 74  accepted 174  refused 126  dead 1  pace 0.83/s  open",
    );
  });

  test.each([
    ["paused", { paused: true, upstream: { state: "waiting" } }, "paused"],
    [
      "an upstream that waits",
      { upstream: { state: "waiting", resumesInSeconds: 12 } },
      "upstream waiting, again in 12.0 s",
    ],
    ["an upstream that is tried", { upstream: { state: "probing" } }, "upstream probing"],
    ["an upstream that takes what it is given", { upstream: { state: "delivering" } }, "upstream delivering"],
    ["a gateway that tells of none", {}, "open"],
  ])("says what holds it up: %s", (_label, change, state) => {
    expect(watchLine({ status: { ...STATUS, ...change } }).endsWith(`  ${state}`)).toBe(true);
  });

  test("shows what waits elsewhere when there is any", () => {
    const ready = (change: Partial<QueueStatus>) =>
      watchTable("", { status: { ...STATUS, ...change } }).find((line) => line.includes("ready"));
    expect(ready({})).toBe("  ready     65");
    expect(ready({ retrying: 3, deferred: 40 })).toBe("  ready     65   between attempts 3   deferred 40");
  });

  test("has a table as long as before when the gateway is away, and says so in one line", () => {
    const away = watchTable("title", { fault: "no answer (ECONNREFUSED)" });
    expect(away).toHaveLength(TABLE_ROWS);
    expect(watchTable("title", { status: STATUS })).toHaveLength(TABLE_ROWS);
    expect(watchLine({ fault: "no answer (ECONNREFUSED)" })).toBe("no answer (ECONNREFUSED)");
  });

  test("keeps its bar within its cells, however the bound was changed", () => {
    const bars = [0, 1, 100, 150].map((depth) => watchTable("", { status: { ...STATUS, depth } })[3]);
    expect(bars.map((line) => /[#.]{40} /.test(line ?? ""))).toEqual([true, true, true, true]);
    expect(bars.map((line) => (line?.match(/#/g) ?? []).length)).toEqual([0, 1, 40, 40]);
  });
});

describe("live output", () => {
  function written(terminal: { isTTY?: boolean; columns?: number }) {
    let text = "";
    const live = liveOutput({ ...terminal, write: (more) => (text += more) });
    live.show(["a long line", "b"], "plain");
    live.show(["c", "d", "e"], "plain");
    live.end();
    live.show(["f"], "plain");
    return text;
  }

  test("is plain lines where there is no terminal", () => {
    expect(written({})).toBe("plain\nplain\nplain\n");
  });

  test("goes up as many lines as it has shown, cuts what would wrap, and starts anew after the end", () => {
    const shown = written({ isTTY: true, columns: 5 }).replaceAll("\x1b", "^");
    expect(shown).toBe("\ra lo^[K\nb^[K\n^[J^[2A\rc^[K\nd^[K\ne^[K\n^[J\rf^[K\n^[J");
  });

  test("does not cut everything on a terminal that says it has no columns", () => {
    expect(written({ isTTY: true, columns: 0 })).toContain("a long line");
  });
});

test("columns are as wide as their widest cell, numbers at the right", () => {
  expect(alignRows([["", "seen"], ["accepted", "174", "x"], ["a"]])).toEqual([
    "          seen",
    "accepted   174  x",
    "a",
  ]);
});
