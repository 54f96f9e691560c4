/**
 * How long to wait before another try when nobody has said how long: exponential, with full jitter, so that many who
 * failed together do not come back together (Brooker, "Exponential Backoff And Jitter", 2015).
 */

export interface Backoff {
  /** The most that the first wait may be, in milliseconds; each further one may be twice as long. */
  readonly baseMs: number;
  /** The most that any wait may be, in milliseconds. */
  readonly maxMs: number;
}

/**
 * @param failures how many tries have failed in a row, ≥ 1
 * @param random in [0, 1)
 * @returns whole milliseconds, from 0 to less than the lesser of `maxMs` and `baseMs` × 2^(failures − 1)
 */
export function backoffMs(failures: number, { baseMs, maxMs }: Backoff, random: number): number {
  return Math.floor(random * backoffCeilingMs(failures, { baseMs, maxMs }));
}

/** The most that the wait after so many failures may be, in milliseconds. */
export function backoffCeilingMs(failures: number, { baseMs, maxMs }: Backoff): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1));
}
