/** Sizes that grow with the limit, in the whole numbers of Netflix concurrency-limits. */

/** A number, or so many times a root of the limit (and at least `min`). */
export type LimitFunction = number | { readonly times: number; readonly of: "log10" | "sqrt"; readonly min?: number };

/** ⌊log₁₀⌋ of a whole limit; at least 1 below 1000. */
export function log10Root(limit: number): number {
  return Math.max(1, Math.floor(Math.log10(Math.max(1, limit))));
}

/** ⌊√⌋ of a whole limit; at least 1. */
export function squareRoot(limit: number): number {
  return Math.max(1, Math.floor(Math.sqrt(Math.max(0, limit))));
}

export function valueAt(size: LimitFunction, limit: number): number {
  if (typeof size === "number") return size;
  const root = size.of === "log10" ? log10Root(Math.trunc(limit)) : squareRoot(Math.trunc(limit));
  return Math.max(size.min ?? 0, size.times * root);
}
