import { type Quota, QuotaPacer } from "../../src/core/delivery/quota.ts";
import { Pace, type Speed, secondsUntilStarted } from "../../src/core/pace.ts";
import { seeded } from "../../src/core/random.ts";

// A burst of jobs in front of slots that run one each, in virtual milliseconds, and what one more caller is told at
// some moment in it. Just enough to hold estimates against what then happens.

export interface Burst {
  readonly jobs: number;
  /** From one arrival to the next; 0: all at once. */
  readonly everyMs: number;
  /** Jobs at a time. */
  readonly slots: number;
  readonly jobMs: number;
  /** Each job takes from 1 - spread to 1 + spread of that, evenly. */
  readonly spread: number;
  readonly quota: Quota | null;
}

type Event =
  | { readonly kind: "arrive" | "start"; readonly atMs: number }
  | { readonly kind: "end"; readonly atMs: number; readonly tookMs: number };

export interface Done {
  readonly events: readonly Event[];
  /** When each job started, in order; one more than there are jobs, which comes last of all. */
  readonly startsMs: readonly number[];
}

export function runBurst(burst: Burst, random: () => number): Done {
  const events: Event[] = [];
  const startsMs: number[] = [];
  const running: { readonly startMs: number; readonly endMs: number }[] = [];
  const quota = burst.quota && new QuotaPacer(burst.quota, 0);
  let arrived = 0;
  let timerMs = Number.POSITIVE_INFINITY;
  while (startsMs.length <= burst.jobs) {
    const arriveMs =
      arrived > burst.jobs ? Number.POSITIVE_INFINITY : Math.min(arrived, burst.jobs - 1) * burst.everyMs;
    const first = running[0];
    const atMs = Math.round(Math.min(arriveMs, first?.endMs ?? Number.POSITIVE_INFINITY, timerMs));
    if (first !== undefined && first.endMs <= atMs) {
      running.shift();
      events.push({ kind: "end", atMs, tookMs: atMs - first.startMs });
    } else if (arriveMs <= atMs + 0.5) {
      arrived += 1;
      if (arrived <= burst.jobs) events.push({ kind: "arrive", atMs });
    }
    timerMs = Number.POSITIVE_INFINITY;
    while (startsMs.length < arrived && running.length < burst.slots) {
      const waitMs = quota?.waitMs(atMs) ?? 0;
      if (waitMs > 0) {
        timerMs = atMs + waitMs;
        break;
      }
      quota?.take(atMs);
      startsMs.push(atMs);
      events.push({ kind: "start", atMs });
      const tookMs = Math.max(1, Math.round(burst.jobMs * (1 + burst.spread * (2 * random() - 1))));
      running.push({ startMs: atMs, endMs: atMs + tookMs });
      running.sort((a, b) => a.endMs - b.endMs);
    }
  }
  return { events, startsMs };
}

export interface Asked {
  readonly ahead: number;
  readonly speed: Speed;
  /** What it was told and what came, in seconds; told null: nobody knew. */
  readonly toldSeconds: number | null;
  readonly trueSeconds: number;
}

/** One more caller comes at a moment of a burst. @param endsOnly the pace is told of ends only */
export function askAt(burst: Burst, { events, startsMs }: Done, atMs: number, endsOnly: boolean): Asked {
  const pace = new Pace(0);
  const quota = burst.quota && new QuotaPacer(burst.quota, 0);
  let arrived = 0;
  let started = 0;
  for (const event of events) {
    if (event.atMs > atMs) break;
    if (event.kind === "arrive") arrived += 1;
    if (event.kind === "start") {
      started += 1;
      quota?.take(event.atMs);
      if (!endsOnly) pace.began(event.atMs);
    }
    if (event.kind === "end") {
      if (!endsOnly) pace.stopped(event.tookMs, event.atMs);
      pace.finished(1, event.atMs);
    }
    pace.setBusy(arrived > started, event.atMs);
  }
  const ahead = arrived - started;
  const speed = { perSecond: pace.perSecond(atMs), quota: quota?.level(atMs) ?? null };
  const trueSeconds = ((startsMs[arrived] ?? Number.NaN) - atMs) / 1000;
  return { ahead, speed, toldSeconds: secondsUntilStarted(ahead, speed), trueSeconds };
}

/** A burst as table 3 draws them: see the test that says what it draws. */
export function drawBurst(random: () => number, spread: number, withQuota: boolean): Burst {
  const slots = (1 + Math.floor(4 * random())) * (1 + Math.floor(8 * random()));
  const jobMs = Math.round(200 * 50 ** random());
  const jobs = slots * (5 + Math.floor(26 * random()));
  const overload = 1.5 + 8.5 * random();
  const everyMs = random() < 0.5 ? 0 : jobMs / slots / overload;
  const quota = { burst: 10 + Math.floor(91 * random()), perMinute: 20 + Math.floor(181 * random()) };
  return { jobs, everyMs, slots, jobMs, spread: spread * random(), quota: withQuota ? quota : null };
}

export interface Draw {
  /** The most that jobs may vary, as a part of their time. */
  readonly spread: number;
  readonly quota: boolean;
  /** The pace is told of ends only. */
  readonly endsOnly: boolean;
}

/** Relative errors of what was told, over so many bursts; sorted. Nobody knew: as if it were wrong by all of it. */
export function errorsOver(seeds: readonly number[], { spread, quota, endsOnly }: Draw): number[] {
  const errors = seeds.map((seed) => {
    const random = seeded(seed);
    const burst = drawBurst(random, spread, quota);
    const done = runBurst(burst, random);
    const firstEndMs = done.events.find(({ kind }) => kind === "end")?.atMs ?? 0;
    const nobodyWaitsMs = done.startsMs[burst.jobs - 1] ?? 0;
    const atMs = Math.floor(firstEndMs + random() * (nobodyWaitsMs - firstEndMs));
    const { toldSeconds, trueSeconds } = askAt(burst, done, atMs, endsOnly);
    return toldSeconds === null ? 1 : Math.abs(toldSeconds - trueSeconds) / trueSeconds;
  });
  return errors.sort((a, b) => a - b);
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
