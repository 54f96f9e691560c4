import { type Measuring, runSide } from "./measure.ts";
import { SIDES, type Side, sideOf } from "./sides.ts";
import { type Figures, figuresOf, figuresOfSide, type Round, UNKNOWN } from "./tables.ts";

/** How long an answer takes while nothing is at its limit: requests come at a fixed rate, whatever the answers do. */

const OF_SATURATION = 0.3;
const MEASURED = ["hono", "object", "row", "exact", "leased", "refused-429", "store"];
/** Without a whole measurement at hand, this long says where saturation is. */
const SATURATION_SECONDS = 1;

export interface LatencyRow {
  readonly label: string;
  /** Requests a second. */
  readonly offered: number;
  /** Milliseconds, over the rounds. */
  readonly p50: Figures;
  readonly p99: Figures;
  /** How late the load itself was, in milliseconds: it is part of the above. */
  readonly lateP99: Figures;
}

/** @param rounds at saturation, where they were measured */
export async function measureLatency(measuring: Measuring, rounds: readonly Round[]): Promise<LatencyRow[]> {
  const sides = MEASURED.map(sideOf);
  const rates = new Map<string, number>();
  for (const side of sides)
    rates.set(side.id, Math.ceil((await saturationOf(measuring, side, rounds)) * OF_SATURATION));
  const taken = new Map<string, { p50: number; p99: number; lateP99: number }[]>();
  for (let round = 0; round < measuring.rounds; round++) {
    measuring.say(`below saturation, round ${round + 1} of ${measuring.rounds}`);
    for (let n = 0; n < sides.length; n++) {
      const side = sides[(n + round) % sides.length];
      if (side === undefined) continue;
      const pace = { kind: "open", seconds: measuring.seconds, perSecond: rates.get(side.id) ?? 1 } as const;
      const { result } = await runSide(measuring, side, round, pace);
      taken.set(side.id, [...(taken.get(side.id) ?? []), result]);
    }
  }
  return sides.map(({ id, label }) => rowOf(label, rates.get(id) ?? 0, taken.get(id) ?? []));
}

async function saturationOf(measuring: Measuring, side: Side, rounds: readonly Round[]): Promise<number> {
  const known = figuresOfSide(rounds, side.id, "perSecond");
  if (known !== null) return known.median;
  const pace = { kind: "closed", seconds: SATURATION_SECONDS } as const;
  await runSide(measuring, side, 0, pace);
  return (await runSide(measuring, side, 0, pace)).result.perSecond;
}

function rowOf(
  label: string,
  offered: number,
  taken: readonly { p50: number; p99: number; lateP99: number }[],
): LatencyRow {
  const of = (figure: "p50" | "p99" | "lateP99") => figuresOf(taken.map((one) => one[figure])) ?? UNKNOWN;
  return { label, offered, p50: of("p50"), p99: of("p99"), lateP99: of("lateP99") };
}

/** Workers that {@link measureLatency} asks. */
export const LATENCY_SIDES: readonly Side[] = SIDES.filter(({ id }) => MEASURED.includes(id));
