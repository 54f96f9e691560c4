import { type Backoff, backoffMs } from "../backoff.ts";
import type { QueueEntry } from "../queue.ts";

/**
 * Commands between two attempts. They have left the queue, so the bound is not theirs; instead there may be only so many
 * before nothing fresh is begun. Kept in memory with the time of each; what must survive a restart is on disk.
 */

/**
 * While so many wait for another attempt, no fresh command is begun: else a backend that fails each command would draw
 * the whole queue out of its bound.
 */
export const RETRYING_MAX = 100;

export interface Retry {
  readonly entry: QueueEntry;
  /** Not before this, Unix milliseconds. */
  readonly dueMs: number;
}

export class Retries {
  readonly #bySequence = new Map<number, Retry>();

  get size(): number {
    return this.#bySequence.size;
  }

  get isFull(): boolean {
    return this.#bySequence.size >= RETRYING_MAX;
  }

  has(sequence: number): boolean {
    return this.#bySequence.has(sequence);
  }

  sequences(): IterableIterator<number> {
    return this.#bySequence.keys();
  }

  entries(): IterableIterator<Retry> {
    return this.#bySequence.values();
  }

  add(entry: QueueEntry, dueMs: number): void {
    this.#bySequence.set(entry.sequence, { entry, dueMs });
  }

  remove(sequence: number): boolean {
    return this.#bySequence.delete(sequence);
  }

  /** The one that is due and has been for longest, taken out; undefined when none is. */
  takeDue(nowMs: number): QueueEntry | undefined {
    const next = this.#next();
    if (next === undefined || next.dueMs > nowMs) return undefined;
    this.#bySequence.delete(next.entry.sequence);
    return next.entry;
  }

  /** When the next one is due; null when none waits. */
  nextDueMs(): number | null {
    return this.#next()?.dueMs ?? null;
  }

  // There are about a hundred at the most, so the first is found by looking.
  #next(): Retry | undefined {
    let next: Retry | undefined;
    for (const retry of this.#bySequence.values()) {
      const isSooner =
        next === undefined ||
        retry.dueMs < next.dueMs ||
        (retry.dueMs === next.dueMs && retry.entry.sequence < next.entry.sequence);
      if (isSooner) next = retry;
    }
    return next;
  }
}

/** What follows a spent attempt. */
export type AfterSpent = { readonly next: "dead" } | { readonly next: "retry"; readonly dueMs: number };

/** @param attempts spent so far, this one included; @param random in [0, 1) */
export function afterSpent(
  attempts: number,
  attemptsMax: number,
  backoff: Backoff,
  nowMs: number,
  random: number,
): AfterSpent {
  if (attempts >= attemptsMax) return { next: "dead" };
  return { next: "retry", dueMs: nowMs + backoffMs(attempts, backoff, random) };
}
