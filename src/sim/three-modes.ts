import { CommandQueue } from "../core/queue.ts";

/**
 * Three ways to meet a burst, tick by tick: no control, backpressure (the producer holds what does not fit), and load
 * shedding (what does not fit is refused). The queue is the production one.
 */

export interface ThreeModesSpec {
  /** Tasks that arrive in each tick. */
  readonly arrivals: readonly number[];
  /** Tasks finished per tick, after the tick's arrivals. */
  readonly perTick: number;
  /** Of the bounded queues. */
  readonly bound: number;
}

const MODES = ["no control", "backpressure", "load shedding"] as const;
export type Mode = (typeof MODES)[number];

export interface Tick {
  readonly tick: number;
  readonly arrive: number;
  /** What waits at the end of the tick. */
  readonly queue: number;
  /** Held at the producer at the end of the tick. */
  readonly held: number;
  /** Refused so far. */
  readonly refused: number;
}

export interface ModeReport {
  readonly mode: Mode;
  readonly ticks: readonly Tick[];
  readonly processed: number;
  readonly peakQueue: number;
  readonly refused: number;
  readonly leftInQueue: number;
  readonly held: number;
}

/** The burst of the well-known table: six ticks of four tasks, then none; two are finished per tick; room for four. */
export const THREE_MODES: ThreeModesSpec = { arrivals: [4, 4, 4, 4, 4, 4, 0, 0, 0, 0], perTick: 2, bound: 4 };

/** @returns what becomes of the same arrivals in each of the three modes */
export function threeModes(spec: ThreeModesSpec = THREE_MODES): ModeReport[] {
  return MODES.map((mode) => runMode(mode, spec));
}

function runMode(mode: Mode, { arrivals, perTick, bound }: ThreeModesSpec): ModeReport {
  const count = mode === "no control" ? Number.MAX_SAFE_INTEGER : bound;
  const queue = new CommandQueue({ count, bytes: Number.MAX_SAFE_INTEGER });
  const ticks: Tick[] = [];
  let [sequence, held, refused, processed] = [0, 0, 0, 0];
  for (const [at, arrive] of arrivals.entries()) {
    // What was held back goes first: it came earlier.
    const coming = held + arrive;
    const candidate = { tenant: "t", weight: 1, bytes: 1, critical: false, acceptedAtMs: at, deadlineAtMs: null };
    let taken = 0;
    while (taken < coming && typeof queue.offer(candidate, () => ++sequence, at) !== "string") taken += 1;
    if (mode === "backpressure") held = coming - taken;
    else refused += coming - taken;
    for (let n = 0; n < perTick && queue.take() !== undefined; n++) processed += 1;
    ticks.push({ tick: at + 1, arrive, queue: queue.depth, held, refused });
  }
  const peakQueue = Math.max(0, ...ticks.map((tick) => tick.queue));
  return { mode, ticks, processed, peakQueue, refused, leftInQueue: queue.depth, held };
}
