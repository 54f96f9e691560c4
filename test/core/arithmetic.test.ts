import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ceilDiv, floorDiv, mulDivCeil, simplestFraction } from "../../src/core/arithmetic.ts";
import { grainsOf, rateFromNumber, tokenBucketPolicy } from "../../src/core/policy.ts";

describe("exact arithmetic", () => {
  test("ceilDiv is the exact ceiling for all safe integers", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (a, b) => {
        const exact = (BigInt(a) + BigInt(b) - 1n) / BigInt(b);
        expect(BigInt(ceilDiv(a, b))).toBe(exact);
      }),
    );
  });

  test("floorDiv is the exact floor for all safe integers", () => {
    const near = fc.tuple(fc.integer({ min: 1, max: 94_906_265 }), fc.integer({ min: 1, max: 94_906_265 }));
    const anyPair = fc.tuple(fc.maxSafeNat(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
    // Just under a multiple is where the double quotient is rounded up.
    const pairs = fc.oneof(
      anyPair,
      near.map(([a, b]): [number, number] => [a * b - 1, b]),
    );
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(BigInt(floorDiv(a, b))).toBe(BigInt(a) / BigInt(b));
      }),
    );
    expect(floorDiv(Number.MAX_SAFE_INTEGER, 2)).toBe(4_503_599_627_370_495);
  });

  test("mulDivCeil is exact where the product is no safe integer", () => {
    expect(mulDivCeil(1_000_000_007, 31_535_999_999, 31_536_000_000)).toBe(1_000_000_007);
    expect(mulDivCeil(1_000_000_007, 15_768_000_000, 31_536_000_000)).toBe(500_000_004);
    expect(mulDivCeil(0, 5, 7)).toBe(0);
  });

  test.each([
    ["a tenth", 0.1, 1, 10],
    ["two thirds, with all its digits", 2 / 3, 2, 3],
    ["one a minute", 1 / 60, 1, 60],
    ["a whole number", 1000, 1000, 1],
    ["a decimal", 33.33, 3333, 100],
    ["zero", 0, 0, 1],
  ])("a rate written as %s is the ratio that was meant", (_label, value, tokens, perSeconds) => {
    expect(rateFromNumber(value)).toEqual({ tokens, perSeconds });
  });

  test("the simplest fraction reads as the number it was made from", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
        const fraction = simplestFraction(value);
        if (fraction !== null) expect(fraction.numerator / fraction.denominator).toBe(value);
      }),
    );
  });

  test("a limit that cannot be counted exactly is told apart, not rounded", () => {
    expect(grainsOf(tokenBucketPolicy({ tokens: 1, perSeconds: 1 }, 1_000_000_000))).not.toBeNull();
    expect(grainsOf(tokenBucketPolicy({ tokens: 999_999_937, perSeconds: 999_999_937_000 }, 1))).not.toBeNull();
    expect(grainsOf(tokenBucketPolicy({ tokens: 7, perSeconds: 999_999_937 }, 1_000_000_000))).toBeNull();
  });
});
