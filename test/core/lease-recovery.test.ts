import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAnswer } from "../../src/core/limiter-answer.ts";
import { type Limits, tokenBucketPolicy } from "../../src/core/policy.ts";
import { anyEvent, World } from "./lease-events.ts";
import { Edge, LEASE_MS, ObjectSide } from "./lease-world.ts";

// Whatever becomes of calls, an isolate is lent tokens again: no failure lasts longer than a lease.

function bucket(perSecond: number, burst: number): Limits {
  return { version: 1, policies: [tokenBucketPolicy({ tokens: perSecond, perSeconds: 1 }, burst)] };
}

describe("after a call of the limiter has failed", () => {
  test("every isolate decides by leases again, whatever calls, crashes and clocks did", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 160 }), (events) => {
        const world = new World(bucket(200, 300));
        for (const event of events) world.apply(event);
        world.expectBound(200, 300);
        for (const isolate of [0, 1, 2]) expect(world.decidedHereAfterwards(isolate)).toBeGreaterThan(400);
      }),
      { numRuns: 300 },
    );
  });

  test("a call of which nothing is ever heard carries the lease for a second and no longer", () => {
    const limits = bucket(1_000, 2_000);
    const object = new ObjectSide(limits);
    const edge = new Edge(limits, object, LEASE_MS);
    for (let n = 0; n < 20; n++) edge.check(1, LEASE_MS);
    edge.clockMs += LEASE_MS;
    const lost = edge.begin(1);
    expect(lost).toHaveProperty("call");
    edge.clockMs += LEASE_MS;
    for (let n = 0; n < 20; n++) edge.check(1, LEASE_MS);
    const before = edge.admittedHere;
    if ("call" in lost) edge.hear(lost.call);
    // What comes after it was given up changes nothing.
    for (let n = 0; n < 5; n++) edge.check(1, LEASE_MS);
    expect(edge.admittedHere - before).toBe(5);
  });
});

describe("an answer of another version", () => {
  const meters = [["k", { type: "token-bucket", debt: 0, perToken: 1, perMs: 1, atMs: 0 }]];
  const grant = { tokens: 5, change: 1, receipt: { life: 0.5, number: 2, total: 6, ids: ["k"] } };
  const view = { meters, atMs: 0, lastsMs: 1_000, grant };
  const allowed = { outcome: "allowed", reports: [] };

  test("that is understood is taken as it is", () => {
    expect(readAnswer({ ...allowed, view })).toEqual({ ...allowed, view });
    expect(readAnswer({ outcome: "unknown_limits" })).toEqual({ outcome: "unknown_limits" });
  });

  test.each([undefined, null, "allowed", {}, { outcome: "ok", reports: [] }, { outcome: "allowed" }])(
    "without a decision is none: %o",
    (answer) => expect(readAnswer(answer)).toBeNull(),
  );

  test.each([
    ["no meters", { ...view, meters: undefined }],
    ["a meter of an unknown type", { ...view, meters: [["k", { ...meters[0], type: "leaky" }]] }],
    ["tokens that are no number", { ...view, grant: { ...grant, tokens: Number.NaN } }],
    ["half a token", { ...view, grant: { ...grant, tokens: 0.5 } }],
    ["a lease of an hour", { ...view, lastsMs: 3_600_000 }],
    ["a grant without a receipt", { ...view, grant: { tokens: 5, change: 1 } }],
    ["a turn without times", { ...view, turn: { cost: 1 } }],
  ])("whose view has %s decides, and lends nothing", (_label, odd) => {
    expect(readAnswer({ ...allowed, view: odd })).toEqual(allowed);
  });

  test("never throws, and never lends what is not a whole number of tokens", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (answer, odd) => {
        readAnswer(answer);
        const read = readAnswer({ ...allowed, view: { ...view, grant: odd } });
        const lent = read?.outcome === "allowed" ? read.view?.grant : null;
        expect(lent == null || Number.isSafeInteger(lent.tokens)).toBe(true);
      }),
    );
  });
});
