import type { LeaseAsk, View } from "./lease.ts";
import type { Decision } from "./limiter.ts";
import type { Limits } from "./policy.ts";
import type { Receipt } from "./receipts.ts";
import type { Subjects } from "./subjects.ts";

/** What an isolate and a limiter object say to each other about one request. Left out is what would say nothing. */

export interface LimiterRequest {
  /** Whole tokens, ≥ 0. */
  readonly cost: number;
  /** A critical command: counted, and refused only past the ceiling against floods. */
  readonly critical?: boolean;
  /** The request is refused further on whatever this says: judge it, and charge nothing. */
  readonly judgeOnly?: boolean;
  /** What the caller knows of this tenant's limits; the newest version that the object has seen holds. */
  readonly limits?: Limits | null;
  /** The tier that they are of, under which the tenant's use is counted; told along with them. */
  readonly tier?: string | null;
  /** In their place, once the object has been told them: whoever asks need not send them each time. */
  readonly version?: number;
  /** Whose use it is within the tenant. Absent where nothing is counted by it. */
  readonly subjects?: Subjects;
  /** The isolate's number. It goes by what it is shown of meters that are used up; absent: it keeps nothing. */
  readonly isolate?: number;
  /** The isolate's lease: what was of it, and what is to be. */
  readonly lease?: LeaseAsk;
  /** Nobody further on refuses this request: its charge is never given back. */
  readonly final?: boolean;
}

/** The object has lost, or never had, the limits of which it was told the version only: nothing was decided. */
export const UNKNOWN_LIMITS = { outcome: "unknown_limits" } as const;

/** A decision, with the receipt of its charge where there was one that can be given back. */
export type Charged = Decision & {
  readonly receipt?: Receipt;
  /** By which the isolate can decide the next requests of these subjects. */
  readonly view?: View;
};
