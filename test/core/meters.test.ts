import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileLimits, decide } from "../../src/core/limiter.ts";
import { MeterTable } from "../../src/core/meters.ts";
import { type Policy, tokenBucketPolicy } from "../../src/core/policy.ts";
import { isSubjectId, keyOfId, NOBODY, overflowId, policyKey, subjectId, typeOfId } from "../../src/core/subjects.ts";

/** A minute's start. */
const T0 = 28_333_334 * 60_000;

const perKey = (limit: number, windowSeconds = 60, name = "user"): Policy => {
  return { type: "fixed-window", name, scope: "key", limit, windowSeconds };
};

/** A table with this bound, and requests for keys as the object makes them. */
function gate(subjectsMax: number, ...policies: readonly Policy[]) {
  const limits = compileLimits({ version: 1, policies });
  const table = new MeterTable([], subjectsMax);
  const ask = (key: string, nowMs: number, cost = 1) => {
    const { decision, next } = decide(table, limits, cost, nowMs, { ...NOBODY, key });
    table.commit(next, nowMs, decision.outcome === "allowed" && cost > 0);
    return decision.outcome === "allowed";
  };
  return { table, ask };
}

describe("ids of meters", () => {
  const anyPolicy = fc.record({
    type: fc.constantFrom("token-bucket", "fixed-window", "sliding-window"),
    scope: fc.constantFrom("tenant", "credential", "ip", "key"),
    name: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", " ", "t") }),
  }) satisfies fc.Arbitrary<Pick<Policy, "type" | "scope" | "name">>;
  const anySubject = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", "\n", "\0") });

  test("differ when type, scope, policy or subject differ", () => {
    fc.assert(
      fc.property(anyPolicy, anySubject, anyPolicy, anySubject, (policy, subject, otherPolicy, otherSubject) => {
        const same = policyKey(policy) === policyKey(otherPolicy) && subject === otherSubject;
        expect(JSON.stringify([policy, subject]) === JSON.stringify([otherPolicy, otherSubject])).toBe(same);
        const [key, other] = [policyKey(policy), policyKey(otherPolicy)];
        expect(subjectId(key, subject) === subjectId(other, otherSubject)).toBe(same);
        expect(subjectId(key, subject)).not.toBe(overflowId(other));
      }),
    );
  });

  test("tell their policy, their type and whether they are one subject's", () => {
    fc.assert(
      fc.property(anyPolicy, anySubject, (policy, subject) => {
        const key = policyKey(policy);
        for (const id of [key, overflowId(key), subjectId(key, subject)]) {
          expect([keyOfId(id), typeOfId(id)]).toEqual([key, policy.type]);
        }
        expect([key, overflowId(key), subjectId(key, subject)].map(isSubjectId)).toEqual([false, false, true]);
      }),
    );
  });
});

describe("the bound on subjects", () => {
  test("is never passed, by one request for several policies neither", () => {
    const { table, ask } = gate(5, perKey(9, 60, "one"), perKey(9, 60, "two"));
    for (let n = 0; n < 10; n++) ask(`k${n}`, T0);
    expect(table.subjects).toBe(5);
  });

  test("is not passed either by a request whose own idle meter makes room for another of its own", () => {
    const { table, ask } = gate(1, perKey(9, 20, "one"), perKey(9, 20, "two"));
    ask("a", T0);
    ask("a", T0 + 20_000);
    expect(table.subjects).toBe(1);
  });

  test("makes those for whom there is no room share one limit, and leaves the others their own", () => {
    const { ask } = gate(2, perKey(3));
    const spend = (key: string) => [1, 2, 3, 4].map(() => ask(key, T0)).filter(Boolean).length;
    expect(["a", "b", "c", "d"].map(spend)).toEqual([3, 3, 3, 0]);
  });

  test("gives up whoever owes nothing any more, and nobody before", () => {
    const { table, ask } = gate(2, perKey(1));
    ask("a", T0);
    ask("b", T0 + 1_000);
    ask("c", T0 + 59_999);
    expect(ask("d", T0 + 59_999)).toBe(false);
    expect(["c", "d"].map((key) => ask(key, T0 + 60_999))).toEqual([true, true]);
    expect(table.subjects).toBe(2);
    expect(table.takeForgotten(1)).toHaveLength(1);
    expect(table.takeForgotten(9)).toHaveLength(1);
    expect(table.takeForgotten(9)).toEqual([]);
  });

  test("a subject that has shared gets a limit of its own that owes what the shared one does", () => {
    const slow: Policy = { ...tokenBucketPolicy({ tokens: 1, perSeconds: 60 }, 2), scope: "key" };
    const { ask, table } = gate(1, perKey(1, 10), slow);
    // The window's meter takes the one place, so the bucket's is shared from the start.
    expect(ask("a", T0)).toBe(true);
    expect(ask("b", T0 + 10_000)).toBe(true);
    expect(ask("c", T0 + 20_000)).toBe(false);
    expect(ask("b", T0 + 60_000)).toBe(true);
    expect(table.subjects).toBe(1);
  });

  test("a refusal and a look take no place", () => {
    const { ask, table } = gate(5, perKey(1));
    ask("a", T0, 2);
    ask("b", T0, 0);
    expect(table.subjects).toBe(0);
  });

  test("a step back of the clock brings nothing back that was forgotten with its window", () => {
    const { ask } = gate(1, perKey(1));
    ask("a", T0 + 59_000);
    ask("b", T0 + 60_000);
    expect(ask("a", T0 + 59_500)).toBe(true);
    // In the window that the object is in, not once more in the one before.
    expect(ask("a", T0 + 61_000)).toBe(false);
  });

  test("nor what was forgotten while nobody asked", () => {
    const { table, ask } = gate(9, perKey(1));
    ask("a", T0 + 59_000);
    table.forget(subjectId(policyKey(perKey(1)), "a"), T0 + 60_000);
    expect(ask("a", T0 + 59_500)).toBe(true);
    expect(ask("a", T0 + 61_000)).toBe(false);
  });

  test("a clock that steps far back locks nobody out", () => {
    const { ask } = gate(1, perKey(1));
    ask("a", T0);
    const back = T0 - 3_600_000;
    ask("b", back);
    expect(ask("c", back + 60_000)).toBe(true);
  });

  test("meters of policies that are gone make room in their own time", () => {
    const { table, ask } = gate(1, perKey(1));
    ask("a", T0);
    const slow = compileLimits({ version: 2, policies: [perKey(1, 60, "other")] });
    const other = (key: string, nowMs: number) => {
      const { decision, next } = decide(table, slow, 1, nowMs, { ...NOBODY, key });
      table.commit(next, nowMs, decision.outcome === "allowed");
      return decision.outcome === "allowed";
    };
    expect(["b", "c"].map((key) => other(key, T0))).toEqual([true, false]);
    expect(["b", "c"].map((key) => other(key, T0 + 60_000))).toEqual([true, true]);
  });

  test("never lets one subject have more than its limit, with whatever bound, in any order", () => {
    const plan = fc.array(fc.tuple(fc.nat(9_000), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 3 })));
    const buckets: Policy = { ...tokenBucketPolicy({ tokens: 1, perSeconds: 5 }, 3), name: "b", scope: "key" };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 }), plan, (subjectsMax, steps) => {
        const { ask, table } = gate(subjectsMax, perKey(4, 20), buckets);
        const admitted = new Map<string, { at: number; cost: number }[]>();
        let at = T0;
        for (const [gap, who, cost] of steps) {
          at += gap;
          const key = `k${who}`;
          if (ask(key, at, cost)) admitted.set(key, [...(admitted.get(key) ?? []), { at, cost }]);
          expect(table.subjects).toBeLessThanOrEqual(subjectsMax);
        }
        for (const costs of admitted.values()) {
          for (const [i, first] of costs.entries()) {
            const rest = costs.slice(i);
            const sumUntil = (end: number) => rest.reduce((sum, one) => (one.at < end ? sum + one.cost : sum), 0);
            const windowEnd = (Math.floor(first.at / 20_000) + 1) * 20_000;
            expect(sumUntil(windowEnd)).toBeLessThanOrEqual(4);
            for (const { at: last } of rest) {
              expect(sumUntil(last + 1) * 5_000).toBeLessThanOrEqual(3 * 5_000 + (last - first.at));
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
