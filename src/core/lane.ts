import type { QueueEntry } from "./queue.ts";

/**
 * First in, first out, with removal from the middle: a removed place stays as a hole until the head passes it. Taking
 * costs constant time on average, a place in the line the logarithm of the holes. Whose commands these are, and when
 * they may go, is left to the queue.
 */

/** Below this many taken slots a copy costs more than it saves. */
const COMPACT_MIN = 64;

export class Lane {
  #slots: (QueueEntry | undefined)[] = [];
  /** Index of the first slot that holds an entry. */
  #head = 0;
  /** How many slots were dropped from the front so far; positions count from the first ever. */
  #dropped = 0;
  readonly #positions = new Map<number, number>();
  /** Positions that were emptied before the head came to them, ascending; those that it has passed go when it compacts. */
  #holes: number[] = [];
  #bytes = 0;

  get size(): number {
    return this.#positions.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  sequences(): IterableIterator<number> {
    return this.#positions.keys();
  }

  push(entry: QueueEntry): void {
    this.#positions.set(entry.sequence, this.#dropped + this.#slots.length);
    this.#slots.push(entry);
    this.#bytes += entry.bytes;
  }

  peek(): QueueEntry | undefined {
    return this.#slots[this.#head];
  }

  shift(): QueueEntry | undefined {
    const entry = this.peek();
    if (entry !== undefined) this.#clear(entry, this.#head);
    return entry;
  }

  remove(sequence: number): QueueEntry | undefined {
    const position = this.#positions.get(sequence);
    if (position === undefined) return undefined;
    const index = position - this.#dropped;
    const entry = this.#slots[index];
    if (entry !== undefined) this.#clear(entry, index);
    return entry;
  }

  /** How many go before this one; null when it does not wait here. */
  aheadOf(sequence: number): number | null {
    const position = this.#positions.get(sequence);
    if (position === undefined) return null;
    const head = this.#dropped + this.#head;
    return position - head - (this.#holesBelow(position) - this.#holesBelow(head));
  }

  #clear(entry: QueueEntry, index: number): void {
    this.#slots[index] = undefined;
    this.#positions.delete(entry.sequence);
    this.#bytes -= entry.bytes;
    if (index > this.#head) {
      const position = this.#dropped + index;
      this.#holes.splice(this.#holesBelow(position), 0, position);
      return;
    }
    while (this.#head < this.#slots.length && this.#slots[this.#head] === undefined) this.#head++;
    this.#compact();
  }

  #holesBelow(position: number): number {
    let from = 0;
    let to = this.#holes.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#holes[middle] ?? position) < position) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Drops the taken front once it is the larger half. */
  #compact(): void {
    if (this.#head < COMPACT_MIN || this.#head * 2 < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#head);
    this.#dropped += this.#head;
    this.#head = 0;
    this.#holes = this.#holes.slice(this.#holesBelow(this.#dropped));
  }
}
