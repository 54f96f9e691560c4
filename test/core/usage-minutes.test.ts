import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addCounts,
  MINUTE_MS,
  NO_USAGE,
  netAdmitted,
  PENDING_MINUTES_MAX,
  type UsageCounts,
  UsageMinutes,
} from "../../src/core/usage-minutes.ts";

const one: UsageCounts = { ...NO_USAGE, admitted: 1 };
const total = (minutes: readonly UsageCounts[]) => minutes.reduce(addCounts, NO_USAGE).admitted;

describe("what waits to be written", () => {
  test("is one entry a minute and tier, oldest first", () => {
    const usage = new UsageMinutes();
    usage.add(1, "gold", one);
    usage.add(1, "gold", { ...NO_USAGE, refused: 2 });
    usage.add(1, "free", one);
    usage.add(2, "free", { ...NO_USAGE, returned: 1 });
    expect(usage.pending).toEqual([
      { minute: 1, tier: "gold", admitted: 1, refused: 2, returned: 0 },
      { minute: 1, tier: "free", admitted: 1, refused: 0, returned: 0 },
      { minute: 2, tier: "free", admitted: 0, refused: 0, returned: 1 },
    ]);
  });

  test("is bounded, and no count is lost: the oldest minutes are told together", () => {
    const usage = new UsageMinutes();
    for (let minute = 0; minute < 3 * PENDING_MINUTES_MAX; minute++) usage.add(minute, "gold", one);
    expect(usage.pending).toHaveLength(PENDING_MINUTES_MAX);
    expect(total(usage.pending)).toBe(3 * PENDING_MINUTES_MAX);
    expect(usage.pending.at(-1)).toMatchObject({ minute: 3 * PENDING_MINUTES_MAX - 1, admitted: 1 });
  });

  test("is due when a later minute has come to its share", () => {
    const usage = new UsageMinutes();
    usage.add(10, "gold", one);
    expect(usage.isDue(11 * MINUTE_MS - 1, 0.25)).toBe(false);
    expect(usage.isDue(11 * MINUTE_MS + 14_999, 0.25)).toBe(false);
    expect(usage.isDue(11 * MINUTE_MS + 15_000, 0.25)).toBe(true);
    expect(new UsageMinutes().isDue(11 * MINUTE_MS, 0)).toBe(false);
  });
});

describe("a parcel", () => {
  test("is sent again as it was until it is known to have arrived, and what comes meanwhile is the next one's", () => {
    const usage = new UsageMinutes();
    expect(usage.parcel()).toBeNull();
    usage.add(1, "gold", one);
    const first = usage.parcel();
    usage.add(1, "gold", one);
    expect(usage.parcel()).toBe(first);
    expect(first).toMatchObject({ number: 1, minutes: [{ minute: 1, admitted: 1 }] });
    usage.arrived();
    expect(usage.isEmpty).toBe(false);
    expect(usage.parcel()).toMatchObject({ number: 2, minutes: [{ minute: 1, admitted: 1 }] });
    usage.arrived();
    expect(usage.isEmpty).toBe(true);
  });

  test("whatever fails, all that was counted is in those that arrived and what waits", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(300), fc.constant("send"), fc.constant("fail"))), (steps) => {
        const usage = new UsageMinutes();
        let counted = 0;
        let arrived = 0;
        let minute = 0;
        for (const step of steps) {
          if (typeof step === "number") {
            minute += step % 3;
            usage.add(minute, `tier-${step % 2}`, { ...one, admitted: step });
            counted += step;
            continue;
          }
          const parcel = usage.parcel();
          if (step === "fail" || parcel === null) continue;
          arrived += total(parcel.minutes);
          usage.arrived();
        }
        expect(arrived + total(usage.parcel()?.minutes ?? []) + total(usage.pending)).toBe(counted);
      }),
    );
  });
});

test("a minute in which more came back than was admitted is shown as nothing", () => {
  expect(netAdmitted({ admitted: 5, returned: 2 })).toBe(3);
  expect(netAdmitted({ admitted: 1, returned: 2 })).toBe(0);
});
