import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { JobPolls, POLLS_PER_TENANT_MAX, type Woken } from "../../src/durable/job-polls.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const KIND = { tenant: "a", type: "pay" };

/** Holds a poll, and notes under its token how it went on. */
function watched(polls: JobPolls, log: string[]) {
  return (token: string, place = polls.newPlace(), kind = KIND): Promise<Woken> =>
    polls.hold({ ...kind, token, place }, 10_000).then((woken) => {
      log.push(`${token} ${woken}`);
      return woken;
    });
}

describe("held polls", () => {
  test("are woken one at a time, the oldest first", async () => {
    const polls = new JobPolls();
    const log: string[] = [];
    const hold = watched(polls, log);
    for (const token of ["first", "second", "third"]) void hold(token);
    expect(polls.wake(KIND)).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(["first job"]);
    polls.wake(KIND);
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(["first job", "second job"]);
  });

  test("keep their place when they come back with nothing", async () => {
    const polls = new JobPolls();
    const log: string[] = [];
    const hold = watched(polls, log);
    const place = polls.newPlace();
    void hold("old", place);
    void hold("new");
    polls.wake(KIND);
    await vi.advanceTimersByTimeAsync(0);
    void hold("old", place);
    polls.wake(KIND);
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(["old job", "old job"]);
  });

  test("are told apart by tenant and by type, whatever these are spelt like", async () => {
    const polls = new JobPolls();
    const log: string[] = [];
    const hold = watched(polls, log);
    void hold("other type", polls.newPlace(), { tenant: "a", type: "ship" });
    void hold("other tenant", polls.newPlace(), { tenant: "ap", type: "ay" });
    expect(polls.wake(KIND)).toBe(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual([]);
  });

  test("end with their time, and with their caller, and leave nothing behind", async () => {
    const polls = new JobPolls();
    const log: string[] = [];
    const hold = watched(polls, log);
    void hold("gone");
    void hold("patient");
    polls.leave("gone");
    await vi.advanceTimersByTimeAsync(9_999);
    expect(log).toEqual(["gone over"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(log).toEqual(["gone over", "patient over"]);
    expect(polls.wake(KIND)).toBe(false);
    expect(polls.waiting(KIND)).toBe(0);
    polls.leave("gone");
  });

  test("of one tenant are bounded, and another still has its own", async () => {
    const polls = new JobPolls();
    for (let n = 0; n < POLLS_PER_TENANT_MAX; n++) {
      void polls.hold({ ...KIND, token: String(n), place: polls.newPlace() }, 10_000);
    }
    expect([polls.fullFor("a"), polls.fullFor("b")]).toEqual(["tenant", null]);
    polls.leave("7");
    expect(polls.fullFor("a")).toBeNull();
  });
});
