import { TIMER_MS_MAX } from "../core/clock.ts";
import type { CommandEnd } from "./command-row.ts";
import type { EngineParts } from "./engine-parts.ts";

/**
 * Ends what nobody waits for any more: a command whose time was over before it began is expired, and not executed. One
 * that an attempt is being made for is left to it.
 */
export class Expiry {
  readonly #parts: EngineParts;
  readonly #goOn: () => void;
  #timer: number | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;

  /** @param goOn called when time has come: what is due is expired with it */
  constructor(parts: EngineParts, goOn: () => void) {
    this.#parts = parts;
    this.#goOn = goOn;
  }

  /** Expires what is due. To be called before anything is begun, or room is looked for. */
  run(nowMs: number): void {
    for (const sequence of this.#parts.deadlines.takeDue(nowMs)) this.endUnbegun(sequence, EXPIRED, nowMs);
  }

  /** Sees to it that what is due next is expired then. */
  plan(nowMs: number): void {
    const nextMs = this.#parts.deadlines.nextMs();
    if (nextMs === null || nextMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = nextMs;
    const onTime = () => {
      this.#timerAtMs = Number.POSITIVE_INFINITY;
      this.#goOn();
    };
    this.#timer = setTimeout(onTime, Math.min(TIMER_MS_MAX, Math.max(0, nextMs - nowMs)));
  }

  /**
   * Ends a command that waits and has not begun, or is between two attempts. False when it is none: it runs, has ended,
   * or was never there.
   */
  endUnbegun(sequence: number, end: CommandEnd, nowMs: number): boolean {
    const { queue, retries, deferred, store, ledger, inFlight, waits, deadlines } = this.#parts;
    const isDeferred = deferred.has(sequence);
    const row = isDeferred || queue.has(sequence) || retries.has(sequence) ? store.get(sequence) : null;
    if (row === null) return false;
    ledger.end(sequence, end, { attempts: row.attempts, startedAtMs: row.startedAtMs, finishedAtMs: nowMs });
    if (isDeferred) deferred.remove(sequence, row);
    queue.remove(sequence);
    retries.remove(sequence);
    deadlines.remove(sequence);
    inFlight.end(sequence);
    ledger.settle(nowMs);
    waits.ended(sequence);
    return true;
  }
}

const EXPIRED: CommandEnd = {
  state: "expired",
  error: { code: "deadline_exceeded", message: "its deadline passed before it began" },
};
