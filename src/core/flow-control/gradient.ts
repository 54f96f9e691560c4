import { type LimitFunction, valueAt } from "./functions.ts";
import type { LimitSample } from "./sample.ts";

/**
 * The limit after the gradient of time, as Netflix concurrency-limits publishes it: the shortest time seen over the
 * present one says how much of the limit is of use, and some room for a queue is added. Every so often it starts over
 * from that room, to learn the shortest time anew.
 */

export interface GradientParams {
  readonly initialLimit: number;
  readonly minLimit: number;
  readonly maxLimit: number;
  /** How many times the shortest time is still no sign of load, ≥ 1. */
  readonly rttTolerance: number;
  /** How much of a step down is taken, 0 < s ≤ 1. */
  readonly smoothing: number;
  readonly queueSize: LimitFunction;
  /** What a lost command leaves of the limit, before smoothing. */
  readonly backoffRatio: number;
  /** Starts over after one to two times so many samples; null: never. */
  readonly probeInterval: number | null;
}

export const GRADIENT_DEFAULTS: GradientParams = {
  initialLimit: 50,
  minLimit: 1,
  maxLimit: 1000,
  rttTolerance: 2,
  smoothing: 0.2,
  queueSize: { times: 1, of: "sqrt", min: 4 },
  backoffRatio: 0.9,
  probeInterval: 1000,
};

export interface GradientState {
  readonly estimate: number;
  /** The shortest time since it last started over. */
  readonly noLoadMs: number | null;
  /** Samples until it starts over; null: it never does. */
  readonly probeIn: number | null;
}

/** @param random in [0, 1) */
export function gradientStart(params: GradientParams, random: number): GradientState {
  return { estimate: params.initialLimit, noLoadMs: null, probeIn: countdown(params, random) };
}

/** @param random in [0, 1); used only when this sample makes it start over */
export function gradient(
  state: GradientState,
  params: GradientParams,
  sample: LimitSample,
  random: number,
): GradientState {
  const queueSize = valueAt(params.queueSize, state.estimate);
  if (state.probeIn !== null && state.probeIn <= 0) {
    return {
      estimate: Math.max(params.minLimit, queueSize),
      noLoadMs: null,
      probeIn: countdown(params, random),
    };
  }
  const probeIn = state.probeIn === null ? null : state.probeIn - 1;
  const noLoadMs = Math.min(state.noLoadMs ?? sample.rttMs, sample.rttMs);
  return { probeIn, noLoadMs, estimate: estimate(state.estimate, noLoadMs, queueSize, params, sample) };
}

function estimate(
  now: number,
  noLoadMs: number,
  queueSize: number,
  params: GradientParams,
  sample: LimitSample,
): number {
  // Far from being used up: there is nothing to learn about more.
  if (!sample.dropped && sample.inFlight < now / 2) return now;
  const slope = Math.max(0.5, Math.min(1, (params.rttTolerance * noLoadMs) / sample.rttMs));
  const wanted = sample.dropped ? now * params.backoffRatio : now * slope + queueSize;
  const smoothed =
    wanted < now ? Math.max(params.minLimit, now * (1 - params.smoothing) + params.smoothing * wanted) : wanted;
  return Math.max(queueSize, Math.min(params.maxLimit, smoothed));
}

function countdown({ probeInterval }: GradientParams, random: number): number | null {
  return probeInterval === null ? null : probeInterval + Math.floor(random * probeInterval);
}
