/**
 * The few callers who may wait for room in a full queue: first come, first served, bounded in number, each with a
 * deadline. It holds who waits; the shell that owns the clock and the promises asks it who is next.
 */

export interface Waiter<T> {
  /** Names this wait, for its deadline and for a caller that goes away. */
  readonly token: string;
  /** The room that it waits for, in bytes of queue. */
  readonly bytes: number;
  readonly what: T;
}

export class WaitingRoom<T> {
  readonly #waiters = new Map<string, Waiter<T>>();
  readonly #seats: number;

  /** @param seats how many may wait at the same time */
  constructor(seats: number) {
    this.#seats = seats;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** False when every seat is taken, or this token waits already. */
  enter(waiter: Waiter<T>): boolean {
    if (this.#waiters.size >= this.#seats || this.#waiters.has(waiter.token)) return false;
    this.#waiters.set(waiter.token, waiter);
    return true;
  }

  /** Takes a waiter out (its deadline has come, or its caller has gone); undefined when it no longer waits. */
  leave(token: string): Waiter<T> | undefined {
    const waiter = this.#waiters.get(token);
    this.#waiters.delete(token);
    return waiter;
  }

  /**
   * The first in line, taken out, if there is room for it. Nobody overtakes: when the first needs more room than
   * there is, the others wait behind it.
   */
  next(hasRoom: (bytes: number) => boolean): Waiter<T> | undefined {
    for (const waiter of this.#waiters.values()) return hasRoom(waiter.bytes) ? this.leave(waiter.token) : undefined;
    return undefined;
  }
}
