import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonDepth } from "../../src/core/json-scan.ts";
import { firstSequence, formatKey, parseKey, SEQUENCE_MAX } from "../../src/core/keys.ts";

describe("a key", () => {
  test("is read back as what it was made of, and is decimal with at most 25 digits", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: SEQUENCE_MAX }), (partition, sequence) => {
        const key = formatKey(partition, sequence);
        expect(key).toMatch(/^\d{16,25}$/);
        expect(parseKey(key)).toEqual({ partition, sequence });
      }),
    );
  });

  test.each(["", "1", "0000000000000001", "1000000000000000", "1x00000000000001", "-1000000000000001", "1".repeat(26)])(
    "%j is none",
    (text) => {
      expect(parseKey(text)).toBeNull();
    },
  );
});

describe("the depth of a JSON text", () => {
  test.each([
    ["a scalar", "1", 0],
    ["an object", "{}", 1],
    ["brackets inside a string", '{"a":"[[[[\\"[[["}', 1],
    ["nested", '[{"a":[1]},{"b":{}}]', 3],
    ["a hundred thousand brackets", "[".repeat(100_000), 100_000],
  ])("%s", (_label, text, depth) => {
    expect(jsonDepth(text)).toBe(depth);
  });

  test("of an engine that starts later are none of an earlier one's, also if that one gives out 100 000 a second", () => {
    const started = Date.UTC(2026, 0, 1);
    const yearMs = 365 * 86_400_000;
    expect(firstSequence(started + yearMs)).toBeGreaterThanOrEqual(firstSequence(started) + (yearMs / 1000) * 100_000);
    expect(formatKey(0, firstSequence(started))).toMatch(/^1\d{15}$/);
    expect(firstSequence(0)).toBe(1);
  });
});
