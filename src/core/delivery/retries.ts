import { type Backoff, backoffMs } from "../backoff.ts";
import { Heap } from "../heap.ts";
import type { QueueEntry } from "../queue.ts";

/**
 * Commands between two attempts. They have left the queue and keep their place in its bound, and critical ones in their
 * tenant's ceiling, so that a backend which fails each command cannot draw the queue out of it. Kept in memory with the time of each; what must survive a restart is
 * on disk.
 */

export interface Retry {
  readonly entry: QueueEntry;
  /** When this was set, and not before when it is tried again, Unix milliseconds. */
  readonly setMs: number;
  readonly dueMs: number;
}

export class Retries {
  readonly #bySequence = new Map<number, Retry>();
  readonly #heap = new Heap<Retry>(isSooner);
  #ordinary = 0;
  readonly #criticalByTenant = new Map<string, number>();

  get size(): number {
    return this.#bySequence.size;
  }

  /** Those that are not critical: what counts in the queue's bound. */
  get ordinary(): number {
    return this.#ordinary;
  }

  /** Those of a tenant that are critical: what counts in its ceiling. */
  criticalOf(tenant: string): number {
    return this.#criticalByTenant.get(tenant) ?? 0;
  }

  /** When a command is tried again, Unix milliseconds; null when it does not wait here. */
  dueMs(sequence: number): number | null {
    return this.#bySequence.get(sequence)?.dueMs ?? null;
  }

  /** How many of those that wait here are due before this one. */
  aheadOf(sequence: number): number {
    const own = this.#bySequence.get(sequence);
    if (own === undefined) return 0;
    let ahead = 0;
    for (const retry of this.#bySequence.values()) if (isSooner(retry, own)) ahead += 1;
    return ahead;
  }

  has(sequence: number): boolean {
    return this.#bySequence.has(sequence);
  }

  sequences(): IterableIterator<number> {
    return this.#bySequence.keys();
  }

  add(entry: QueueEntry, dueMs: number, nowMs: number): void {
    const retry = { entry, dueMs, setMs: nowMs };
    this.#bySequence.set(entry.sequence, retry);
    this.#heap.push(retry);
    this.#count(entry, 1);
  }

  remove(sequence: number): boolean {
    const retry = this.#bySequence.get(sequence);
    if (retry === undefined) return false;
    this.#bySequence.delete(sequence);
    this.#count(retry.entry, -1);
    return true;
  }

  /** The one that is due and has been for longest, taken out; undefined when none is. */
  takeDue(nowMs: number): QueueEntry | undefined {
    const next = this.#next();
    // One that was set at a time that is yet to come is due too: the clock has stepped back.
    if (next === undefined || (next.dueMs > nowMs && next.setMs <= nowMs)) return undefined;
    this.#heap.pop();
    this.remove(next.entry.sequence);
    return next.entry;
  }

  /** When the next one is due; null when none waits. */
  nextDueMs(): number | null {
    return this.#next()?.dueMs ?? null;
  }

  #count({ critical, tenant }: QueueEntry, by: 1 | -1): void {
    if (!critical) {
      this.#ordinary += by;
      return;
    }
    const own = this.criticalOf(tenant) + by;
    if (own === 0) this.#criticalByTenant.delete(tenant);
    else this.#criticalByTenant.set(tenant, own);
  }

  /** What was taken out otherwise is dropped when it comes up. */
  #next(): Retry | undefined {
    for (let next = this.#heap.peek(); next !== undefined; next = this.#heap.peek()) {
      if (this.#bySequence.get(next.entry.sequence) === next) return next;
      this.#heap.pop();
    }
    return undefined;
  }
}

function isSooner(a: Retry, b: Retry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.entry.sequence < b.entry.sequence);
}

/** What follows a spent attempt. */
export type AfterSpent = { readonly next: "dead" } | { readonly next: "retry"; readonly dueMs: number };

/**
 * @param attempts spent so far, this one included
 * @param toldMs how long the upstream wants to be left alone by this command; null: it did not say
 * @param random in [0, 1)
 */
export function afterSpent(
  attempts: number,
  attemptsMax: number,
  toldMs: number | null,
  backoff: Backoff,
  nowMs: number,
  random: number,
): AfterSpent {
  if (attempts >= attemptsMax) return { next: "dead" };
  return { next: "retry", dueMs: nowMs + (toldMs ?? backoffMs(attempts, backoff, random)) };
}
