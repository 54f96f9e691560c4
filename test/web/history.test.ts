import { describe, expect, test } from "vitest";
import { columnsOf, HISTORY_MS, type Look, recent, withLook } from "../../src/web/dashboard/history.ts";
import { look } from "./support.ts";

/** A look a second, with what each has. */
function everySecond(count: number, part: (second: number) => Partial<Look>): Look[] {
  return Array.from({ length: count }, (_, n) => look(n * 1000, part(n)));
}

describe("what was seen", () => {
  test("is kept for as long as the charts show, however long the page is open", () => {
    let looks: Look[] = [];
    for (let n = 0; n <= 3600; n++) looks = withLook(looks, look(n * 1000));
    const span = (looks.at(-1)?.atMs ?? 0) - (looks[0]?.atMs ?? 0);
    expect(span).toBeGreaterThanOrEqual(HISTORY_MS);
    expect(span).toBeLessThan(HISTORY_MS + 5_000);
  });

  test("is forgotten when the clock steps back, instead of running backwards", () => {
    const looks = withLook([look(10_000), look(11_000)], look(9_000));
    expect(looks.map(({ atMs }) => atMs)).toEqual([9_000]);
  });
});

describe("rates", () => {
  test("are differences of counters over the time in between", () => {
    const looks = everySecond(30, (n) => ({ accepted: 7 * n, refused: { queue_full: 4 * n, rate_limited: n } }));
    expect(recent(looks)).toEqual({
      acceptedPerSecond: 7,
      refusedPerSecond: { queue_full: 4, rate_limited: 1 },
      hadRoom: true,
    });
    const { acceptedPerSecond, refusedPerSecond } = columnsOf(looks);
    expect(acceptedPerSecond.slice(1)).toEqual(new Array(29).fill(7));
    expect(refusedPerSecond.slice(1)).toEqual(new Array(29).fill(5));
  });

  test("are not known after one look, and are not made up", () => {
    expect(recent([])).toBeNull();
    expect(recent([look(0, { accepted: 1000 })])).toBeNull();
    expect(columnsOf([look(0, { accepted: 1000 })]).acceptedPerSecond).toEqual([null]);
  });

  test("leave out codes that are not refused with any more", () => {
    const looks = everySecond(60, (n) => ({ refused: { queue_full: Math.min(n, 20) } }));
    expect(recent(looks)?.refusedPerSecond).toEqual({});
  });

  test("are unknown, and not negative, where an engine started anew and counts from nothing", () => {
    const looks = everySecond(20, (n) => ({ refused: { queue_full: n < 10 ? 500 + n : n - 10 } }));
    const { refusedPerSecond } = columnsOf(looks);
    expect(refusedPerSecond.every((rate) => rate === null || rate >= 0)).toBe(true);
    expect(refusedPerSecond[10]).toBeNull();
    expect(refusedPerSecond[15]).toBe(1);
  });

  test("say whether there was room at every look of late", () => {
    expect(recent(everySecond(20, (n) => ({ hasRoom: n !== 15 })))?.hadRoom).toBe(false);
    expect(recent(everySecond(20, (n) => ({ hasRoom: n !== 2 })))?.hadRoom).toBe(true);
  });
});

describe("columns", () => {
  test("end at now and count back from there", () => {
    expect(columnsOf(everySecond(4, () => ({}))).secondsAgo).toEqual([-3, -2, -1, 0]);
  });

  test("have a hole where nobody looked for long", () => {
    const { secondsAgo, depth } = columnsOf([look(0, { depth: 1 }), look(60_000, { depth: 2 })]);
    expect(secondsAgo).toEqual([-60, -59.999, 0]);
    expect(depth).toEqual([1, null, 2]);
  });

  test("are all of one length, and a limit that there is not is no number", () => {
    const columns = columnsOf(everySecond(5, () => ({ limit: null })));
    expect(new Set(Object.values(columns).map((column) => column.length))).toEqual(new Set([5]));
    expect(columns.limit).toEqual(new Array(5).fill(null));
  });
});
