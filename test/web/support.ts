import type { Look } from "../../src/web/dashboard/history.ts";
import type { AdminQueue } from "../../src/web/dashboard/shapes.ts";

/** A queue in which nothing happens, with some of it changed. */
export function queueOf(part: Partial<AdminQueue> = {}): AdminQueue {
  return {
    depth: 0,
    criticalDepth: 0,
    running: 0,
    retrying: 0,
    deferred: 0,
    inFlight: 0,
    bound: 100,
    depthPercent: part.depth ?? 0,
    oldestWaitSeconds: 0,
    completedLastMinute: 60,
    pacePerSecond: 10,
    peakDepth: 0,
    paused: false,
    accepting: true,
    retryAfterSeconds: null,
    partitions: 1,
    limit: { algorithm: "aimd", value: 200 },
    counters: { accepted: 0, completed: 0, failed: 0, dead: 0, cancelled: 0, expired: 0, refused: {} },
    ...part,
  };
}

export function look(atMs: number, part: Partial<Look> = {}): Look {
  return { atMs, depth: 0, bound: 100, inFlight: 0, limit: 200, accepted: 0, refused: {}, hasRoom: true, ...part };
}
