import type { LimitSample } from "./sample.ts";

/**
 * Samples gathered over a window and given on as one: mean time, largest in flight, any loss. So a limit moves once a
 * second on what many commands say, and not with each of them (Netflix concurrency-limits, WindowedLimit).
 */

export interface WindowState {
  /** The window that is open ends with the first sample after this, Unix milliseconds. */
  readonly endsAtMs: number;
  readonly samples: number;
  readonly sumMs: number;
  readonly maxInFlight: number;
  readonly dropped: boolean;
}

export const WINDOW_MS = 1000;
/** A window with fewer samples says too little; it is passed over. */
export const WINDOW_SAMPLES_MIN = 10;
/** Shorter times are no measurement of anything. */
const RTT_THRESHOLD_MS = 0.1;

export const FIRST_WINDOW: WindowState = { endsAtMs: 0, samples: 0, sumMs: 0, maxInFlight: 0, dropped: false };

/**
 * @param endMs when the sampled command finished, Unix milliseconds
 * @returns the window after the sample, and the one sample that a window just ended stands for, if it has enough
 */
export function gather(
  window: WindowState,
  sample: LimitSample,
  endMs: number,
): { window: WindowState; closed: LimitSample | null } {
  if (sample.rttMs < RTT_THRESHOLD_MS) return { window, closed: null };
  const samples = window.samples + 1;
  const sumMs = window.sumMs + sample.rttMs;
  const maxInFlight = Math.max(window.maxInFlight, sample.inFlight);
  const dropped = window.dropped || sample.dropped;
  if (endMs <= window.endsAtMs) {
    return { window: { endsAtMs: window.endsAtMs, samples, sumMs, maxInFlight, dropped }, closed: null };
  }
  return {
    window: { ...FIRST_WINDOW, endsAtMs: endMs + WINDOW_MS },
    closed: samples >= WINDOW_SAMPLES_MIN ? { rttMs: sumMs / samples, inFlight: maxInFlight, dropped } : null,
  };
}
