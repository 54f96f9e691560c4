/**
 * When each request of a stream is due: the n-th at n ÷ rate after the start, and never later because an answer or the
 * sender was late. What a slow gateway is sent does not shrink by its being slow.
 */

export interface Schedule {
  /** Requests in all. */
  readonly total: number;
  /** @returns milliseconds after the start at which request `n`, from 0, is due */
  dueMs(n: number): number;
  /** @returns how many requests are due at so many milliseconds after the start */
  dueBy(elapsedMs: number): number;
}

/**
 * @param perSecond requests per second, > 0
 * @param seconds for how long
 */
export function fixedRate(perSecond: number, seconds: number): Schedule {
  // 0.1 × 30 is a little less than 3 in doubles, and means 3.
  const total = Math.max(1, Math.floor(perSecond * seconds + 1e-6));
  const dueMs = (n: number) => (n * 1000) / perSecond;
  return {
    total,
    dueMs,
    dueBy: (elapsedMs) => (elapsedMs < 0 ? 0 : Math.min(total, Math.floor((elapsedMs * perSecond) / 1000 + 1e-6) + 1)),
  };
}
