import { type Bucket, charge, fullBucket, settle, weigh } from "../core/bucket.ts";
import { type Grains, grainsOf, tokenBucketPolicy } from "../core/policy.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { EngineParts } from "./engine-parts.ts";
import { GROUP_MAX } from "./group-commit.ts";
import { fireTimers, runCommand, TURN_STEPS_MAX } from "./runner.ts";
import { CONTINUE_MS, restartFromDisk, tellEnded, type WorkHooks, type Works } from "./works.ts";

/**
 * The one writer: runs what waits, in batches, until nothing waits or an operator pauses it. An idle engine runs a
 * command in the event that brought it, so that acceptance and end are one commit. Timers of the engine that are due go
 * off behind each batch, or by a timer of the object's own when there is none.
 */

/**
 * Commands per turn: other requests get their turn in between, and a turn's writes are one commit. At least as many as
 * come in one commit, so that an idle engine runs them in it.
 */
const BATCH_MAX = GROUP_MAX;

export class Writer implements Works {
  readonly #parts: EngineParts;
  readonly #hooks: WorkHooks;
  readonly #speed: Speed | null;
  /** Of timers. After a restart each tenant has its burst anew. */
  #runs = false;
  #rests = false;
  #wake: ReturnType<typeof setTimeout> | null = null;

  constructor(parts: EngineParts, hooks: WorkHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
    this.#speed = parts.config.ENGINE_RATE_MAX === 0 ? null : new Speed(parts.config.ENGINE_RATE_MAX, Date.now());
  }

  /** The first batch runs before this returns, also while the writer rests and something critical has come. */
  start(): void {
    if (!this.#rests || this.#parts.queue.criticalDepth === 0) {
      void this.#work();
      return;
    }
    try {
      this.#batch();
    } catch (error) {
      restartFromDisk(this.#parts, error);
    }
  }

  wakeInMs(nowMs: number): number | null {
    const timerInMs = this.#timerInMs(nowMs);
    if (!this.#hasWork) return timerInMs;
    return timerInMs === null ? CONTINUE_MS : Math.min(CONTINUE_MS, timerInMs);
  }

  async #work(): Promise<void> {
    if (this.#runs) return;
    this.#runs = true;
    try {
      for (let restMs = this.#batch(); restMs !== null; restMs = this.#batch()) {
        this.#rests = true;
        await scheduler.wait(restMs);
        this.#rests = false;
      }
      this.#runs = false;
      this.#planTimer(Date.now());
    } catch (error) {
      restartFromDisk(this.#parts, error);
    }
  }

  /** True while there is work that may go on. */
  get #hasWork(): boolean {
    return !this.#parts.settings.paused && this.#parts.waiting > 0;
  }

  /** Runs a batch. @returns how long to rest before the next, in milliseconds; null when there is nothing to do */
  #batch(): number | null {
    const { queue, pace, ledger } = this.#parts;
    const nowMs = Date.now();
    this.#hooks.expire(nowMs);
    let ended = 0;
    let restMs = 0;
    const enough = this.#parts.embedded.stepsSpent() + TURN_STEPS_MAX;
    for (let n = 0; n < BATCH_MAX && this.#hasWork && this.#parts.embedded.stepsSpent() <= enough; n++) {
      restMs = this.#speed?.take(queue.criticalDepth > 0, nowMs) ?? 0;
      const entry = restMs > 0 ? undefined : queue.take();
      if (entry === undefined) break;
      if (this.#run(entry, nowMs) === "ended") ended += 1;
    }
    pace.finished(ended, nowMs);
    ledger.settle(nowMs);
    const moreTimers = !this.#parts.settings.paused && fireTimers(this.#parts, nowMs);
    this.#hooks.madeRoom();
    pace.setBusy(this.#hasWork, nowMs);
    if (moreTimers) return 0;
    return this.#hasWork ? restMs : null;
  }

  /** In how many milliseconds a timer may go off; null: there is none, or the engine is paused. */
  #timerInMs(nowMs: number): number | null {
    if (this.#parts.settings.paused) return null;
    const dueMs = this.#parts.embedded.nextTimerMs(this.#parts.shares.waiting(nowMs));
    const times = [dueMs, this.#parts.shares.nextMs(nowMs)].filter((atMs) => atMs !== null);
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - nowMs);
  }

  /** Goes on when the next timer is due, if that is soon: what lies further ahead is the alarm's alone. */
  #planTimer(nowMs: number): void {
    if (this.#wake !== null) clearTimeout(this.#wake);
    const inMs = this.#timerInMs(nowMs);
    this.#wake = inMs === null || inMs > SOON_MS ? null : setTimeout(() => this.start(), inMs);
  }

  #run(entry: QueueEntry, nowMs: number): "ended" | "again" {
    const run = runCommand(this.#parts, entry, nowMs);
    if (run === "again") this.#parts.queue.restore(entry);
    else tellEnded(this.#parts, entry, "success", nowMs);
    return run;
  }
}

/** An idle object loses its memory after so long. A timer for later would keep it awake for nothing. */
const SOON_MS = 10_000;

/** The most commands a second, where a deployment sets one (`ENGINE_RATE_MAX`). */
class Speed {
  readonly #grains: Grains;
  #bucket: Bucket;

  constructor(perSecond: number, nowMs: number) {
    const burst = Math.max(1, Math.ceil(perSecond * CATCH_UP_SECONDS));
    const grains = grainsOf(tokenBucketPolicy({ tokens: perSecond, perSeconds: 1 }, burst));
    if (grains === null) throw new Error(`${perSecond} commands a second cannot be counted`);
    this.#grains = grains;
    this.#bucket = fullBucket(grains, nowMs);
  }

  /**
   * Takes the time for one command, or gives the milliseconds until there is time for one.
   *
   * @param critical it does not wait: those that do wait a little longer for it
   */
  take(critical: boolean, nowMs: number): number {
    this.#bucket = settle(this.#bucket, this.#grains, nowMs);
    const weighed = weigh(this.#bucket, this.#grains, 1);
    if (weighed.verdict === "later" && !critical) return Math.max(weighed.waitMs, REST_MS);
    this.#bucket = charge(this.#bucket, this.#grains, 1);
    return 0;
  }
}

/** How far it may catch up: a busy object's timers come late, and what they miss would be lost to the rate. */
const CATCH_UP_SECONDS = 0.25;
/** A rest that is worth a timer: the commands of a rest are one commit. */
const REST_MS = 20;
