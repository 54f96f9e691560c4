import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, judgeKey, parseIdempotencyKey } from "../../src/core/idempotency.ts";
import type { Json } from "../../src/core/json.ts";

const KEEP_MS = 1_000;
const used = { fingerprint: "f", answer: "first", atMs: 0 };
const claimed = { fingerprint: "f", untilMs: 500 };

describe("a key", () => {
  test.each([
    ["that nobody used", "f", null, null, 0, { verdict: "fresh" }],
    ["that was used", "f", used, null, 999, { verdict: "repeated", answer: "first" }],
    ["that was used with another body", "g", used, null, 999, { verdict: "conflict" }],
    ["that was used too long ago", "g", used, null, 1_000, { verdict: "fresh" }],
    ["that is claimed", "f", null, claimed, 0, { verdict: "in_flight", retryAfterSeconds: 1 }],
    [
      "that is claimed for long",
      "f",
      null,
      { ...claimed, untilMs: 60_000 },
      0,
      { verdict: "in_flight", retryAfterSeconds: 5 },
    ],
    ["that is claimed by another body", "g", null, claimed, 0, { verdict: "conflict" }],
    ["whose claim is void", "f", null, claimed, 500, { verdict: "fresh" }],
    ["whose claim is void, and was used", "f", used, claimed, 500, { verdict: "repeated", answer: "first" }],
    ["that is used, and not answered yet", "f", used, claimed, 0, { verdict: "in_flight", retryAfterSeconds: 1 }],
  ] as const)("%s", (_label, fingerprint, use, claim, nowMs, verdict) => {
    expect(judgeKey(fingerprint, use, claim, KEEP_MS, nowMs)).toEqual(verdict);
  });

  test.each([
    ["as it is", "abc-123", "abc-123"],
    ["with blanks around it", "  a b ", "a b"],
    ["quoted, as a structured field", '"a \\"b\\" \\\\"', 'a "b" \\'],
    ["with a quote that is not closed", '"abc', '"abc'],
    ["empty", "", null],
    ["of nothing in quotes", '""', null],
    ["too long", "k".repeat(256), null],
    ["as long as may be", "k".repeat(255), "k".repeat(255)],
    ["with a letter that is not ASCII", "é", null],
  ])("%s", (_label, header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });
});

describe("canonical JSON", () => {
  test("is one text for one value", () => {
    expect(canonicalJson({ b: [1, { d: 1e21, c: "é\u2028" }], a: null })).toBe(
      '{"a":null,"b":[1,{"c":"é\u2028","d":1e+21}]}',
    );
  });

  test("says what was said, and forgets only the order of members", () => {
    const shuffled = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, shuffled(member)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<Json>, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
  });
});
