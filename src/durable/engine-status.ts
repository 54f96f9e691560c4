import type { EngineParts } from "./engine-parts.ts";

/** What `GET /v1/queue` shows of one engine object. */
export interface EngineStatus {
  readonly depth: number;
  readonly criticalDepth: number;
  readonly running: number;
  readonly inFlight: number;
  readonly bound: number;
  readonly depthPercent: number;
  readonly oldestWaitSeconds: number;
  readonly completedLastMinute: number;
  /** Null while nothing has finished in the last minute. */
  readonly pacePerSecond: number | null;
  readonly peakDepth: number;
  readonly paused: boolean;
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

export function statusOf(parts: EngineParts, refused: Readonly<Record<string, number>>, nowMs: number): EngineStatus {
  const { depth, criticalDepth, peakDepth, bounds } = parts.queue;
  const oldest = parts.queue.oldestAcceptedAtMs();
  const pace = parts.pace.perSecond(nowMs);
  const { succeeded: completed, ...otherEnds } = parts.ledger.ends;
  return {
    depth,
    criticalDepth,
    // The embedded executor starts and ends a command within one event, so none is ever seen running.
    running: 0,
    inFlight: depth + criticalDepth,
    bound: bounds.count,
    depthPercent: round(100 * (depth / bounds.count), 1),
    oldestWaitSeconds: oldest === null ? 0 : round(Math.max(0, nowMs - oldest) / 1000, 1),
    completedLastMinute: parts.pace.completedLastMinute(nowMs),
    pacePerSecond: pace === null ? null : round(pace, 2),
    peakDepth,
    paused: parts.settings.paused,
    counters: { accepted: parts.ledger.accepted, completed, ...otherEnds, refused },
  };
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
