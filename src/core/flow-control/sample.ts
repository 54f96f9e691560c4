/** What every limit algorithm is fed with, and what it must give. */

/** One finished command. Ignored ones are never turned into a sample: they touch no limit. */
export interface LimitSample {
  /** From acceptance to processed, in milliseconds, > 0. */
  readonly rttMs: number;
  /** Commands in flight when it was accepted, itself included. */
  readonly inFlight: number;
  /** It was lost to overload (a timeout, a refusal behind us), whatever its time says. */
  readonly dropped: boolean;
}

/** The clock has whole milliseconds, and a command may begin and end within one: its time is still not nothing. */
export const RTT_MIN_MS = 0.001;
