import { type Figures, type Round, ratioOf } from "./tables.ts";

/** What must be reached, and whether it was. Pure: from the figures of one run, and nothing else. */

interface Goal {
  readonly what: string;
  readonly side: string;
  readonly against: string;
  /** The least that the rate may be, in parts of the other's. */
  readonly atLeast: number;
}

const GOALS: readonly Goal[] = [
  { what: "leased check ÷ bare Hono route", side: "leased", against: "hono", atLeast: 0.85 },
  { what: "exact check ÷ bare object call", side: "exact", against: "object", atLeast: 0.9 },
  { what: "429 at the edge ÷ bare Hono route", side: "refused-429", against: "hono", atLeast: 0.85 },
  { what: "503 at the edge ÷ bare Hono route", side: "refused-503", against: "hono", atLeast: 0.85 },
  {
    what: "durable command ÷ one row per request, 128 connections",
    side: "command-128",
    against: "row-128",
    atLeast: 1.8,
  },
  { what: "leased check ÷ hono-rate-limiter's store of objects", side: "leased", against: "store", atLeast: 3 },
];

/** The most that the p99 of critical commands may grow under an overload, in parts of itself without. */
const CRITICAL_P99_MAX = 2;

export interface Verdict {
  readonly what: string;
  /** With its sign: "≥ 0.85". */
  readonly goal: string;
  readonly measured: Figures;
  /** By the median. */
  readonly reached: boolean;
  /** The side to look at when it is not. */
  readonly side: string;
}

/**
 * @param critical the p99 of critical commands under overload over that without, round by round; empty: not measured
 * @returns a verdict on each goal whose sides were measured
 */
export function verdictsOf(rounds: readonly Round[], critical: Figures | null): Verdict[] {
  const rates = GOALS.flatMap(({ what, side, against, atLeast }): Verdict[] => {
    const measured = ratioOf(rounds, side, against);
    if (measured === null) return [];
    return [{ what, goal: `≥ ${atLeast}`, measured, reached: measured.median >= atLeast, side }];
  });
  if (critical === null) return rates;
  const what = "p99 of critical commands, 5 × overload ÷ unloaded";
  const reached = critical.median <= CRITICAL_P99_MAX;
  return [...rates, { what, goal: `≤ ${CRITICAL_P99_MAX}`, measured: critical, reached, side: "critical" }];
}
