import type { UpstreamLine } from "./delivery/line.ts";
import type { EngineHealth } from "./depth-gate.ts";
import type { Asker } from "./fair-share.ts";
import {
  estimatedWaitSeconds,
  type Pace,
  RETRY_AFTER_MAX_SECONDS,
  RETRY_AFTER_UNKNOWN_SECONDS,
  type Speed,
  secondsUntilStarted,
  slowestPerSecond,
} from "./pace.ts";
import { plainRetryAfterSeconds, type RetryAfterFormula, type ReturnTimes } from "./return-times.ts";

/** What callers are told of time, from what the engine knows: its pace, the upstream's quota, and how long that is held. */
export class Estimates {
  readonly #formula: RetryAfterFormula;
  readonly #pace: Pace;
  readonly #line: UpstreamLine | null;
  readonly #returnTimes: ReturnTimes;
  readonly #isPaused: () => boolean;

  /** @param line null: the embedded engine, which nothing holds up */
  constructor(
    formula: RetryAfterFormula,
    pace: Pace,
    line: UpstreamLine | null,
    returnTimes: ReturnTimes,
    isPaused: () => boolean,
  ) {
    this.#formula = formula;
    this.#pace = pace;
    this.#line = line;
    this.#returnTimes = returnTimes;
    this.#isPaused = isPaused;
  }

  /** How fast commands start from now on. A paused engine has no speed. */
  speed(nowMs: number): Speed {
    if (this.#isPaused()) return { perSecond: null, quota: null };
    const quota = this.#line?.quotaLevel(nowMs) ?? null;
    return { perSecond: this.#pace.perSecond(nowMs, quota?.perSecond) ?? this.#pace.mostPerSecond, quota };
  }

  /** The pace as it is reported, in commands per second: no more than a quota gives for long. Null while there is none. */
  pacePerSecond(nowMs: number): number | null {
    const quota = this.#line?.quotaLevel(nowMs)?.perSecond;
    const measured = this.#pace.perSecond(nowMs, quota);
    return measured === null ? null : Math.min(measured, quota ?? measured);
  }

  /** Seconds until a command with so many ahead of it starts, to a tenth. */
  waitSeconds(ahead: number, nowMs: number): number {
    const heldSeconds = this.#heldSeconds(nowMs);
    if (this.#isPaused()) return RETRY_AFTER_UNKNOWN_SECONDS;
    return Math.round(10 * (heldSeconds + estimatedWaitSeconds(ahead, this.speed(nowMs)))) / 10;
  }

  /** When callers of this tenant were last told to come back, in seconds from now; null: none of them is due. */
  lastToldSeconds(tenant: string, nowMs: number): number | null {
    return this.#formula === "plain" ? null : this.#returnTimes.lastTold(tenant, nowMs);
  }

  /** From what an isolate tells those whom it refuses without asking. */
  forEdge(ahead: number, nowMs: number): Pick<EngineHealth, "retryAfterSeconds" | "places"> {
    const speed = this.speed(nowMs);
    if (this.#formula === "plain" && !this.#isPaused()) {
      const seconds = plainRetryAfterSeconds(ahead, this.#pace.completedLastMinute(nowMs));
      return { retryAfterSeconds: seconds, places: null };
    }
    const aheadWithHold = this.#aheadWithHold(ahead, nowMs);
    const isKnown = secondsUntilStarted(aheadWithHold, speed) !== null;
    return {
      retryAfterSeconds: this.#unknownSeconds(nowMs),
      places: isKnown ? { ahead: aheadWithHold, speed } : null,
    };
  }

  /** As many commands as start in the time that the upstream is held for wait in front of all others, so to speak. */
  #aheadWithHold(ahead: number, nowMs: number): number {
    return ahead + this.#heldSeconds(nowMs) * (slowestPerSecond(this.speed(nowMs)) ?? 0);
  }

  /**
   * `Retry-After` for one more refused caller, in whole seconds.
   *
   * @param ahead commands that hold places: all that wait, or under a limit all that are in flight
   * @param random in [0, 1), for the jitter of a long wait
   */
  retryAfterSeconds(asker: Asker, ahead: number, nowMs: number, random: number): number {
    if (this.#isPaused()) return RETRY_AFTER_UNKNOWN_SECONDS;
    if (this.#formula === "plain") return plainRetryAfterSeconds(ahead, this.#pace.completedLastMinute(nowMs));
    const { places, retryAfterSeconds } = this.forEdge(ahead, nowMs);
    return places === null
      ? retryAfterSeconds
      : this.#returnTimes.tell(asker, places.ahead, places.speed, nowMs, random);
  }

  /** So many callers were told to come back by somebody else. */
  toldElsewhere(asker: Asker, count: number, ahead: number, nowMs: number): void {
    if (this.#formula === "plain") return;
    this.#returnTimes.toldElsewhere(asker, count, this.#aheadWithHold(ahead, nowMs), this.speed(nowMs), nowMs);
  }

  /** While there is no pace: half a minute, or as long as the upstream is left alone. */
  #unknownSeconds(nowMs: number): number {
    const heldSeconds = Math.ceil(this.#heldSeconds(nowMs));
    return Math.min(RETRY_AFTER_MAX_SECONDS, Math.max(RETRY_AFTER_UNKNOWN_SECONDS, heldSeconds));
  }

  #heldSeconds(nowMs: number): number {
    return (this.#line?.heldMs(nowMs) ?? 0) / 1000;
  }
}
