import type { CommandQueue, QueueEntry } from "../queue.ts";
import type { Retries } from "./retries.ts";

/**
 * Which command is delivered next: critical ones first; then fresh ones, in turn, and those that wait for another attempt,
 * one after the other, so that neither stops the other.
 */
export class Turns {
  readonly #queue: CommandQueue;
  readonly #retries: Retries;
  #isRepeatsTurn = false;

  constructor(queue: CommandQueue, retries: Retries) {
    this.#queue = queue;
    this.#retries = retries;
  }

  /** Takes the next one out; undefined when none may be begun now. @param probing it is a probe, and may well fail */
  next(probing: boolean, nowMs: number): QueueEntry | undefined {
    if (this.#queue.criticalDepth > 0) return this.#queue.take();
    // Each probe spends an attempt of another command.
    if (probing) return this.#queue.take() ?? this.#retries.takeDue(nowMs);
    this.#isRepeatsTurn = !this.#isRepeatsTurn;
    if (this.#isRepeatsTurn) return this.#retries.takeDue(nowMs) ?? this.#queue.take();
    return this.#queue.take() ?? this.#retries.takeDue(nowMs);
  }
}
