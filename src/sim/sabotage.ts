/**
 * Ways to break the gateway on purpose, one for each promise at least: what the checks must find. A world without
 * sabotage never comes here.
 */
export const SABOTAGES = [
  /** 1: two requests that come together look at the same bucket, and both are charged to what it was. */
  "bucket-read-twice",
  /** 2: the bound is checked in one step, and the place is taken in a later one. */
  "two-step-queue",
  /** 2: an attempt that failed keeps its slot. */
  "slot-leak",
  /** 3: commands that ran when the object died are not taken up again. */
  "forgets-running",
  /** 4: a refused command leaves a row. */
  "refusal-writes",
  /** 5: seconds are rounded down. */
  "retry-after-short",
  /** 6: the closed gate is for critical commands too. */
  "gate-refuses-critical",
  /** 7: an attempt is made under an id of its own. */
  "other-id",
  /** 7: used keys of callers are lost with memory. */
  "forgets-keys",
  /** 8: a bucket that was written only when it fell idle. */
  "forgets-debt",
  /** 9: nobody looks at the clock of those who wait for room. */
  "waits-without-end",
  /** 9: who hung up keeps its place in the line. */
  "abandoned-stays",
] as const;

export type Sabotage = (typeof SABOTAGES)[number];
