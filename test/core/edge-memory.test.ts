import { describe, expect, test, vi } from "vitest";
import { OverShares, WantingTenants } from "../../src/core/edge-memory.ts";

describe("tenants that were told that they have their share", () => {
  test("hear the same for 200 ms, and then ask the engine again", () => {
    const shares = new OverShares();
    shares.hear("a", 7, 1_000);
    expect([1_000, 1_199, 1_200].map((atMs) => shares.secondsFor("a", atMs))).toEqual([7, 7, null]);
    expect(shares.secondsFor("b", 1_000)).toBeNull();
  });

  test("are not held to it by a clock that stepped back", () => {
    const shares = new OverShares();
    shares.hear("a", 7, 100_000);
    expect(shares.secondsFor("a", 50_000)).toBeNull();
  });

  test("are at most 1000, and the oldest is forgotten first", () => {
    const shares = new OverShares();
    for (let i = 0; i < 1_001; i++) shares.hear(`t${i}`, 7, 1_000);
    expect([0, 1, 1_000].map((i) => shares.secondsFor(`t${i}`, 1_000))).toEqual([null, 7, 7]);
  });
});

describe("tenants that want a place", () => {
  test("are counted, and named once", () => {
    const wanting = new WantingTenants();
    for (const tenant of ["a", "b", "a"]) wanting.refused({ tenant, weight: 1 }, 1_000);
    expect(wanting.take(1_300)).toEqual([
      { tenant: "a", weight: 1, refused: 2, agoMs: 300 },
      { tenant: "b", weight: 1, refused: 1, agoMs: 300 },
    ]);
    expect(wanting.take(1_000)).toEqual([]);
  });

  test("are at most 100; those that are known are counted on", () => {
    const wanting = new WantingTenants();
    for (let i = 0; i < 101; i++) wanting.refused({ tenant: `t${i}`, weight: 1 }, 1_000);
    wanting.refused({ tenant: "t0", weight: 1 }, 1_000);
    const taken = wanting.take(1_000);
    expect([taken.length, taken[0]?.refused]).toEqual([100, 2]);
  });

  test("are forgotten when nobody came for seconds: what they wanted then they may not want now", () => {
    const wanting = new WantingTenants();
    wanting.refused({ tenant: "a", weight: 1 }, 1_000);
    wanting.refused({ tenant: "b", weight: 1 }, 4_000);
    expect([wanting.has("a", 5_999), wanting.has("a", 6_000)]).toEqual([true, false]);
    expect(wanting.take(6_000)).toEqual([{ tenant: "b", weight: 1, refused: 1, agoMs: 2_000 }]);
  });
});

test("a full table of tenants that want a place is looked through once a second, and not with every refusal", () => {
  const wanting = new WantingTenants();
  const looks = vi.spyOn(Map.prototype, Symbol.iterator);
  for (let n = 0; n < 10_000; n++) wanting.refused({ tenant: `t${n}`, weight: 1 }, 1_000 + n / 5);
  expect(looks.mock.calls.length).toBeLessThanOrEqual(3);
  looks.mockRestore();
});
