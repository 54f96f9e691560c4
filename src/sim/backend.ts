import { type Bucket, charge, fullBucket, settle, weigh } from "../core/bucket.ts";
import type { AttemptResult } from "../core/delivery/answer.ts";
import { type Grains, grainsOf, tokenBucketPolicy } from "../core/policy.ts";
import { EPOCH_MS, type Loop } from "./loop.ts";
import type { BackendSpec, TroubleSpec } from "./spec.ts";

/**
 * The backend: takes jobs, does each in its time, and answers; or is down, silent, slow, failing, busy, or talks
 * nonsense. It has a quota of its own, with a clock of its own that nobody moves.
 */

/** What a backend that is busy or over its quota says. */
const BUSY_SECONDS = 5;
const SLOWER = 10;

export class Backend {
  readonly #spec: BackendSpec;
  readonly #loop: Loop;
  readonly #random: () => number;
  readonly #grains: Grains | null;
  #bucket: Bucket | null = null;
  #refusals = 0;

  /** @throws Error when its quota cannot be counted */
  constructor(spec: BackendSpec, loop: Loop, random: () => number) {
    this.#spec = spec;
    this.#loop = loop;
    this.#random = random;
    const { quota } = spec;
    this.#grains = quota && grainsOf(tokenBucketPolicy({ tokens: quota.perMinute, perSeconds: 60 }, quota.burst));
    if (quota !== null && this.#grains === null) throw new Error("the backend's quota cannot be counted");
    if (this.#grains !== null) this.#bucket = fullBucket(this.#grains, EPOCH_MS);
  }

  /** How often it has said that its quota is used up. */
  get quotaRefusals(): number {
    return this.#refusals;
  }

  /**
   * One attempt arrives.
   *
   * @param done called when the work is done, whether or not anybody hears of it
   * @param answer called with the answer, if there is one
   */
  deliver(done: () => void, answer: (result: AttemptResult) => void): void {
    const trouble = this.#trouble()?.kind;
    if (trouble === "down") {
      answer({ kind: "broken", code: "unreachable", why: "connection refused" });
      return;
    }
    if (trouble === "busy") {
      answer(answered(503, String(BUSY_SECONDS)));
      return;
    }
    if (trouble === "failing") {
      answer(answered(500, null));
      return;
    }
    const waitMs = this.#overQuotaMs();
    if (waitMs > 0) {
      this.#refusals += 1;
      answer(answered(429, String(Math.ceil(waitMs / 1000))));
      return;
    }
    const spread = this.#spec.spread === 0 ? 1 : 1 + this.#spec.spread * (2 * this.#random() - 1);
    const jobMs = this.#spec.jobMs * spread * (trouble === "slow" ? SLOWER : 1);
    this.#loop.after(Math.max(1, Math.round(jobMs)), () => {
      done();
      if (trouble === "silent") return;
      answer(trouble === "nonsense" ? PAGE : answered(200, null));
    });
  }

  #trouble(): TroubleSpec | undefined {
    const seconds = this.#loop.nowMs / 1000;
    return this.#spec.troubles.find(({ fromSeconds, toSeconds }) => seconds >= fromSeconds && seconds < toSeconds);
  }

  /** Milliseconds until its quota has room for this job, which it then counts; 0: it has. */
  #overQuotaMs(): number {
    if (this.#grains === null || this.#bucket === null) return 0;
    const bucket = settle(this.#bucket, this.#grains, EPOCH_MS + Math.floor(this.#loop.nowMs));
    const weighed = weigh(bucket, this.#grains, 1);
    this.#bucket = weighed.verdict === "fits" ? charge(bucket, this.#grains, 1) : bucket;
    return weighed.verdict === "later" ? weighed.waitMs : 0;
  }
}

function answered(status: number, retryAfter: string | null): AttemptResult {
  return { kind: "answered", status, retryAfter, body: { kind: "empty" } };
}

const PAGE: AttemptResult = {
  kind: "answered",
  status: 200,
  retryAfter: null,
  body: { kind: "nonsense", why: "a page for people" },
};
