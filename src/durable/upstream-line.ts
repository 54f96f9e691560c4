import type { Config } from "../config.ts";
import type { Backoff } from "../core/backoff.ts";
import type { DeliveryVerdict } from "../core/delivery/answer.ts";
import {
  afterAnswer,
  afterFailure,
  afterHold,
  type Circuit,
  CLOSED,
  isWaiting,
  mayBegin,
  released,
} from "../core/delivery/circuit.ts";
import { QuotaPacer } from "../core/delivery/quota.ts";
import type { QuotaLevel } from "../core/pace.ts";
import type { EngineState, UpstreamState } from "./engine-state.ts";

/**
 * The line to the upstream: whether it may be asked now, by what it said last and by the quota that we were told of.
 * What a later life would have to find out at the upstream's cost is on disk: how long it wants to be left alone, and
 * what is used of its quota.
 */

/** What an operator sees of the upstream. */
export interface UpstreamStatus {
  /** It is asked freely; not at all; or by one attempt at a time until one is answered. */
  readonly state: "delivering" | "waiting" | "probing";
  /** When it is asked again, while it waits. */
  readonly resumesInSeconds?: number;
}

/** A verdict that says something of the upstream. */
type LineVerdict = Exclude<DeliveryVerdict, { verdict: "undeliverable" }>;

export class UpstreamLine {
  readonly #state: EngineState;
  readonly #quota: QuotaPacer | null;
  readonly #failuresMax: number;
  readonly #backoff: Backoff;
  #saved: UpstreamState;
  #circuit: Circuit;
  #answeredMs = 0;

  constructor(state: EngineState, config: Config, backoff: Backoff, nowMs: number) {
    this.#state = state;
    const known = state.upstream();
    const url = config.UPSTREAM_URL;
    this.#saved = known?.url === url ? known : { url, circuit: CLOSED };
    this.#circuit = this.#saved.circuit;
    this.#quota = config.quota && new QuotaPacer(config.quota, nowMs, this.#saved.quota);
    this.#failuresMax = config.UPSTREAM_BREAKER_FAILURES;
    this.#backoff = backoff;
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
    if (verdict.verdict === "again" && verdict.answered && isRepeat && !this.probing) return;
    const { probing } = this;
    this.#circuit = this.#circuitAfter(verdict, beganMs, nowMs, random);
    this.#save();
    if (this.probing !== probing) this.#log(verdict, nowMs);
  }

  #circuitAfter(verdict: LineVerdict, beganMs: number, nowMs: number, random: number): Circuit {
    const options = { failuresMax: this.#failuresMax, backoff: this.#backoff };
    switch (verdict.verdict) {
      case "succeeded":
      case "failed":
        this.#answeredMs = nowMs;
        return afterAnswer(this.#circuit, beganMs, nowMs);
      case "hold":
        if (verdict.quota) this.#quota?.usedUpFor(verdict.waitMs ?? 0, nowMs);
        return afterHold(this.#circuit, verdict.waitMs, beganMs, nowMs, random, options);
      case "again":
        return afterFailure(this.#circuit, beganMs, nowMs, random, options);
    }
  }

  /** One line when it stops being asked freely, and one when it is again. */
  #log(verdict: LineVerdict, nowMs: number): void {
    const why = verdict.verdict === "again" ? verdict.error : verdict.verdict;
    const event = this.probing ? "upstream_waits" : "upstream_back";
    console.warn(JSON.stringify({ event, why, ...this.status(nowMs) }));
  }

  #save(): void {
    const quota = this.#quota?.ahead() ?? null;
    if (quota === null && this.#circuit.notBeforeMs === this.#saved.circuit.notBeforeMs) return;
    this.#saved = { ...this.#saved, circuit: this.#circuit, ...(quota && { quota }) };
    this.#state.saveUpstream(this.#saved);
  }
}
