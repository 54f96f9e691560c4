import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FULL_RATE, observe, tierRateOf, withShare } from "../../src/core/adaptive-rate.ts";
import { type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";

const hundred = (ms: number, outliers = 0) => Array.from({ length: 100 }, (_, n) => (n < outliers ? 60_000 : ms));

describe("an adaptive tenant rate", () => {
  test.each([
    ["does not move before it has seen a hundred", hundred(5_000).slice(1), 1],
    ["falls by a tenth when the 99th of a hundred took over a second", hundred(1_001), 0.9],
    ["one outlier in a hundred is not the 99th", hundred(100, 1), 1],
    ["two are", hundred(100, 2), 0.9],
    ["stays where it is in between", hundred(500), 1],
    ["falls twice for two hundred", [...hundred(2_000), ...hundred(2_000)], 0.81],
  ])("%s", (_rule, latencies, share) => {
    expect(observe(FULL_RATE, latencies, 100).share).toBeCloseTo(share, 12);
  });

  test("rises by a twentieth when they are fast again, and not over the tier's", () => {
    const low = { share: 0.5, latenciesMs: [] };
    expect(observe(low, hundred(199), 100).share).toBeCloseTo(0.525, 12);
    expect(observe({ share: 0.99, latenciesMs: [] }, hundred(1), 100).share).toBe(1);
  });

  test("does not fall under ten a second, nor touch a tier that gives less", () => {
    let rate = FULL_RATE;
    for (let n = 0; n < 100; n++) rate = observe(rate, hundred(5_000), 50);
    expect(rate.share * 50).toBe(10);
    expect(observe(FULL_RATE, hundred(5_000), 5).share).toBe(1);
  });

  test("is a share of what buckets of the whole tenant refill, and of nothing else", () => {
    const bucket = tokenBucketPolicy({ tokens: 100, perSeconds: 1 }, 200);
    const perKey: Policy = { ...bucket, name: "key", scope: "key" };
    const day: Policy = { type: "fixed-window", name: "day", scope: "tenant", limit: 5, windowSeconds: 86_400 };
    const limits = { version: 3, policies: [bucket, perKey, day] };
    expect(tierRateOf(limits)).toBe(100);
    expect(withShare(limits, 0.9)).toEqual({
      version: 3,
      policies: [{ ...bucket, rate: { tokens: 90_000, perSeconds: 1000 } }, perKey, day],
    });
    expect(withShare(limits, 1)).toBe(limits);
    expect(tierRateOf({ version: 1, policies: [day] })).toBeNull();
  });

  test("is the same however the latencies are cut into pieces", () => {
    const latencies = fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 500 });
    fc.assert(
      fc.property(latencies, fc.integer({ min: 1, max: 99 }), (all, piece) => {
        let cut = FULL_RATE;
        for (let at = 0; at < all.length; at += piece) cut = observe(cut, all.slice(at, at + piece), 100);
        expect(cut).toEqual(observe(FULL_RATE, all, 100));
      }),
    );
  });
});
