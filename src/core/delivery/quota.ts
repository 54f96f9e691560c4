import { type Bucket, tokenBucketRule } from "../bucket.ts";
import { writeAhead } from "../charge-ahead.ts";
import type { Rule } from "../meter.ts";
import type { QuotaLevel } from "../pace.ts";
import { tokenBucketPolicy } from "../policy.ts";

/**
 * A quota of the backend that the deployment has told us of: so many jobs at once, then so many a minute, refilled
 * continuously. Starting only what it has room for means that the backend never has to say no, and that estimates know
 * what is coming.
 */

export interface Quota {
  /** Jobs that may start at once, ≥ 1. */
  readonly burst: number;
  /** Jobs a minute after that, ≥ 1. */
  readonly perMinute: number;
  /** How many share that rate alike; 1 by default. */
  readonly parts?: number;
}

export class QuotaPacer {
  readonly #rule: Rule<Bucket>;
  readonly #perSecond: number;
  #bucket: Bucket;
  #written: Bucket | undefined;
  /** Whether our count has fallen back behind the backend's since it was last full. */
  #isBehind = false;

  /**
   * @param written what an earlier life left on disk; undefined: nothing was started yet
   * @throws Error when the quota cannot be counted exactly
   */
  constructor({ burst, perMinute, parts = 1 }: Quota, nowMs: number, written?: Bucket) {
    const rule = tokenBucketRule(tokenBucketPolicy({ tokens: perMinute, perSeconds: 60 * parts }, burst));
    if (rule === null) throw new Error(`a quota of ${burst} and ${perMinute} a minute cannot be counted`);
    this.#rule = rule;
    this.#perSecond = perMinute / (60 * parts);
    this.#written = written;
    this.#bucket = rule.settle(written ?? rule.start(nowMs), nowMs);
  }

  /** How many jobs could start now, and how many more each second. */
  level(nowMs: number): QuotaLevel {
    return { tokens: this.#rule.remaining(this.#settled(nowMs)), perSecond: this.#perSecond };
  }

  /** Milliseconds until one job may start; 0: now. */
  waitMs(nowMs: number): number {
    const weighed = this.#rule.weigh(this.#settled(nowMs), 1);
    return weighed.verdict === "later" ? weighed.waitMs : 0;
  }

  /**
   * Counts a job that starts now. The backend counts it when it arrives there, and its quota comes back from the first
   * arrival on; so once the quota is used up ours has to come back that much later, or every job would be a little early.
   */
  take(nowMs: number): void {
    const bucket = this.#rule.charge(this.#settled(nowMs), 1);
    const late = !this.#isBehind && this.#rule.remaining(bucket) === 0;
    this.#bucket = late ? { ...bucket, debt: bucket.debt + ARRIVAL_MS * bucket.perMs } : bucket;
    this.#isBehind ||= late;
  }

  /** The backend has said that its quota is used up for so long: ours is then, too. It never has more than before. */
  usedUpFor(waitMs: number, nowMs: number): void {
    const bucket = this.#settled(nowMs);
    // So that exactly one token is there when the wait is over.
    const debt = (this.#rule.limit - 1) * bucket.perToken + Math.min(waitMs, USED_UP_MS_MAX) * bucket.perMs;
    this.#bucket = { ...bucket, debt: Math.max(bucket.debt, debt) };
  }

  /** What has to be written so that a later life mints nothing; null while what is written covers it. */
  ahead(): Bucket | null {
    const ahead = writeAhead(this.#rule, this.#written, this.#bucket);
    this.#written = ahead ?? this.#written;
    return ahead;
  }

  #settled(nowMs: number): Bucket {
    this.#bucket = this.#rule.settle(this.#bucket, nowMs);
    this.#isBehind &&= this.#bucket.debt > 0;
    return this.#bucket;
  }
}

/** A first connection takes so long to be made, which later jobs do not have to wait for. */
const ARRIVAL_MS = 100;

/** A minute's refill is what the quota is counted in; a longer word of the backend is obeyed by the circuit. */
const USED_UP_MS_MAX = 60_000;
