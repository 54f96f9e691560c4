import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KEPT_MS_MAX, SharedAnswer } from "../../src/core/shared-answer.ts";

const T0 = 1_700_000_000_000;

describe("an answer that many ask for", () => {
  test("is fetched for a caller that asks now and then", () => {
    const shared = new SharedAnswer<number>();
    for (let n = 0; n < 100; n++) {
      expect(shared.next(T0 + n * 500)).toEqual({ kind: "fetch" });
      shared.keep(n, T0 + n * 500);
    }
  });

  test("is at most a second old, and fetched ten times at once and twice a second at most", () => {
    const gaps = fc.array(fc.nat(30), { minLength: 1, maxLength: 500 });
    fc.assert(
      fc.property(gaps, fc.nat(400), (plan, fetchMs) => {
        const shared = new SharedAnswer<number>();
        const ends: { readonly atMs: number; readonly askedAtMs: number }[] = [];
        let nowMs = T0;
        let fetches = 0;
        for (const gapMs of plan) {
          nowMs += gapMs;
          for (const { atMs, askedAtMs } of ends) if (atMs <= nowMs) shared.keep(askedAtMs, askedAtMs);
          const next = shared.next(nowMs);
          if (next.kind === "fetch") {
            fetches += 1;
            ends.push({ atMs: nowMs + fetchMs, askedAtMs: nowMs });
          }
          if (next.kind === "kept") expect(nowMs - next.value).toBeLessThanOrEqual(KEPT_MS_MAX);
          // Once there was an answer there is one for every caller.
          if (ends.some(({ atMs }) => atMs <= nowMs)) expect(next.kind).not.toBe("busy");
        }
        expect(fetches).toBeLessThanOrEqual(10 + (nowMs - T0) / 500);
      }),
    );
  });

  test("is not what an earlier fetch brings later", () => {
    const shared = new SharedAnswer<string>();
    for (let n = 0; n < 10; n++) shared.next(T0);
    shared.keep("new", T0 + 10);
    shared.keep("old", T0);
    expect(shared.next(T0 + 20)).toEqual({ kind: "kept", value: "new" });
  });
});
