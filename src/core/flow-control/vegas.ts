import { type LimitFunction, log10Root, valueAt } from "./functions.ts";
import type { LimitSample } from "./sample.ts";

/**
 * The limit after TCP Vegas, as Netflix concurrency-limits publishes it: it estimates how many of the commands in
 * flight only wait, from the time without load, and keeps that number between alpha and beta.
 */

export interface VegasParams {
  readonly initialLimit: number;
  readonly maxLimit: number;
  /** Fewer waiting than this: grow. */
  readonly alpha: LimitFunction;
  /** More waiting than this: shrink. */
  readonly beta: LimitFunction;
  /** How much of each step is taken, 0 < s ≤ 1. */
  readonly smoothing: number;
  /** A new time without load is taken after about so many × limit samples; null: never. */
  readonly probeMultiplier: number | null;
}

export const VEGAS_DEFAULTS: VegasParams = {
  initialLimit: 20,
  maxLimit: 1000,
  alpha: { times: 3, of: "log10" },
  beta: { times: 6, of: "log10" },
  smoothing: 1,
  probeMultiplier: 30,
};

export interface VegasState {
  readonly estimate: number;
  /** The shortest time seen since the last probe; null before the first sample. */
  readonly noLoadMs: number | null;
  readonly samples: number;
  /** Drawn anew after each probe, in [0.5, 1), so that many limits do not probe together. */
  readonly probeJitter: number;
}

/** @param random in [0, 1) */
export function vegasStart(params: VegasParams, random: number): VegasState {
  return { estimate: params.initialLimit, noLoadMs: null, samples: 0, probeJitter: jitter(random) };
}

/** @param random in [0, 1); used only when this sample is a probe */
export function vegas(state: VegasState, params: VegasParams, sample: LimitSample, random: number): VegasState {
  const samples = state.samples + 1;
  const { probeMultiplier } = params;
  if (probeMultiplier !== null && state.probeJitter * probeMultiplier * state.estimate <= samples) {
    return { ...state, noLoadMs: sample.rttMs, samples: 0, probeJitter: jitter(random) };
  }
  const { noLoadMs } = state;
  if (noLoadMs === null || sample.rttMs < noLoadMs) return { ...state, samples, noLoadMs: sample.rttMs };
  return { ...state, samples, estimate: estimate(state.estimate, noLoadMs, params, sample) };
}

function estimate(now: number, noLoadMs: number, params: VegasParams, sample: LimitSample): number {
  const step = log10Root(Math.trunc(now));
  const queued = Math.ceil(now * (1 - noLoadMs / sample.rttMs));
  const alpha = valueAt(params.alpha, now);
  const beta = valueAt(params.beta, now);
  const next = () => {
    if (sample.dropped) return now - step;
    // Far from being used up: there is nothing to learn about more.
    if (sample.inFlight * 2 < now) return null;
    if (queued <= step) return now + beta;
    if (queued < alpha) return now + step;
    return queued > beta ? now - step : null;
  };
  const wanted = next();
  if (wanted === null) return now;
  const bounded = Math.max(1, Math.min(params.maxLimit, wanted));
  return (1 - params.smoothing) * now + params.smoothing * bounded;
}

function jitter(random: number): number {
  return 0.5 + random / 2;
}
