import { AIMD_DEFAULTS, type AimdParams, aimd } from "./aimd.ts";
import { GRADIENT_DEFAULTS, type GradientParams, type GradientState, gradient, gradientStart } from "./gradient.ts";
import {
  GRADIENT2_DEFAULTS,
  type Gradient2Params,
  type Gradient2State,
  gradient2,
  gradient2Start,
} from "./gradient2.ts";
import { type LimitSample, RTT_MIN_MS } from "./sample.ts";
import { VEGAS_DEFAULTS, type VegasParams, type VegasState, vegas, vegasStart } from "./vegas.ts";
import { FIRST_WINDOW, gather, type WindowState } from "./window.ts";

/**
 * The limit on what is in flight, whatever its algorithm: state and sample in, state out. Time and chance are
 * arguments. State is plain data of one algorithm; a change of algorithm starts a new one.
 */

export type LimitConfig = { readonly windowed: boolean } & (
  | { readonly algorithm: "fixed"; readonly params: FixedParams }
  | { readonly algorithm: "aimd"; readonly params: AimdParams }
  | { readonly algorithm: "vegas"; readonly params: VegasParams }
  | { readonly algorithm: "gradient"; readonly params: GradientParams }
  | { readonly algorithm: "gradient2"; readonly params: Gradient2Params }
);

export interface FixedParams {
  readonly limit: number;
}

export const LIMIT_DEFAULTS = {
  fixed: { limit: 200 },
  aimd: AIMD_DEFAULTS,
  vegas: VEGAS_DEFAULTS,
  gradient: GRADIENT_DEFAULTS,
  gradient2: GRADIENT2_DEFAULTS,
} as const;

export type LimitAlgorithm = keyof typeof LIMIT_DEFAULTS;

type AlgorithmState =
  | { readonly algorithm: "fixed"; readonly limit: number }
  | { readonly algorithm: "aimd"; readonly limit: number }
  | { readonly algorithm: "vegas"; readonly vegas: VegasState }
  | { readonly algorithm: "gradient"; readonly gradient: GradientState }
  | { readonly algorithm: "gradient2"; readonly gradient2: Gradient2State };

export interface LimitState {
  readonly state: AlgorithmState;
  readonly window: WindowState;
}

/** @param random in [0, 1), for the first probe */
export function startLimit(config: LimitConfig, random: number): LimitState {
  return { state: startAlgorithm(config, random), window: FIRST_WINDOW };
}

function startAlgorithm(config: LimitConfig, random: number): AlgorithmState {
  switch (config.algorithm) {
    case "fixed":
      return { algorithm: "fixed", limit: config.params.limit };
    case "aimd":
      return { algorithm: "aimd", limit: config.params.initialLimit };
    case "vegas":
      return { algorithm: "vegas", vegas: vegasStart(config.params, random) };
    case "gradient":
      return { algorithm: "gradient", gradient: gradientStart(config.params, random) };
    case "gradient2":
      return { algorithm: "gradient2", gradient2: gradient2Start(config.params) };
  }
}

/** The same limit under other parameters: what it has learned holds, as far as the new bounds allow. */
export function carryLimit(limit: LimitState, config: LimitConfig, random: number): LimitState {
  const { state, window } = limit;
  const carried = carryAlgorithm(state, config);
  return carried === null ? startLimit(config, random) : { window, state: carried };
}

/** Null where nothing was learned for this algorithm. */
function carryAlgorithm(state: AlgorithmState, { algorithm, params }: LimitConfig): AlgorithmState | null {
  if (algorithm === "fixed" || state.algorithm !== algorithm) return null;
  const minLimit = "minLimit" in params ? params.minLimit : 1;
  const bounded = (limit: number) => Math.min(params.maxLimit, Math.max(minLimit, limit));
  switch (state.algorithm) {
    case "aimd":
      return { ...state, limit: bounded(state.limit) };
    case "vegas":
      return { ...state, vegas: { ...state.vegas, estimate: bounded(state.vegas.estimate) } };
    case "gradient":
      return { ...state, gradient: { ...state.gradient, estimate: bounded(state.gradient.estimate) } };
    case "gradient2":
      return { ...state, gradient2: { ...state.gradient2, estimate: bounded(state.gradient2.estimate) } };
  }
}

/** How many may be in flight: whole, ≥ 1. */
export function limitOf({ state }: LimitState): number {
  switch (state.algorithm) {
    case "fixed":
    case "aimd":
      return state.limit;
    case "vegas":
      return Math.trunc(state.vegas.estimate);
    case "gradient":
      return Math.trunc(state.gradient.estimate);
    case "gradient2":
      return Math.trunc(state.gradient2.estimate);
  }
}

/**
 * The limit after one finished command.
 *
 * @param endMs when it finished, Unix milliseconds; only windows look at it
 * @param random in [0, 1), for probes
 */
export function onSample(
  limit: LimitState,
  config: LimitConfig,
  sample: LimitSample,
  endMs: number,
  random: number,
): LimitState {
  const measured = { ...sample, rttMs: Math.max(RTT_MIN_MS, sample.rttMs) };
  if (!config.windowed) return { ...limit, state: step(limit.state, config, measured, random) };
  const { window, closed } = gather(limit.window, measured, endMs);
  return { window, state: closed === null ? limit.state : step(limit.state, config, closed, random) };
}

function step(state: AlgorithmState, config: LimitConfig, sample: LimitSample, random: number): AlgorithmState {
  switch (config.algorithm) {
    case "fixed":
      return { algorithm: "fixed", limit: config.params.limit };
    case "aimd":
      if (state.algorithm !== "aimd") break;
      return { algorithm: "aimd", limit: aimd(state.limit, config.params, sample) };
    case "vegas":
      if (state.algorithm !== "vegas") break;
      return { algorithm: "vegas", vegas: vegas(state.vegas, config.params, sample, random) };
    case "gradient":
      if (state.algorithm !== "gradient") break;
      return { algorithm: "gradient", gradient: gradient(state.gradient, config.params, sample, random) };
    case "gradient2":
      if (state.algorithm !== "gradient2") break;
      return { algorithm: "gradient2", gradient2: gradient2(state.gradient2, config.params, sample) };
  }
  throw new Error(`a sample for ${config.algorithm} met the state of ${state.algorithm}`);
}
