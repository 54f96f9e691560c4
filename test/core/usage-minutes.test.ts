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
    expect(usage.waiting.pending).toEqual([
      { minute: 1, tier: "gold", admitted: 1, refused: 2, returned: 0 },
      { minute: 1, tier: "free", admitted: 1, refused: 0, returned: 0 },
      { minute: 2, tier: "free", admitted: 0, refused: 0, returned: 1 },
    ]);
  });

  test("is bounded, and no count is lost: the oldest minutes are told together", () => {
    const usage = new UsageMinutes();
    for (let minute = 0; minute < 3 * PENDING_MINUTES_MAX; minute++) usage.add(minute, "gold", one);
    expect(usage.waiting.pending).toHaveLength(PENDING_MINUTES_MAX);
    expect(total(usage.waiting.pending)).toBe(3 * PENDING_MINUTES_MAX);
    expect(usage.waiting.pending.at(-1)).toMatchObject({ minute: 3 * PENDING_MINUTES_MAX - 1, admitted: 1 });
  });

  test("is due when a later minute has come to its share", () => {
    const usage = new UsageMinutes();
    usage.add(10, "gold", one);
    expect(usage.isDue(11 * MINUTE_MS - 1, 0.25)).toBe(false);
    expect(usage.isDue(11 * MINUTE_MS + 14_999, 0.25)).toBe(false);
    expect(usage.isDue(11 * MINUTE_MS + 15_000, 0.25)).toBe(true);
    expect(new UsageMinutes().isDue(11 * MINUTE_MS, 0)).toBe(false);
    const dueAt = (ms: number) => usage.dueAtMs(10 * MINUTE_MS + ms, 0.25) - 10 * MINUTE_MS;
    expect([0, 59_999, 60_000, 75_000, 90_000, 121_000].map(dueAt)).toEqual([
      75_000, 75_000, 75_000, 75_000, 90_000, 135_000,
    ]);
  });
});

describe("a parcel", () => {
  test("is sent again as it was until it is known to have arrived, and what comes meanwhile is the next one's", () => {
    const usage = new UsageMinutes();
    expect(usage.makeParcel(2)).toBeNull();
    usage.add(1, "gold", one);
    const first = usage.makeParcel(2);
    usage.add(1, "gold", one);
    expect(usage.sending).toBe(first);
    expect(first).toMatchObject({ number: 1, minutes: [{ minute: 1, admitted: 1 }] });
    usage.arrived();
    expect(usage.isEmpty).toBe(false);
    expect(usage.makeParcel(2)).toMatchObject({ number: 2, minutes: [{ minute: 1, admitted: 1 }] });
    usage.arrived();
    expect(usage.isEmpty).toBe(true);
  });

  test("leaves the minute that goes on for the next one, unless it is to take all", () => {
    const usage = new UsageMinutes();
    for (const minute of [1, 2, 3]) usage.add(minute, "gold", one);
    expect(usage.makeParcel(3)).toMatchObject({ number: 1, minutes: [{ minute: 1 }, { minute: 2 }] });
    usage.arrived();
    expect(usage.makeParcel(3)).toBeNull();
    expect(usage.makeParcel(null)).toMatchObject({ number: 2, minutes: [{ minute: 3 }] });
  });

  test("whatever fails, and whenever memory is lost, all that was kept is in those that arrived and what waits", () => {
    const step = fc.oneof(fc.nat(300), fc.constantFrom("send", "fail", "restart"));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let usage = new UsageMinutes();
        const arrived = new Map<number, number>();
        let counted = 0;
        let minute = 0;
        for (const step of steps) {
          if (typeof step === "number") {
            minute += step % 3;
            usage.add(minute, `tier-${step % 2}`, { ...one, admitted: step });
            counted += step;
          } else if (step === "restart") {
            usage = new UsageMinutes(JSON.parse(JSON.stringify(usage.waiting)));
          } else {
            const parcel = usage.sending ?? usage.makeParcel(minute);
            if (parcel === null) continue;
            // Under one number there is one content, however often it is sent.
            expect(arrived.get(parcel.number) ?? total(parcel.minutes)).toBe(total(parcel.minutes));
            arrived.set(parcel.number, total(parcel.minutes));
            if (step === "send") usage.arrived();
          }
        }
        const { sending } = usage;
        if (sending !== null) arrived.set(sending.number, total(sending.minutes));
        const all = [...arrived.values()].reduce((sum, counts) => sum + counts, 0);
        expect(all + total(usage.waiting.pending)).toBe(counted);
      }),
    );
  });
});

test("a minute in which more came back than was admitted is shown as nothing", () => {
  expect(netAdmitted({ admitted: 5, returned: 2 })).toBe(3);
  expect(netAdmitted({ admitted: 1, returned: 2 })).toBe(0);
});
