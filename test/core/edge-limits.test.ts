import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EdgeLimits } from "../../src/core/edge-limits.ts";
import { type Limits, SCOPES, tokenBucketPolicy } from "../../src/core/policy.ts";
import { NOBODY } from "../../src/core/subjects.ts";

const bucket = tokenBucketPolicy({ tokens: 1, perSeconds: 1 }, 10);
const WHOLE: Limits = { version: 1, policies: [bucket] };
const BY_KEY: Limits = { version: 1, policies: [bucket, { ...bucket, name: "each", scope: "key" }] };

describe("what an isolate holds", () => {
  // Tenants' ids and keys may hold line breaks, colons and digits: what anybody might build names of.
  const name = fc.string({ unit: fc.constantFrom("a", "\n", ":", "1", "-", "k", "key"), minLength: 1, maxLength: 6 });
  const caller = fc.record({
    limiter: name,
    key: fc.option(name),
    ip: name,
    scopes: fc.subarray([...SCOPES], { minLength: 1 }),
  });

  test("is of one limiter and of the subjects that it counts, and of nobody else, whatever their names", () => {
    fc.assert(
      fc.property(caller, caller, (one, other) => {
        const edge = new EdgeLimits(0);
        const holdingOf = ({ limiter, key, ip, scopes }: typeof one) => {
          const policies = scopes.map((scope) => ({ ...bucket, name: scope, scope }));
          return edge.holding({ limiter, limits: { version: 1, policies }, subjects: { ...NOBODY, key, ip } });
        };
        const counts = ({ limiter, key, ip, scopes }: typeof one) =>
          JSON.stringify([limiter, scopes.includes("key") ? [key] : [], scopes.includes("ip") ? [ip] : []]);
        if (holdingOf(one) === holdingOf(other)) expect(counts(one)).toBe(counts(other));
        if (JSON.stringify(one) === JSON.stringify(other)) expect(holdingOf(one)).toBe(holdingOf(other));
      }),
    );
  });

  test("is ended and forgotten of one limiter alone", () => {
    const edge = new EdgeLimits(0);
    const other = edge.holding({ limiter: "t\nx", limits: WHOLE, subjects: NOBODY });
    edge.holding({ limiter: "t", limits: WHOLE, subjects: NOBODY });
    other.decide(1, 1_000);
    expect(edge.takeAll("t")).toEqual([]);
    edge.forget("t");
    expect([edge.size, edge.holding({ limiter: "t\nx", limits: WHOLE, subjects: NOBODY })]).toEqual([1, other]);
  });

  test("is bounded: what was asked for first is forgotten first", () => {
    const edge = new EdgeLimits(0, 3);
    const of = (key: string) => edge.holding({ limiter: "t", limits: BY_KEY, subjects: { ...NOBODY, key } });
    const [first, second] = ["a", "b", "c", "d"].map(of);
    expect([edge.size, of("b") === second, of("a") === first]).toEqual([3, true, false]);
    for (let n = 0; n < 100; n++) edge.holding({ limiter: `t${n}`, limits: WHOLE, subjects: NOBODY });
    expect(edge.size).toBe(3);
  });
});
