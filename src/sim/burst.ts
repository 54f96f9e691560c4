import type { RetryAfterFormula } from "../core/return-times.ts";
import { type Manners, PLAIN_ENGINE, PLAIN_LOAD, PLAIN_NETWORK, type WorldSpec } from "./spec.ts";

/** The burst, as data: jobs at a fixed rate for some seconds in front of workers, perhaps with a quota behind them. */

export interface BurstOptions {
  readonly seed: number;
  /** Jobs a second, and for how many seconds. */
  readonly rate: number;
  readonly seconds: number;
  readonly workers: number;
  /** Jobs at a time that a worker runs. */
  readonly slots: number;
  readonly jobMs: number;
  readonly spread: number;
  /** Null: none. */
  readonly bound: number | null;
  /** Whether the backend has a quota of 50 at once and then 50 a minute, and whether we were told of it. */
  readonly quota: "on" | "off" | "untold";
  readonly formula: RetryAfterFormula;
  readonly callers: Manners;
  /** How many bursts, and from the beginning of one to that of the next, in seconds. */
  readonly bursts: number;
  readonly everySeconds: number;
}

export const BURST: BurstOptions = {
  seed: 1,
  rate: 10,
  seconds: 30,
  workers: 2,
  slots: 4,
  jobMs: 2_200,
  spread: 0,
  bound: 100,
  quota: "on",
  formula: "plain",
  callers: "never",
  bursts: 1,
  everySeconds: 400,
};

const DAY = 86_400;
const BURST_QUOTA = { burst: 50, perMinute: 50 };
/** A caller that obeys comes back until it is taken. */
const TRIES_MAX = 50;

/** Jobs at a fixed rate for some seconds, in front of workers, perhaps with a quota behind them, perhaps repeatedly. */
export function burstWorld(options: BurstOptions): WorldSpec {
  const { rate, seconds, bursts, everySeconds } = options;
  const quota = options.quota === "off" ? null : BURST_QUOTA;
  const pause = { seconds: Math.max(0, everySeconds - seconds), from: 0, to: 0 };
  const phases = Array.from({ length: bursts }, (_, n) => {
    const burst = { seconds, from: rate, to: rate };
    return n + 1 < bursts ? [burst, pause] : [burst];
  }).flat();
  return {
    seed: options.seed,
    seconds: DAY,
    tenants: [{ name: "t", limit: null, weight: 1 }],
    network: PLAIN_NETWORK,
    faults: [],
    loads: [{ ...PLAIN_LOAD, phases, manners: options.callers, triesMax: TRIES_MAX }],
    engine: {
      ...PLAIN_ENGINE,
      bound: options.bound,
      retryAfter: options.formula,
      concurrency: options.workers * options.slots,
      timeoutMs: 2 * options.jobMs + 30_000,
      quota: options.quota === "on" ? BURST_QUOTA : null,
    },
    backend: { jobMs: options.jobMs, spread: options.spread, quota, troubles: [] },
  };
}
