import { PROCESSING_SECONDS, RETRY_AFTER_SECONDS } from "../core/histogram.ts";
import type { OverloadCode } from "../core/problem.ts";
import type { EngineReport } from "../core/queue-status.ts";
import type { Family, Labels } from "./exposition.ts";

/**
 * What engine objects report, as metrics: each partition is a series of its own, numbered from 1 as clients see it in the
 * topology, since each restarts, and counts from zero again, by itself.
 */

/** A partition's report; null: it did not answer. */
export type Reports = readonly (EngineReport | null)[];

type Value = (report: EngineReport) => number | null;

const REFUSED_ALWAYS = ["rate_limited", "queue_full", "request_limit", "write_limit", "engine_paused", "storage_full"];
const OVERLOAD: readonly OverloadCode[] = [
  "queue_full",
  "request_limit",
  "write_limit",
  "engine_paused",
  "storage_full",
];

export function engineFamilies(reports: Reports): Family[] {
  const answered = reports.flatMap((report, n) => (report === null ? [] : [{ report, partition: String(n + 1) }]));
  const each = <T>(of: (report: EngineReport, labels: Labels) => readonly T[]) =>
    answered.flatMap(({ report, partition }) => of(report, { partition }));
  const gauge = (name: string, help: string, value: Value): Family => ({
    type: "gauge",
    name,
    help,
    samples: each((report, labels) => {
      const known = value(report);
      return known === null ? [] : [{ labels, value: known }];
    }),
  });
  /** One series for each value that a label takes. */
  const counters = (name: string, help: string, of: (report: EngineReport) => Counts): Family => ({
    type: "counter",
    name,
    help,
    samples: each((report, labels) => of(report).map(([own, value]) => ({ labels: { ...labels, ...own }, value }))),
  });
  const histogram = (name: string, help: string, bounds: readonly number[], of: "processing" | "retryAfter") =>
    ({
      type: "histogram",
      name,
      help,
      bounds,
      samples: each(({ operator }, labels) => [{ labels, ...operator.measured[of] }]),
    }) satisfies Family;
  return [
    ...gauges(gauge),
    counters("headgate_commands", "Commands accepted, and how they ended. Exact over restarts.", commandsOf),
    counters(
      "headgate_refused",
      "Refusals by code. Those made without asking the engine are told to partition 1.",
      refusedOf,
    ),
    counters("headgate_limiter_degraded", "Requests that no limiter answered for in time.", ({ operator }) => [
      [{}, operator.measured.limiterDegraded],
    ]),
    histogram(
      "headgate_processing_seconds",
      "Time of commands from acceptance to their end, by whatever was behind the queue.",
      PROCESSING_SECONDS,
      "processing",
    ),
    histogram(
      "headgate_retry_after_seconds",
      "What refused callers were told to wait, by the engine or without asking it.",
      RETRY_AFTER_SECONDS,
      "retryAfter",
    ),
    ...zeebeAliases(gauge, counters),
  ];
}

type Counts = readonly (readonly [Labels, number])[];
type Gauge = (name: string, help: string, value: Value) => Family;
type Counters = (name: string, help: string, of: (report: EngineReport) => Counts) => Family;

function gauges(gauge: Gauge): Family[] {
  const limit: Value = ({ limit: { value } }) => value;
  return [
    gauge("headgate_queue_depth", "Ordinary commands that wait.", ({ depth }) => depth),
    gauge("headgate_queue_bound", "The most of them that may wait.", ({ bound }) => bound),
    gauge("headgate_queue_depth_ratio", "Depth over bound.", ({ depth, bound }) => depth / bound),
    gauge("headgate_queue_critical_depth", "Critical commands that wait.", ({ criticalDepth }) => criticalDepth),
    gauge("headgate_queue_oldest_seconds", "How long the oldest has waited.", (report) => report.oldestWaitSeconds),
    gauge("headgate_inflight", "Commands accepted and not yet processed.", ({ inFlight }) => inFlight),
    gauge("headgate_inflight_limit", "The most of them that flow control admits now. Absent: no limit.", limit),
    gauge(
      "headgate_inflight_limit_floor",
      "The least that the limit on them goes down to. Absent: it does not move.",
      ({ operator }) => operator.limitFloor,
    ),
    gauge(
      "headgate_write_rate_limit",
      "Commands that may be written a second now. Absent: no limit.",
      ({ operator }) => operator.writeRatePerSecond,
    ),
    gauge(
      "headgate_pace_per_second",
      "Commands that finish a second while others wait. Absent: nobody knows yet.",
      ({ pacePerSecond }) => pacePerSecond,
    ),
    gauge("headgate_dead_letters", "Dead letters that nobody has dealt with.", ({ operator }) => operator.deadLetters),
    gauge("headgate_storage_bytes", "Bytes in use on the disk.", ({ operator }) => operator.storage.bytes),
    gauge(
      "headgate_storage_bytes_max",
      "Past so many only critical commands are taken.",
      ({ operator }) => operator.storage.bytesMax,
    ),
    gauge("headgate_paused", "1 while an operator has paused it.", ({ paused }) => (paused ? 1 : 0)),
  ];
}

function commandsOf({ counters, operator }: EngineReport): Counts {
  const { accepted, completed, failed, cancelled, expired } = counters;
  const outcomes = { accepted, succeeded: completed, failed, dead: operator.everDead, cancelled, expired };
  return Object.entries(outcomes).map(([outcome, count]) => [{ outcome }, count]);
}

function refusedOf({ counters: { refused } }: EngineReport): Counts {
  const codes = new Set([...REFUSED_ALWAYS, ...Object.keys(refused)]);
  return [...codes].map((code) => [{ code }, refused[code] ?? 0]);
}

/** The names that operators of the engine's own clusters have on their boards. A full queue is too much in flight, there. */
function zeebeAliases(gauge: Gauge, counters: Counters): Family[] {
  const dropped = ({ counters: { refused } }: EngineReport) =>
    OVERLOAD.reduce((sum, code) => sum + (refused[code] ?? 0), 0);
  const flow = ({ counters: { accepted, refused } }: EngineReport) => ({
    accepted,
    requestLimitExhausted: (refused.request_limit ?? 0) + (refused.queue_full ?? 0),
    writeRateLimitExhausted: refused.write_limit ?? 0,
    partitionPaused: refused.engine_paused ?? 0,
  });
  return [
    gauge("zeebe_backpressure_inflight_requests_count", "Alias of headgate_inflight.", ({ inFlight }) => inFlight),
    gauge("zeebe_backpressure_requests_limit", "Alias of headgate_inflight_limit.", ({ limit }) => limit.value),
    counters("zeebe_dropped_request_count", "Commands refused because everyone has to wait.", (report) => [
      [{}, dropped(report)],
    ]),
    counters("zeebe_received_request_count", "Commands accepted or refused.", (report) => [
      [{}, report.counters.accepted + dropped(report)],
    ]),
    counters("zeebe_flow_control", "Commands by what flow control and the queue said.", (report) =>
      Object.entries(flow(report)).map(([outcome, count]) => [{ context: "userCommand", outcome }, count]),
    ),
  ];
}
