import { fuzzWorld } from "./fuzz-world.ts";
import type { Sabotage } from "./sabotage.ts";
import { type Failure, failureOf, shrink } from "./shrink.ts";

/** Runs random worlds, one a seed, until one of them breaks a promise. */

export interface FuzzFound extends Failure {
  readonly seed: number;
}

/**
 * @param from the first seed
 * @param seeds how many
 * @returns the first seed whose world breaks a promise, with the smallest world found that breaks the same one; null when
 *   all were kept
 */
export function fuzz(from: number, seeds: number, sabotage: Sabotage | null = null): FuzzFound | null {
  for (let seed = from; seed < from + seeds; seed++) {
    const failure = failureOf(fuzzWorld(seed), sabotage);
    if (failure !== null) return { seed, ...shrink(failure, sabotage) };
  }
  return null;
}
