import type { RetryAfterFormula } from "../core/return-times.ts";
import { RETRY_AFTER_FORMULAS } from "../core/return-times.ts";
import { BURST, burstWorld } from "./burst.ts";
import type { WorldSpec } from "./spec.ts";
import { runWorld } from "./world.ts";

/** How well `Retry-After` keeps its word: of those who wait exactly what they were told, how many are then taken. */

export interface RetryRow {
  readonly world: string;
  readonly formula: RetryAfterFormula;
  /** Callers who were refused and came back, in all runs. */
  readonly asked: number;
  /** The share of them that was taken at the first retry: mean and standard deviation over the runs. */
  readonly mean: number;
  readonly deviation: number;
  /** What was told at first tries, in seconds, over all runs. */
  readonly toldMin: number;
  readonly toldMax: number;
}

const WORLDS: readonly { readonly name: string; readonly world: (seed: number, f: RetryAfterFormula) => WorldSpec }[] =
  [
    { name: "one burst", world: (seed, formula) => burst(seed, formula) },
    { name: "one burst, quota not told", world: (seed, formula) => burst(seed, formula, { quota: "untold" }) },
    { name: "five bursts, every 400 s", world: (seed, formula) => burst(seed, formula, { bursts: 5 }) },
    {
      name: "five bursts, every 240 s",
      world: (seed, formula) => burst(seed, formula, { bursts: 5, everySeconds: 240 }),
    },
    { name: "twice the pace for 10 min", world: (seed, formula) => sustained(seed, formula) },
  ];

type Change = Partial<typeof BURST>;

/** The burst of 10/s for 30 s in front of two workers with a quota; jobs vary a little, so that seeds differ. */
function burst(seed: number, formula: RetryAfterFormula, change: Change = {}): WorldSpec {
  return burstWorld({ ...BURST, seed, formula, spread: 0.1, callers: "obey", ...change });
}

function sustained(seed: number, formula: RetryAfterFormula): WorldSpec {
  const pace = (BURST.workers * BURST.slots * 1_000) / BURST.jobMs;
  return burst(seed, formula, { quota: "off", rate: 2 * pace, seconds: 600 });
}

/** @param seeds how many runs of each world, ≥ 1 */
export function retryTable(seeds: number): RetryRow[] {
  return WORLDS.flatMap(({ name, world }) =>
    RETRY_AFTER_FORMULAS.map((formula) => {
      const reports = Array.from({ length: seeds }, (_, n) => runWorld(world(n + 1, formula)));
      const shares = reports.map(({ firstRetries }) => firstRetries.taken / Math.max(1, firstRetries.asked));
      const mean = shares.reduce((sum, share) => sum + share, 0) / seeds;
      const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / seeds;
      return {
        world: name,
        formula,
        asked: reports.reduce((sum, { firstRetries }) => sum + firstRetries.asked, 0),
        mean,
        deviation: Math.sqrt(variance),
        toldMin: Math.min(...reports.map(({ retryAfter }) => retryAfter?.min ?? 0)),
        toldMax: Math.max(...reports.map(({ retryAfter }) => retryAfter?.max ?? 0)),
      };
    }),
  );
}
