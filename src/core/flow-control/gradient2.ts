import { type LimitFunction, valueAt } from "./functions.ts";
import type { LimitSample } from "./sample.ts";

/**
 * The limit after the gradient of the present time against a long average of it, as Netflix concurrency-limits
 * publishes it. No probing: the average follows slow changes, and is pulled down when load has gone.
 */

export interface Gradient2Params {
  readonly initialLimit: number;
  readonly minLimit: number;
  readonly maxLimit: number;
  /** How many times the long average is still no sign of load, ≥ 1. */
  readonly rttTolerance: number;
  /** How much of each step is taken, 0 < s ≤ 1. */
  readonly smoothing: number;
  readonly queueSize: LimitFunction;
  /** Samples that the long average looks back over. */
  readonly longWindow: number;
}

export const GRADIENT2_DEFAULTS: Gradient2Params = {
  initialLimit: 20,
  minLimit: 20,
  maxLimit: 200,
  rttTolerance: 1.5,
  smoothing: 0.2,
  queueSize: 4,
  longWindow: 600,
};

export interface Gradient2State {
  readonly estimate: number;
  readonly average: LongAverage;
}

/** A plain mean over the first samples, an exponential average afterwards. */
interface LongAverage {
  readonly value: number;
  readonly sum: number;
  readonly count: number;
}

const WARM_UP_SAMPLES = 10;
/** The average is this many times the present time: load has gone, and it must not take the whole window to see it. */
const DRIFT_RATIO = 2;
const DRIFT_DECAY = 0.95;

export function gradient2Start(params: Gradient2Params): Gradient2State {
  return { estimate: params.initialLimit, average: { value: 0, sum: 0, count: 0 } };
}

export function gradient2(state: Gradient2State, params: Gradient2Params, sample: LimitSample): Gradient2State {
  const now = state.estimate;
  const average = added(state.average, sample.rttMs, params.longWindow);
  const longRtt = average.value;
  const next = longRtt / sample.rttMs > DRIFT_RATIO ? { ...average, value: longRtt * DRIFT_DECAY } : average;
  // Far from being used up: there is nothing to learn about more.
  if (sample.inFlight < now / 2) return { estimate: now, average: next };
  const slope = Math.max(0.5, Math.min(1, (params.rttTolerance * longRtt) / sample.rttMs));
  const wanted = now * slope + valueAt(params.queueSize, now);
  const smoothed = now * (1 - params.smoothing) + wanted * params.smoothing;
  return { estimate: Math.max(params.minLimit, Math.min(params.maxLimit, smoothed)), average: next };
}

function added({ value, sum, count }: LongAverage, rttMs: number, window: number): LongAverage {
  if (count < WARM_UP_SAMPLES) return { value: (sum + rttMs) / (count + 1), sum: sum + rttMs, count: count + 1 };
  const factor = 2 / (window + 1);
  return { value: value * (1 - factor) + rttMs * factor, sum, count };
}
