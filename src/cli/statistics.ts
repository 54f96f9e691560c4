/** What many measured numbers are, in a few. */

export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * @param values in any order and unit
 * @returns each figure is one of the values (nearest rank), in their unit; null when there are none
 */
export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = Float64Array.from(values).sort();
  const [min] = sorted;
  if (min === undefined) return null;
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? min;
  return { count: sorted.length, min, median: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: rank(1) };
}

/** How often each thing occurs, by name, the most frequent first. */
export function countBy<T>(things: readonly T[], nameOf: (thing: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(nameOf(thing), (counts.get(nameOf(thing)) ?? 0) + 1);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}
