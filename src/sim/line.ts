import type { DeliveryVerdict } from "../core/delivery/answer.ts";
import { afterAnswer, afterFailure, afterHold, type Circuit, isWaiting, mayBegin } from "../core/delivery/circuit.ts";
import { QuotaPacer } from "../core/delivery/quota.ts";
import type { QuotaLevel } from "../core/pace.ts";
import type { EngineDisk } from "./rows.ts";
import type { EngineSpec } from "./spec.ts";

/** The line to the backend, thinly: what `durable/upstream-line.ts` does around the core's circuit and quota. */
export class Line {
  readonly #disk: EngineDisk;
  readonly #spec: EngineSpec;
  readonly #quota: QuotaPacer | null;
  #circuit: Circuit;
  #answeredMs = Number.NEGATIVE_INFINITY;

  constructor(disk: EngineDisk, spec: EngineSpec, nowMs: number) {
    this.#disk = disk;
    this.#spec = spec;
    this.#circuit = disk.saved.circuit;
    this.#quota = spec.quota && new QuotaPacer(spec.quota, nowMs, disk.saved.quota);
  }

  /**
   * When one more attempt may begin, Unix milliseconds; null: when one that is under way has ended.
   *
   * @param beganMs when the attempts began that are under way
   */
  beginsAtMs(beganMs: Iterable<number>, nowMs: number): number | null {
    const passes = mayBegin(this.#circuit, beganMs, nowMs);
    return passes.verdict === "wait" ? passes.untilMs : nowMs + (this.#quota?.waitMs(nowMs) ?? 0);
  }

  get probing(): boolean {
    return this.#circuit.probing;
  }

  heldMs(nowMs: number): number {
    return isWaiting(this.#circuit, nowMs) ? this.#circuit.notBeforeMs - nowMs : 0;
  }

  quotaLevel(nowMs: number): QuotaLevel | null {
    return this.#quota?.level(nowMs) ?? null;
  }

  begin(nowMs: number): void {
    this.#quota?.take(nowMs);
    this.#save();
  }

  /** Whether the backend has answered anybody since. */
  hasAnsweredSince(ms: number): boolean {
    return this.#answeredMs > ms;
  }

  /**
   * An attempt that began at `beganMs` has come to this.
   *
   * @param isRepeat of a command that has failed before: that it fails again says little of the backend
   */
  after(verdict: DeliveryVerdict, isRepeat: boolean, beganMs: number, nowMs: number, random: number): void {
    if (verdict.verdict === "undeliverable") return;
    if (verdict.verdict === "again" && verdict.answered && isRepeat && !this.probing) return;
    const options = { failuresMax: this.#spec.breakerFailures, backoff: this.#spec.backoff };
    switch (verdict.verdict) {
      case "succeeded":
      case "failed":
        this.#answeredMs = nowMs;
        this.#circuit = afterAnswer(this.#circuit, beganMs, nowMs);
        break;
      case "hold":
        if (verdict.quota) this.#quota?.usedUpFor(verdict.waitMs ?? 0, nowMs);
        this.#circuit = afterHold(this.#circuit, verdict.waitMs, beganMs, nowMs, random, options);
        break;
      case "again":
        this.#circuit = afterFailure(this.#circuit, beganMs, nowMs, random, options);
        break;
    }
    this.#save();
  }

  #save(): void {
    const quota = this.#quota?.ahead() ?? null;
    if (quota !== null) this.#disk.save({ quota });
    if (this.#circuit.notBeforeMs !== this.#disk.saved.circuit.notBeforeMs) this.#disk.save({ circuit: this.#circuit });
  }
}
