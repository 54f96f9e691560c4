/** What the setting of a limiter promises to let through at most. Pure. */

/** Windows begin with the first request after the last one (`hit`), or with the wall clock (`clock`). */
export type Promised =
  | { readonly kind: "bucket"; readonly burst: number; readonly perSecond: number }
  | { readonly kind: "window"; readonly begins: "hit" | "clock"; readonly limit: number; readonly seconds: number };

/**
 * @param beganMs Unix milliseconds
 * @param seconds from the first request to the last answer
 * @returns the most that the setting lets through in that time
 */
export function allowedBy(promise: Promised, beganMs: number, seconds: number): number {
  if (promise.kind === "bucket") return Math.floor(promise.burst + promise.perSecond * seconds);
  const windowOf = (ms: number) => Math.floor(ms / 1000 / promise.seconds);
  const windows =
    promise.begins === "hit"
      ? Math.ceil(seconds / promise.seconds)
      : windowOf(beganMs + seconds * 1000) - windowOf(beganMs) + 1;
  return promise.limit * windows;
}
