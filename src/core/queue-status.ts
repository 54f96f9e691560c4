import type { Histogram } from "./histogram.ts";
import type { UsageCounts } from "./usage-minutes.ts";

/** How an engine stands, as everybody may see it: what the object tells, the route answers, and the client reads. */

/** What `GET /v1/queue` shows: of one engine object, or of all together. */
export interface QueueStatus {
  readonly depth: number;
  readonly criticalDepth: number;
  readonly running: number;
  /** Between two attempts at an upstream. */
  readonly retrying: number;
  /** Saved with no work planned. */
  readonly deferred: number;
  readonly inFlight: number;
  readonly bound: number;
  readonly depthPercent: number;
  readonly oldestWaitSeconds: number;
  readonly completedLastMinute: number;
  /** Null while nothing has finished in the last minute. */
  readonly pacePerSecond: number | null;
  readonly peakDepth: number;
  readonly paused: boolean;
  /** How the upstream stands, where there is one. */
  readonly upstream?: UpstreamStatus;
  /** What limits the commands in flight, and to how many now; null where nothing does. */
  readonly limit: { readonly algorithm: string; readonly value: number | null };
  /** Ends are exact over restarts; refusals count from the object's start. */
  readonly counters: {
    readonly accepted: number;
    readonly completed: number;
    readonly failed: number;
    readonly dead: number;
    readonly cancelled: number;
    readonly expired: number;
    readonly refused: Readonly<Record<string, number>>;
  };
}

/** What only operators see of it. */
export interface EngineReport extends QueueStatus {
  readonly operator: OperatorStatus;
}

export interface OperatorStatus {
  /** Whether ordinary commands are taken while it is paused. */
  readonly accepting: boolean;
  /** What a caller would be told whose command is refused now; null while there is room. */
  readonly retryAfterSeconds: number | null;
  /** The least that what limits the commands in flight goes down to; null where it does not move. */
  readonly limitFloor: number | null;
  /** Commands that may be written a second now; null where nothing limits them. */
  readonly writeRatePerSecond: number | null;
  /** Bytes in use on the object's disk; past `bytesMax` it takes critical commands only. */
  readonly storage: { readonly bytes: number; readonly bytesMax: number };
  /** Dead letters that no operator has dealt with. */
  readonly deadLetters: number;
  /** Commands that were ever dead, those that were sent again included. */
  readonly everDead: number;
  readonly measured: EngineMeasures;
}

/** Since the object started, unlike the counters of commands. */
export interface EngineMeasures {
  readonly processing: Histogram;
  readonly retryAfter: Histogram;
  readonly limiterDegraded: number;
  /** Checks of callers that are addresses. */
  readonly addresses: UsageCounts;
}

/** What an operator sees of the upstream. */
export interface UpstreamStatus {
  /** It is asked freely; not at all; or by one attempt at a time until one is answered. */
  readonly state: "delivering" | "waiting" | "probing";
  /** When it is asked again, while it waits. */
  readonly resumesInSeconds?: number;
}
