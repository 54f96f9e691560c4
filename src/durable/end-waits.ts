/**
 * Callers who hold a request open until a command ends. Memory only: a wait is a courtesy, it takes no place in the
 * queue, and losing one loses nothing.
 */

/** Held requests per object; the next one is answered at once with what is known. */
const WAITS_MAX = 10_000;

export class EndWaits {
  readonly #bySequence = new Map<number, Set<() => void>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Resolves when the command ends or the time is over, whichever comes first. Says nothing about which. */
  wait(sequence: number, waitMs: number): Promise<void> {
    if (waitMs <= 0 || this.#size >= WAITS_MAX) return Promise.resolve();
    return new Promise((resolve) => {
      const waits = this.#bySequence.get(sequence) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        if (waits.delete(done)) this.#size -= 1;
        if (waits.size === 0) this.#bySequence.delete(sequence);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      waits.add(done);
      this.#size += 1;
      this.#bySequence.set(sequence, waits);
    });
  }

  /** The command has ended: everyone who waits for it is answered. */
  ended(sequence: number): void {
    for (const done of [...(this.#bySequence.get(sequence) ?? [])]) done();
  }
}
