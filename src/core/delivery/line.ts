import type { Backoff } from "../backoff.ts";
import type { Bucket } from "../bucket.ts";
import type { QuotaLevel } from "../pace.ts";
import type { UpstreamStatus } from "../queue-status.ts";
import type { DeliveryVerdict } from "./answer.ts";
import {
  afterAnswer,
  afterFailure,
  afterHold,
  type Circuit,
  CLOSED,
  isWaiting,
  mayBegin,
  released,
} from "./circuit.ts";
import { type Quota, QuotaPacer } from "./quota.ts";

/**
 * The line to the upstream: whether it may be asked now, by what it said last and by the quota that we were told of.
 * What a later life would have to find out at the upstream's cost is given out to be saved: how long it wants to be left
 * alone, and what is used of its quota.
 */

/** What is known of an upstream from one life to the next. */
export interface LineState {
  /** Whose state this is: another upstream knows nothing of it. */
  readonly url: string;
  readonly circuit: Circuit;
  /** Charged ahead; absent: no quota. */
  readonly quota?: Bucket;
}

export interface LineOptions {
  readonly url: string;
  /** The quota that we were told of; null: none. */
  readonly quota: Quota | null;
  /** Failures in a row that open the circuit. */
  readonly failuresMax: number;
  readonly backoff: Backoff;
}

/** What a line calls. */
export interface LineHooks {
  /** Writes what a later life begins with. */
  readonly save: (state: LineState) => void;
  /** Hears when the upstream stops being asked freely, and when it is again. */
  readonly changed?: (verdict: LineVerdict, status: UpstreamStatus) => void;
}

/** A verdict that says something of the upstream. */
export type LineVerdict = Exclude<DeliveryVerdict, { verdict: "undeliverable" }>;

export class UpstreamLine {
  readonly #options: LineOptions;
  readonly #hooks: LineHooks;
  readonly #quota: QuotaPacer | null;
  #saved: LineState;
  #circuit: Circuit;
  #answeredMs = Number.NEGATIVE_INFINITY;

  /** @param known what an earlier life saved; null: nothing */
  constructor(known: LineState | null, options: LineOptions, hooks: LineHooks, nowMs: number) {
    const { url, quota } = options;
    this.#options = options;
    this.#hooks = hooks;
    this.#saved = known?.url === url ? known : { url, circuit: CLOSED };
    this.#circuit = this.#saved.circuit;
    this.#quota = quota && new QuotaPacer(quota, nowMs, this.#saved.quota);
  }

  /**
   * When one more attempt may begin.
   *
   * @param beganMs when the attempts began that are under way
   * @returns Unix milliseconds, `nowMs` for now; null: when an attempt that is under way has ended
   */
  beginsAtMs(beganMs: Iterable<number>, nowMs: number): number | null {
    const passes = mayBegin(this.#circuit, beganMs, nowMs);
    return passes.verdict === "wait" ? passes.untilMs : nowMs + (this.#quota?.waitMs(nowMs) ?? 0);
  }

  /** One attempt at a time: it is not known yet whether the upstream is back. */
  get probing(): boolean {
    return this.#circuit.probing;
  }

  /** How long the upstream is left alone from now on, in milliseconds. */
  heldMs(nowMs: number): number {
    return isWaiting(this.#circuit, nowMs) ? this.#circuit.notBeforeMs - nowMs : 0;
  }

  /** What is left of its quota; null where we were told of none. */
  quotaLevel(nowMs: number): QuotaLevel | null {
    return this.#quota?.level(nowMs) ?? null;
  }

  status(nowMs: number): UpstreamStatus {
    const heldMs = this.heldMs(nowMs);
    if (heldMs === 0) return { state: this.probing ? "probing" : "delivering" };
    return { state: "waiting", resumesInSeconds: Math.ceil(heldMs / 1000) };
  }

  /** An attempt begins. */
  begin(nowMs: number): void {
    this.#quota?.take(nowMs);
    this.#save();
  }

  /** Whether the upstream has answered anybody since. */
  hasAnsweredSince(ms: number): boolean {
    return this.#answeredMs > ms;
  }

  /** An operator wants it to be asked again. */
  release(nowMs: number): void {
    this.#circuit = released(this.#circuit, nowMs);
    this.#save();
  }

  /**
   * An attempt that began at `beganMs` was answered, or was not.
   *
   * @param isRepeat of a command that has failed before: that it fails again says little of the upstream
   * @param random in [0, 1)
   */
  after(verdict: DeliveryVerdict, isRepeat: boolean, beganMs: number, nowMs: number, random: number): void {
    if (verdict.verdict === "undeliverable") return;
    const isOwnFault = verdict.verdict === "again" && verdict.answered && !verdict.works;
    if (isOwnFault && isRepeat && !this.probing) return;
    const { probing } = this;
    this.#circuit = this.#circuitAfter(verdict, beganMs, nowMs, random);
    this.#save();
    if (this.probing !== probing) this.#hooks.changed?.(verdict, this.status(nowMs));
  }

  #circuitAfter(verdict: LineVerdict, beganMs: number, nowMs: number, random: number): Circuit {
    const options = this.#options;
    switch (verdict.verdict) {
      case "succeeded":
      case "failed":
      case "delay":
        return this.#afterAnswer(beganMs, nowMs);
      case "hold":
        if (verdict.quota) this.#quota?.usedUpFor(verdict.waitMs ?? 0, nowMs);
        return afterHold(this.#circuit, verdict.waitMs, beganMs, nowMs, random, options);
      case "again":
        if (verdict.works) return this.#afterAnswer(beganMs, nowMs);
        return afterFailure(this.#circuit, beganMs, nowMs, random, options);
    }
  }

  #afterAnswer(beganMs: number, nowMs: number): Circuit {
    this.#answeredMs = nowMs;
    return afterAnswer(this.#circuit, beganMs, nowMs);
  }

  #save(): void {
    const quota = this.#quota?.ahead() ?? null;
    if (quota === null && this.#circuit.notBeforeMs === this.#saved.circuit.notBeforeMs) return;
    this.#saved = { ...this.#saved, circuit: this.#circuit, ...(quota && { quota }) };
    this.#hooks.save(this.#saved);
  }
}
