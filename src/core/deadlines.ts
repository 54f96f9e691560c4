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
  readonly #heap = new Heap<Deadline>((a, b) => a.atMs < b.atMs);
  /** Those that still count: what left the heap's owner otherwise is dropped when it comes up. */
  readonly #waiting = new Map<number, number>();

  add(sequence: number, atMs: number): void {
    this.#waiting.set(sequence, atMs);
    this.#heap.push({ sequence, atMs });
  }

  /** The command has begun or ended. */
  remove(sequence: number): void {
    this.#waiting.delete(sequence);
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

  /** When the next time is over; null when none is kept. */
  nextMs(): number | null {
    return this.#first()?.atMs ?? null;
  }

  #first(): Deadline | undefined {
    for (let first = this.#heap.peek(); first !== undefined; first = this.#heap.peek()) {
      if (this.#waiting.get(first.sequence) === first.atMs) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}
