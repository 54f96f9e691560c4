import { type Bucket, charge, fullBucket, settle, weigh } from "../core/bucket.ts";
import { Pace } from "../core/pace.ts";
import { type Grains, grainsOf, tokenBucketPolicy } from "../core/policy.ts";
import { covers, type Fault, type Outage, type ProviderSettings, type Quota } from "./provider-settings.ts";

/**
 * What the simulated backend decides and remembers: which delivery starts a job, which is a repeat of one, and which is
 * turned away. Time and chance are arguments; sockets and timers are the server's.
 *
 * A job is known by its id (`Idempotency-Key`). One that was done is never done again: a repeat is answered with the
 * first result, and one that comes while the job runs waits for its end. Neither costs quota.
 */

/** What happens to a delivery. */
export type Verdict =
  | { readonly kind: "start"; readonly jobMs: number; readonly fails: boolean; readonly fault: Fault }
  | { readonly kind: "repeat" }
  | { readonly kind: "join" }
  | { readonly kind: "quota"; readonly retryAfterSeconds: number }
  | { readonly kind: "turned away"; readonly fault: Fault }
  | { readonly kind: "outage"; readonly outage: Outage; readonly retryAfterSeconds: number };

export interface ProviderStats {
  /** Deliveries, whatever became of them. */
  readonly received: number;
  readonly started: number;
  readonly done: number;
  /** Jobs that ended with 500. */
  readonly failed: number;
  readonly refused429: number;
  readonly refused503: number;
  /** Deliveries that an outage left without an answer. */
  readonly unanswered: number;
  /** Deliveries that a fault befell. */
  readonly faulted: number;
  readonly running: number;
  readonly runningPeak: number;
  readonly distinctIds: number;
  /** Deliveries of a job that was done or was running. */
  readonly repeatedDeliveries: number;
  /** Jobs whose effect happened twice. There must be none. */
  readonly doneTwice: number;
  /** Deliveries without an id, each a job of its own. */
  readonly withoutId: number;
  readonly startsPerMinute: number;
  readonly secondsSinceStart: number;
  readonly doneIds?: readonly string[];
}

/** Ids that are remembered; past that the oldest are forgotten. Some hundred megabytes. */
const IDS_MAX = 1_000_000;
/** How many times as long a `slow` job takes. */
const SLOW_FACTOR = 10;
/** Faults that turn a job away before it starts. */
const TURNED_AWAY: ReadonlySet<Fault> = new Set([
  "redirect",
  "garbage-retry-after",
  "retry-after-date",
  "huge-retry-after",
]);

type JobState = "seen" | "running" | "done";

export class ProviderBook {
  settings: ProviderSettings;
  readonly #startMs: number;
  readonly #chance: () => number;
  readonly #jobs = new Map<string, JobState>();
  /** Not how fast jobs end, but how many have started: the counting by minute is the same. */
  readonly #starts: Pace;
  readonly #counts = {
    received: 0,
    started: 0,
    done: 0,
    failed: 0,
    refused429: 0,
    refused503: 0,
    unanswered: 0,
    faulted: 0,
    running: 0,
    runningPeak: 0,
    distinctIds: 0,
    repeatedDeliveries: 0,
    doneTwice: 0,
    withoutId: 0,
  };
  #bucket: Bucket | null = null;

  /** @param chance numbers in [0, 1); two are drawn for each delivery that could start, whatever the rates are */
  constructor(settings: ProviderSettings, chance: () => number, nowMs: number) {
    this.settings = settings;
    this.#chance = chance;
    this.#startMs = nowMs;
    this.#starts = new Pace(nowMs);
  }

  sinceStartMs(nowMs: number): number {
    return nowMs - this.#startMs;
  }

  /** The outage that is on, or null. */
  outage(nowMs: number): Outage | null {
    return this.settings.outages.find((one) => covers(one, this.sinceStartMs(nowMs))) ?? null;
  }

  /**
   * @param id the job's id; null for a delivery without one
   * @returns the id to end the job with, and what happens to the delivery; it is counted
   */
  receive(id: string | null, nowMs: number): { readonly id: string; readonly verdict: Verdict } {
    this.#counts.received += 1;
    if (id === null) this.#counts.withoutId += 1;
    const known = id ?? `without-id-${this.#counts.withoutId}`;
    const verdict = this.#judge(known, nowMs);
    this.#count(verdict, nowMs);
    if (verdict.kind === "start") this.#jobs.set(known, "running");
    return { id: known, verdict };
  }

  #judge(id: string, nowMs: number): Verdict {
    const state = this.#remember(id);
    const outage = this.outage(nowMs);
    if (outage !== null) {
      const leftMs = outage.untilMs - this.sinceStartMs(nowMs);
      return { kind: "outage", outage, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) };
    }
    if (state === "done") return { kind: "repeat" };
    if (state === "running") return { kind: "join" };
    const { jobMs, failRate, faultRate } = this.settings;
    const fails = this.#chance() < failRate;
    const fault = this.#chance() < faultRate ? this.settings.fault : "none";
    if (TURNED_AWAY.has(fault)) return { kind: "turned away", fault };
    const waitMs = this.#takeFromQuota(nowMs);
    if (waitMs > 0) return { kind: "quota", retryAfterSeconds: Math.ceil(waitMs / 1000) };
    return { kind: "start", jobMs: fault === "slow" ? jobMs * SLOW_FACTOR : jobMs, fails, fault };
  }

  #remember(id: string): JobState {
    const known = this.#jobs.get(id);
    if (known !== undefined) return known;
    this.#counts.distinctIds += 1;
    this.#jobs.set(id, "seen");
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > IDS_MAX && oldest !== undefined) this.#jobs.delete(oldest);
    return "seen";
  }

  /** @returns 0 when a job may start, which is then charged; else milliseconds until one may */
  #takeFromQuota(nowMs: number): number {
    const { quota } = this.settings;
    if (quota === null) return 0;
    const grains = quotaGrains(quota);
    const bucket = settle(this.#bucket ?? fullBucket(grains, nowMs), grains, nowMs);
    const verdict = weigh(bucket, grains, 1);
    this.#bucket = verdict.verdict === "fits" ? charge(bucket, grains, 1) : bucket;
    return verdict.verdict === "later" ? verdict.waitMs : 0;
  }

  #count(verdict: Verdict, nowMs: number): void {
    const counts = this.#counts;
    if ("fault" in verdict && verdict.fault !== "none") counts.faulted += 1;
    switch (verdict.kind) {
      case "start":
        counts.started += 1;
        counts.running += 1;
        counts.runningPeak = Math.max(counts.runningPeak, counts.running);
        this.#starts.finished(1, nowMs);
        return;
      case "repeat":
      case "join":
        counts.repeatedDeliveries += 1;
        return;
      case "quota":
        counts.refused429 += 1;
        return;
      case "turned away":
        counts.refused503 += verdict.fault === "redirect" ? 0 : 1;
        return;
      case "outage":
        if (verdict.outage.kind === "503") counts.refused503 += 1;
        else counts.unanswered += 1;
        return;
    }
  }

  /** Ends a job that has started: its effect has happened, or it failed and may be tried again. */
  finish(id: string, fails: boolean): void {
    this.#counts.running -= 1;
    if (fails) {
      this.#counts.failed += 1;
      this.#jobs.set(id, "seen");
      return;
    }
    if (this.#jobs.get(id) === "done") this.#counts.doneTwice += 1;
    else this.#counts.done += 1;
    this.#jobs.set(id, "done");
  }

  /** @param withIds also the ids of the jobs that are done, in the order in which they were first seen */
  stats(nowMs: number, withIds: boolean): ProviderStats {
    const stats = {
      ...this.#counts,
      startsPerMinute: this.#starts.completedLastMinute(nowMs),
      secondsSinceStart: Math.round(this.sinceStartMs(nowMs) / 100) / 10,
    };
    if (!withIds) return stats;
    return { ...stats, doneIds: [...this.#jobs].flatMap(([id, state]) => (state === "done" ? [id] : [])) };
  }
}

function quotaGrains({ burst, perMinute }: Quota): Grains {
  const grains = grainsOf(tokenBucketPolicy({ tokens: perMinute, perSeconds: 60 }, burst));
  if (grains === null) throw new Error(`a quota of ${burst} and ${perMinute} a minute cannot be counted exactly`);
  return grains;
}
