import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffCeilingMs, backoffMs } from "../../src/core/backoff.ts";
import { parseRetryAfter } from "../../src/core/retry-after.ts";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 7);

describe("Retry-After", () => {
  test.each<[string, string | null, number | null]>([
    ["seconds", "120", 120_000],
    ["none at all", null, null],
    ["zero", "0", 0],
    ["a fraction, rounded up to the millisecond", "0.0015", 2],
    ["more than anybody waits", "99999999999", 99_999_999_999_000],
    ["an IMF date, half a minute on", "Sun, 06 Nov 1994 08:49:37 GMT", 30_000],
    ["an asctime date, half a minute on", "Sun Nov  6 08:49:37 1994", 30_000],
    ["a date that is past", "Sun, 06 Nov 1993 08:49:37 GMT", 0],
    ["an RFC 850 date", "Tuesday, 06-Nov-07 08:49:37 GMT", Date.UTC(2007, 10, 6, 8, 49, 37) - NOW],
    ["an RFC 850 date of last century", "Saturday, 06-Nov-93 08:49:37 GMT", 0],
    ["a month that there is not", "Sun, 06 Nix 1994 08:49:37 GMT", null],
    ["a time that there is not", "Sun, 99 Nov 2099 99:99:99 GMT", null],
    ["less than nothing", "-5", null],
    ["a word", "soon", null],
    ["a number with a unit", "5 apples", null],
    ["another form of date", "1994-11-06T08:49:37Z", null],
    ["an empty value", "", null],
  ])("%s", (_label, header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });
});

describe("backoff", () => {
  test("never passes its ceiling, which doubles up to the most", () => {
    const backoff = { baseMs: 500, maxMs: 20_000 };
    expect([1, 2, 3, 6, 7, 60].map((n) => backoffCeilingMs(n, backoff))).toEqual([
      500, 1000, 2000, 16_000, 20_000, 20_000,
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (n, random) => {
          const waitMs = backoffMs(n, backoff, random);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs).toBeLessThan(backoffCeilingMs(n, backoff));
        },
      ),
    );
  });
});
