import { type Backoff, backoffCeilingMs } from "../backoff.ts";
import { HOLD_MS_MAX } from "./circuit.ts";

/**
 * Whether "not now" is about all commands or about one. What the upstream says to a command again, though it has taken
 * others since it said so before, is about that one: it waits by itself, longer each time, and the others go on.
 */

/** Commands remembered as held, before those are looked for that have gone. */
const HELD_MAX = 1_000;

export class OwnHolds {
  readonly #backoff: Backoff;
  readonly #isThere: (sequence: number) => boolean;
  /** When it was said last, and how often in a row. */
  readonly #held = new Map<number, { readonly atMs: number; readonly times: number }>();

  /** @param isThere whether a command has not gone meanwhile: cancelled, or expired */
  constructor(backoff: Backoff, isThere: (sequence: number) => boolean) {
    this.#backoff = backoff;
    this.#isThere = isThere;
  }

  /**
   * The upstream has said "not now" to a command.
   *
   * @param toldMs for so long, in milliseconds; null: it did not say
   * @returns how long that command waits by itself, in milliseconds; null: it is about all of them
   */
  heldMs(
    sequence: number,
    toldMs: number | null,
    line: { hasAnsweredSince(ms: number): boolean },
    nowMs: number,
  ): number | null {
    const before = this.#held.get(sequence);
    const times = this.#countOne(sequence, nowMs);
    if (before === undefined || !line.hasAnsweredSince(before.atMs)) return null;
    return Math.max(Math.min(toldMs ?? 0, HOLD_MS_MAX), backoffCeilingMs(times, this.#backoff));
  }

  /** A "not now" that is about one command in any case. @returns as told, or longer each time; in milliseconds */
  delayMs(sequence: number, toldMs: number | null, nowMs: number): number {
    const times = this.#countOne(sequence, nowMs);
    return toldMs ?? backoffCeilingMs(times, this.#backoff);
  }

  /** @returns how often in a row it was said, this time included */
  #countOne(sequence: number, nowMs: number): number {
    if (this.#held.size >= HELD_MAX) this.#forgetGone();
    const times = (this.#held.get(sequence)?.times ?? 0) + 1;
    this.#held.set(sequence, { atMs: nowMs, times });
    return times;
  }

  /** The command has ended. */
  forget(sequence: number): void {
    this.#held.delete(sequence);
  }

  #forgetGone(): void {
    for (const sequence of this.#held.keys()) if (!this.#isThere(sequence)) this.#held.delete(sequence);
  }
}
