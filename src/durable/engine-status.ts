import type { EngineHealth } from "../core/depth-gate.ts";
import type { EngineReport, OperatorStatus, QueueStatus, UpstreamStatus } from "../core/queue-status.ts";
import { ReturnTimes } from "../core/return-times.ts";
import type { EngineParts } from "./engine-parts.ts";

/** How one engine object stands, and what several are together. */

function statusOf(parts: EngineParts, nowMs: number): QueueStatus {
  const { depth, criticalDepth, peakDepth, bounds } = parts.queue;
  const { deferred, retries, running, line } = parts;
  const oldest = parts.queue.oldestAcceptedAtMs();
  const pace = parts.estimates.pacePerSecond(nowMs);
  const { succeeded: completed, ...otherEnds } = parts.ledger.ends;
  return {
    depth,
    criticalDepth,
    // The embedded executor starts and ends a command within one event, so none is ever seen running.
    running: running.size,
    retrying: retries.size,
    deferred: deferred.size,
    inFlight: parts.inFlightCount + deferred.size,
    bound: bounds.count,
    depthPercent: round(100 * (depth / bounds.count), 1),
    oldestWaitSeconds: oldest === null ? 0 : round(Math.max(0, nowMs - oldest) / 1000, 1),
    completedLastMinute: parts.pace.completedLastMinute(nowMs),
    pacePerSecond: pace === null ? null : round(pace, 2),
    peakDepth,
    paused: parts.settings.paused,
    ...(line && { upstream: line.status(nowMs) }),
    limit: { algorithm: parts.flowSettings.algorithm, value: parts.flow.limit },
    counters: { accepted: parts.ledger.accepted, completed, ...otherEnds, refused: parts.refusals.all() },
  };
}

/** The same with what only operators see. @param health what the engine says of itself at this moment */
export function reportOf(parts: EngineParts, health: EngineHealth, nowMs: number): EngineReport {
  return { ...statusOf(parts, nowMs), operator: operatorStatusOf(parts, health, nowMs) };
}

function operatorStatusOf(parts: EngineParts, health: EngineHealth, nowMs: number): OperatorStatus {
  const { settings, flow, flowSettings, dead, ledger, metrics } = parts;
  const { minLimit } = flowSettings.parameters;
  return {
    accepting: settings.accepting,
    retryAfterSeconds: toldNow(health, nowMs),
    limitFloor: typeof minLimit === "number" ? minLimit : null,
    writeRatePerSecond: flow.writesPerSecond(nowMs),
    storage: parts.disk.status(),
    deadLetters: dead.size,
    everDead: ledger.ends.dead + ledger.revived,
    measured: {
      processing: metrics.processing.value,
      retryAfter: metrics.retryAfter.value,
      limiterDegraded: metrics.degraded,
      addresses: metrics.addresses,
    },
  };
}

/** What somebody of whom nobody was told a time yet would be told; whoever really asks may come after others. */
function toldNow({ limit, room, places, retryAfterSeconds }: EngineHealth, nowMs: number): number | null {
  if (limit === null || room > 0) return null;
  if (places === null) return retryAfterSeconds;
  return new ReturnTimes().tell({ tenant: "", weight: 1 }, places.ahead, places.speed, nowMs, MIDDLE);
}

/** Of the jitter of a long wait. */
const MIDDLE = 0.5;

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** What everybody sees, and of the rest what is true of all parts together: the longest time that a caller is told. */
export function addReports(parts: readonly EngineReport[]): QueueOverview {
  const told = parts.flatMap(({ operator }) => operator.retryAfterSeconds ?? []);
  return {
    status: addStatus(parts.map(({ operator: _ofOne, ...status }) => status)),
    accepting: parts.every(({ operator }) => operator.accepting),
    retryAfterSeconds: told.length === 0 ? null : Math.max(...told),
  };
}

export interface QueueOverview extends Pick<OperatorStatus, "accepting" | "retryAfterSeconds"> {
  readonly status: QueueStatus;
}

/** Whether an object's disk takes ordinary commands. */
export type DiskReadiness = "ok" | "storage_full";

/** @throws when the disk cannot be written to: it is locked, damaged or gone. Nothing is changed there */
export function readinessOf({ storage, disk }: EngineParts): DiskReadiness {
  storage.sql.exec("DELETE FROM engine_state WHERE name = ''");
  return disk.isShort ? "storage_full" : "ok";
}

/** What several engine objects are together. Peaks need not have been at the same time, so theirs is an upper bound. */
function addStatus(parts: readonly QueueStatus[]): QueueStatus {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("there is at least one partition");
  return others.reduce(addTwo, first);
}

function addTwo(a: QueueStatus, b: QueueStatus): QueueStatus {
  const depth = a.depth + b.depth;
  const bound = a.bound + b.bound;
  return {
    depth,
    criticalDepth: a.criticalDepth + b.criticalDepth,
    running: a.running + b.running,
    retrying: a.retrying + b.retrying,
    deferred: a.deferred + b.deferred,
    inFlight: a.inFlight + b.inFlight,
    bound,
    depthPercent: round(100 * (depth / bound), 1),
    oldestWaitSeconds: Math.max(a.oldestWaitSeconds, b.oldestWaitSeconds),
    completedLastMinute: a.completedLastMinute + b.completedLastMinute,
    pacePerSecond: addKnown(a.pacePerSecond, b.pacePerSecond),
    peakDepth: a.peakDepth + b.peakDepth,
    paused: a.paused || b.paused,
    ...(a.upstream && b.upstream && { upstream: slower(a.upstream, b.upstream) }),
    limit: { algorithm: a.limit.algorithm, value: addKnown(a.limit.value, b.limit.value) },
    counters: {
      accepted: a.counters.accepted + b.counters.accepted,
      completed: a.counters.completed + b.counters.completed,
      failed: a.counters.failed + b.counters.failed,
      dead: a.counters.dead + b.counters.dead,
      cancelled: a.counters.cancelled + b.counters.cancelled,
      expired: a.counters.expired + b.counters.expired,
      refused: addCounts(a.counters.refused, b.counters.refused),
    },
  };
}

/** Each partition asks the upstream for itself; the one that waits longest is shown. */
function slower(a: UpstreamStatus, b: UpstreamStatus): UpstreamStatus {
  const order = ["delivering", "probing", "waiting"];
  if (a.state !== b.state) return order.indexOf(a.state) > order.indexOf(b.state) ? a : b;
  return (a.resumesInSeconds ?? 0) >= (b.resumesInSeconds ?? 0) ? a : b;
}

function addKnown(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : round(a + b, 2);
}

function addCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const codes = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...codes].map((code) => [code, (a[code] ?? 0) + (b[code] ?? 0)]));
}
