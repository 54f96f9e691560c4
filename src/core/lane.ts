import type { QueueEntry } from "./queue.ts";

/**
 * First in, first out, with removal from the middle: a removed place stays as a hole until the holes are the larger half.
 * Whose commands these are, and when they may go, is left to the queue.
 */

/** Below this many holes a copy costs more than it saves. */
const COMPACT_MIN = 64;

export class Lane {
  #slots: (QueueEntry | undefined)[] = [];
  /** Index of the first slot that may be taken. */
  #head = 0;
  readonly #positions = new Map<number, number>();
  #bytes = 0;

  get size(): number {
    return this.#positions.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(sequence: number): boolean {
    return this.#positions.has(sequence);
  }

  sequences(): IterableIterator<number> {
    return this.#positions.keys();
  }

  sequencesOf(tenant: string): number[] {
    return this.#slots.flatMap((entry) => (entry?.tenant === tenant ? [entry.sequence] : []));
  }

  push(entry: QueueEntry): void {
    this.#positions.set(entry.sequence, this.#slots.length);
    this.#slots.push(entry);
    this.#bytes += entry.bytes;
  }

  peek(): QueueEntry | undefined {
    while (this.#head < this.#slots.length && this.#slots[this.#head] === undefined) this.#head++;
    return this.#slots[this.#head];
  }

  shift(): QueueEntry | undefined {
    const entry = this.peek();
    if (entry !== undefined) this.#clear(entry, this.#head);
    this.#compact();
    return entry;
  }

  remove(sequence: number): QueueEntry | undefined {
    const index = this.#positions.get(sequence);
    if (index === undefined) return undefined;
    const entry = this.#slots[index];
    if (entry !== undefined) this.#clear(entry, index);
    this.#compact();
    return entry;
  }

  aheadOf(sequence: number): number | null {
    const position = this.#positions.get(sequence);
    if (position === undefined) return null;
    let ahead = 0;
    if (this.#slots.length - this.#head === this.#positions.size) return position - this.#head;
    for (let i = this.#head; i < position; i++) if (this.#slots[i] !== undefined) ahead++;
    return ahead;
  }

  #clear(entry: QueueEntry, index: number): void {
    this.#slots[index] = undefined;
    this.#positions.delete(entry.sequence);
    this.#bytes -= entry.bytes;
  }

  /** Drops the holes once they are the larger half, so that a take or a removal costs constant time on average. */
  #compact(): void {
    const holes = this.#slots.length - this.#positions.size;
    if (holes < COMPACT_MIN || holes * 2 < this.#slots.length) return;
    this.#slots = this.#slots.filter((slot) => slot !== undefined);
    this.#positions.clear();
    for (const [index, entry] of this.#slots.entries()) if (entry) this.#positions.set(entry.sequence, index);
    this.#head = 0;
  }
}
