import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseLimitHeader,
  parsePolicyHeader,
  type QuotaPolicy,
  type ServiceLimit,
  writeLimitHeader,
  writePolicyHeader,
} from "../../src/core/rate-headers.ts";

const name = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)), minLength: 1 });
const integer = fc.integer({ min: 0, max: 999_999_999_999_999 });

describe("rate headers", () => {
  test("are written as quoted names with integer parameters", () => {
    expect(
      writePolicyHeader([
        { name: "requests", q: 100, w: 2 },
        { name: "daily", q: 5 },
      ]),
    ).toBe('"requests";q=100;w=2, "daily";q=5');
    expect(writeLimitHeader([{ name: "requests", r: 50, t: 1 }])).toBe('"requests";r=50;t=1');
  });

  test("what was written is read back", () => {
    const policy = fc.record({ name, q: integer, w: integer }, { requiredKeys: ["name", "q"] });
    const limit = fc.record({ name, r: integer, t: integer }, { requiredKeys: ["name", "r"] });
    fc.assert(
      fc.property(fc.array(policy, { minLength: 1 }), fc.array(limit, { minLength: 1 }), (policies, limits) => {
        const plainPolicies: QuotaPolicy[] = policies.map((entry) => ({ ...entry }));
        const plainLimits: ServiceLimit[] = limits.map((entry) => ({ ...entry }));
        expect(parsePolicyHeader(writePolicyHeader(plainPolicies))).toEqual(plainPolicies);
        expect(parseLimitHeader(writeLimitHeader(plainLimits))).toEqual(plainLimits);
      }),
    );
  });

  test("parameters of others are passed over, as the draft asks", () => {
    expect(parsePolicyHeader('"a";q=10;qu="requests";w=60;pk=:QXBwLTk5OQ==:')).toEqual([{ name: "a", q: 10, w: 60 }]);
    expect(parseLimitHeader('"a" ; r=3 ;t=4 ,  "b";r=0')).toBeNull();
    expect(parseLimitHeader('"a"; r=3;t=4 ,  "b";r=0')).toEqual([
      { name: "a", r: 3, t: 4 },
      { name: "b", r: 0 },
    ]);
  });

  test.each([
    ["empty", ""],
    ["a token for a name", "a;r=1"],
    ["no remaining", '"a";t=1'],
    ["a trailing comma", '"a";r=1,'],
    ["an open quote", '"a;r=1'],
    ["a decimal", '"a";r=1.5'],
    ["sixteen digits", '"a";r=1234567890123456'],
  ])("a value with %s is not of this form", (_label, value) => {
    expect(parseLimitHeader(value)).toBeNull();
  });
});
