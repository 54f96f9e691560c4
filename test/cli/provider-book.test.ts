import { describe, expect, test } from "vitest";
import { ProviderBook, type Verdict } from "../../src/cli/provider-book.ts";
import { changeSettings, DEFAULTS, type ProviderSettings } from "../../src/cli/provider-settings.ts";
import { seeded } from "../../src/core/random.ts";

const START_MS = 1_700_000_000_000;
const SETTINGS: ProviderSettings = { ...DEFAULTS, jobMs: 100, quota: null };

function book(settings: Partial<ProviderSettings> = {}, seed = 1) {
  return new ProviderBook({ ...SETTINGS, ...settings }, seeded(seed), START_MS);
}

/** Deliveries of new jobs at one time, told by what happens to them. */
function deliver(to: ProviderBook, ids: readonly string[], sinceStartMs: number): Verdict[] {
  return ids.map((id) => to.receive(id, START_MS + sinceStartMs).verdict);
}

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const started = (verdicts: readonly Verdict[]) => verdicts.filter(({ kind }) => kind === "start").length;

describe("the backend's quota", () => {
  test("lets its burst start at once and then so many a minute, and says when the next may", () => {
    const backend = book({ quota: { burst: 50, perMinute: 50 } });
    const first = deliver(backend, ids("a", 60), 0);
    expect(started(first)).toBe(50);
    expect(first.at(-1)).toEqual({ kind: "quota", retryAfterSeconds: 2 });
    expect(started(deliver(backend, ids("b", 5), 1199))).toBe(0);
    expect(started(deliver(backend, ids("c", 5), 1200))).toBe(1);
    expect(started(deliver(backend, ids("d", 60), 61_200))).toBe(50);
    expect(backend.stats(START_MS + 61_200, false)).toMatchObject({ started: 101, refused429: 29, running: 101 });
  });

  test("waits that are told are rounded up to whole seconds and are enough", () => {
    const backend = book({ quota: { burst: 1, perMinute: 7 } });
    deliver(backend, ["a"], 0);
    const [refused] = deliver(backend, ["b"], 10);
    expect(refused).toEqual({ kind: "quota", retryAfterSeconds: 9 });
    expect(started(deliver(backend, ["b"], 10 + 9000))).toBe(1);
  });

  test("a change of quota keeps what was used", () => {
    const backend = book({ quota: { burst: 2, perMinute: 60 } });
    deliver(backend, ["a", "b"], 0);
    backend.settings = changeSettings(backend.settings, { quota: { burst: 3, perMinute: 60 } }, 0);
    expect(started(deliver(backend, ["c", "d"], 0))).toBe(1);
    backend.settings = changeSettings(backend.settings, { quota: null }, 0);
    expect(started(deliver(backend, ids("e", 20), 0))).toBe(20);
  });
});

describe("a job's id", () => {
  test("is done once: a repeat waits for the job that runs, and then is told its result, for no quota", () => {
    const backend = book({ quota: { burst: 1, perMinute: 1 } });
    const kinds = [];
    kinds.push(...deliver(backend, ["a", "a"], 0));
    backend.finish("a", false);
    kinds.push(...deliver(backend, ["a"], 200));
    expect(kinds.map(({ kind }) => kind)).toEqual(["start", "join", "repeat"]);
    expect(backend.stats(START_MS, true)).toMatchObject({
      started: 1,
      done: 1,
      repeatedDeliveries: 2,
      doneTwice: 0,
      distinctIds: 1,
      doneIds: ["a"],
    });
  });

  test("that failed may be tried again", () => {
    const backend = book();
    deliver(backend, ["a"], 0);
    backend.finish("a", true);
    expect(deliver(backend, ["a"], 0)).toMatchObject([{ kind: "start" }]);
    backend.finish("a", false);
    expect(backend.stats(START_MS, false)).toMatchObject({ started: 2, failed: 1, done: 1, repeatedDeliveries: 0 });
  });

  test("whose effect happens twice all the same is found out", () => {
    const backend = book();
    deliver(backend, ["a"], 0);
    backend.finish("a", false);
    backend.finish("a", false);
    expect(backend.stats(START_MS, false)).toMatchObject({ done: 1, doneTwice: 1 });
  });

  test("may be missing, which makes each delivery a job of its own", () => {
    const backend = book();
    const [one, other] = [backend.receive(null, START_MS), backend.receive(null, START_MS)];
    expect(one.id).not.toBe(other.id);
    expect(backend.stats(START_MS, false)).toMatchObject({ withoutId: 2, started: 2 });
  });
});

describe("an outage", () => {
  const outages = [{ kind: "503", fromMs: 1000, untilMs: 3500 } as const];

  test("turns every delivery away, for as long as it lasts, and says how long that is", () => {
    const backend = book({ outages });
    const kinds = [999, 1000, 3499, 3500].flatMap((ms) => deliver(backend, [`at${ms}`], ms));
    expect(kinds.map(({ kind }) => kind)).toEqual(["start", "outage", "outage", "start"]);
    expect(kinds.slice(1, 3)).toMatchObject([{ retryAfterSeconds: 3 }, { retryAfterSeconds: 1 }]);
    expect(backend.stats(START_MS, false)).toMatchObject({ refused503: 2, started: 2 });
  });

  test("can be begun, replaced and ended while it runs; those to come stay", () => {
    const begun = changeSettings({ ...SETTINGS, outages }, { outage: { seconds: 0.4, kind: "hang" } }, 500);
    expect(book(begun).outage(START_MS + 899)).toMatchObject({ kind: "hang" });
    expect(book(begun).outage(START_MS + 900)).toBeNull();
    const replaced = changeSettings(begun, { outage: { seconds: 10, kind: "refuse" } }, 600);
    expect(replaced.outages).toEqual([{ kind: "refuse", fromMs: 600, untilMs: 10_600 }, ...outages]);
    expect(changeSettings(replaced, { outage: null }, 700).outages).toEqual(outages);
  });
});

describe("a change of settings", () => {
  test("changes what it names and nothing else", () => {
    const changed = changeSettings(SETTINGS, { jobMs: 5, fault: "html", faultRate: 0.5, failRate: 1 }, 0);
    expect(changed).toMatchObject({ jobMs: 5, fault: "html", faultRate: 0.5, failRate: 1, quota: null, outages: [] });
    expect(changeSettings(SETTINGS, { quota: { burst: 5, perMinute: 0 } }, 0).quota).toBeNull();
  });

  test.each([
    ["a field that there is not", { job: 5 }, "job"],
    ["a number out of its range", { failRate: 2 }, "failRate"],
    ["a fault that there is not", { fault: "fire" }, "fault"],
    ["half a quota", { quota: { burst: 5 } }, "quota.perMinute"],
    ["what is no object", [], "object"],
  ])("names %s", (_label, change, name) => {
    expect(() => changeSettings(SETTINGS, change, 0)).toThrow(name);
  });
});

describe("chance", () => {
  test("is the same for the same seed, another for the next one, and even", () => {
    const fails = (seed: number) => {
      const backend = book({ failRate: 0.25 }, seed);
      return deliver(backend, ids("a", 4000), 0).map((verdict) => verdict.kind === "start" && verdict.fails);
    };
    expect(fails(7)).toEqual(fails(7));
    expect(fails(7)).not.toEqual(fails(8));
    const share = fails(7).filter(Boolean).length / 4000;
    expect(share).toBeGreaterThan(0.22);
    expect(share).toBeLessThan(0.28);
  });

  test("of a fault befalls its share, and those that turn away cost no quota", () => {
    const backend = book({ fault: "redirect", faultRate: 0.5, quota: { burst: 1000, perMinute: 1 } });
    const verdicts = deliver(backend, ids("a", 1000), 0);
    const away = verdicts.filter(({ kind }) => kind === "turned away").length;
    expect(away).toBeGreaterThan(400);
    expect(away).toBeLessThan(600);
    expect(backend.stats(START_MS, false)).toMatchObject({ faulted: away, started: 1000 - away });
    expect(started(deliver(backend, ids("b", 2 * away), 0))).toBeGreaterThan(away / 2);
  });
});
