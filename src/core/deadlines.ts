import { Heap } from "./heap.ts";

/**
 * Which commands nobody waits for any more. A command may name the time after which it need not begin; what is past it
 * is expired and not executed. Whether a command has begun is known elsewhere.
 */

interface Deadline {
  readonly sequence: number;
  readonly atMs: number;
}

export class Deadlines {
  #heap = new Heap<Deadline>(isEarlier);
  /** Those that still count: the others are dropped when they come up, or when they are the larger part. */
  readonly #waiting = new Map<number, number>();

  add(sequence: number, atMs: number): void {
    this.#waiting.set(sequence, atMs);
    this.#heap.push({ sequence, atMs });
  }

  /** The command has begun or ended. */
  remove(sequence: number): void {
    if (!this.#waiting.delete(sequence) || this.#heap.size < COMPACT_MIN) return;
    if (this.#heap.size > 2 * this.#waiting.size) this.#compact();
  }

  /** The commands whose time is over, in the order of their times; they are forgotten here. */
  takeDue(nowMs: number): number[] {
    const due: number[] = [];
    for (let next = this.#first(); next !== undefined && next.atMs <= nowMs; next = this.#first()) {
      this.#heap.pop();
      this.#waiting.delete(next.sequence);
      due.push(next.sequence);
    }
    return due;
  }

  /** How many are held in memory, those included that no longer count. */
  get held(): number {
    return this.#heap.size;
  }

  /** When the next time is over; null when none is kept. */
  nextMs(): number | null {
    return this.#first()?.atMs ?? null;
  }

  /** So many deadlines are kept as wait, and no more, also where they lie far ahead and most begin long before. */
  #compact(): void {
    this.#heap = new Heap<Deadline>(isEarlier);
    for (const [sequence, atMs] of this.#waiting) this.#heap.push({ sequence, atMs });
  }

  #first(): Deadline | undefined {
    for (let first = this.#heap.peek(); first !== undefined; first = this.#heap.peek()) {
      if (this.#waiting.get(first.sequence) === first.atMs) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

/** Below this many a copy costs more than it saves. */
const COMPACT_MIN = 1_000;

function isEarlier(a: Deadline, b: Deadline): boolean {
  return a.atMs < b.atMs;
}
