import type { CapacityReport } from "../sim/capacity.ts";
import type { EdgeReport } from "../sim/edge.ts";
import type { Report } from "../sim/report.ts";
import type { RetryRow } from "../sim/retry-table.ts";
import type { Claim } from "../sim/scenarios.ts";
import type { ModeReport } from "../sim/three-modes.ts";
import { alignRows } from "./text-table.ts";

/** What `npm run simulate` prints for people. */

/** Of a run of a world. */
export function reportTable(report: Report, claims: readonly Claim[]): string {
  const { retryAfter, waits, firstRetries, ends, critical, refusals } = report;
  const rows: [string, string][] = [
    ["requests", `${report.offered}`],
    [
      "accepted",
      `${report.accepted}${report.accepted > report.acceptedAtOnce ? ` (${report.acceptedAtOnce} at once)` : ""}`,
    ],
    ["refused", `${report.refused}${listed(refusals)}`],
    ["longest queue", `${report.peakDepth}`],
    ["oldest wait at the last arrival", seconds(report.oldestWaitSeconds)],
    ["queue empty at", report.emptyAtSeconds === null ? "not yet" : seconds(report.emptyAtSeconds)],
    [
      "Retry-After",
      retryAfter === null ? "-" : `${retryAfter.min} to ${retryAfter.max} s, mean ${round(retryAfter.mean)}`,
    ],
    [
      "wait until it begins",
      waits === null ? "-" : `p50 ${round(waits.p50)} p99 ${round(waits.p99)} max ${round(waits.max)} s`,
    ],
    ["ended", `${ends.succeeded} succeeded${listed({ ...ends, succeeded: 0 })}`],
  ];
  if (firstRetries.asked > 0) {
    const share = round((100 * firstRetries.taken) / firstRetries.asked);
    rows.push(["first retries", `${firstRetries.taken} of ${firstRetries.asked} taken, ${share} %`]);
    rows.push(["gave up", `${report.gaveUp}`]);
  }
  if (critical.offered > 0) rows.push(["critical", `${critical.offered}, ${critical.refused} refused`]);
  rows.push(["simulated", `${round(report.seconds)} s, ${report.events} events`]);
  return [...alignRows(rows), ...claims.map(({ says, holds }) => `${holds ? "holds" : "BROKEN"}  ${says}`)].join("\n");
}

export function modesTable(modes: readonly ModeReport[]): string {
  const [none, held, shed] = modes;
  const head = ["tick", "arrive", "no control", "backpressure", "held", "load shedding", "refused"];
  const ticks = (none?.ticks ?? []).map(({ tick, arrive, queue }, n) => {
    const [b, c] = [held?.ticks[n], shed?.ticks[n]];
    return [tick, arrive, queue, b?.queue, b?.held, c?.queue, c?.refused].map(String);
  });
  const totals = modes.map(({ mode, processed, peakQueue, refused, leftInQueue, held: still }) => [
    mode,
    `${processed}`,
    `${peakQueue}`,
    `${refused}`,
    `${leftInQueue}`,
    `${still}`,
  ]);
  const totalHead = ["", "processed", "peak queue", "refused", "left in queue", "held"];
  return [...alignRows([head, ...ticks]), "", ...alignRows([totalHead, ...totals])].join("\n");
}

export function capacityTable(report: CapacityReport): string {
  return alignRows([
    ["needed pace", `${round(report.neededPace)}/s`],
    ["headroom of the queue", seconds(report.headroomSeconds)],
    [`longest wait at ${round(report.rate)}/s`, seconds(report.longestWaitSeconds)],
    ["longest wait at the needed pace", seconds(report.longestWaitAtNeededPaceSeconds)],
    ["can be told by Retry-After", report.tellable ? "yes" : "no: more than 300 s"],
  ]).join("\n");
}

export function edgeTable(report: EdgeReport): string {
  const { dollars } = report;
  const money = (amount: number) => `${round(amount)} $`;
  return alignRows([
    ["checks run", `${report.checksRun} of ${60 * report.rate}`],
    ["admitted", `${round(100 * report.admittedShare)} %`],
    ["calls of objects per million checks", `${Math.round(report.callsPerMillion)}`],
    ["rows written per million checks", `${Math.round(report.rowsPerMillion)}`],
    ["questions to D1 per million checks", `${Math.round(report.lookupsPerMillion)}`],
    ["questions to D1", `${Math.round(report.lookupsPerSecond)}/s`],
    ["most admitted beyond a limit", `${report.overAdmitted} tokens`],
    ["objects in memory", `${Math.round(report.objectsAwake)}`],
    ["hottest object", `${Math.round(report.hottestPerSecond)} calls/s`],
    ["objects with more than 1000 calls/s", `${report.tooHot}`],
    ["checks per isolate", `${round(report.perIsolate)}/s`],
    ["price per million checks", money(dollars.perMillion)],
    [
      "  Workers, calls, rows, duration (at most)",
      [dollars.workers, dollars.calls, dollars.rows, dollars.duration].map(money).join(", "),
    ],
    ["price per month at this rate", money(dollars.perMonth)],
  ]).join("\n");
}

export function retriesTable(rows: readonly RetryRow[]): string {
  const head = ["of those who come back as told, taken at once", "formula", "told", "callers", "taken"];
  const body = rows.map(({ world, formula, asked, mean, deviation, toldMin, toldMax }) => [
    world,
    formula,
    `${toldMin} to ${toldMax} s`,
    `${asked}`,
    `${round(100 * mean)} ± ${round(100 * deviation)} %`,
  ]);
  return alignRows([head, ...body]).join("\n");
}

function listed(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? "" : ` (${some.map(([name, count]) => `${name} ${count}`).join(", ")})`;
}

function seconds(value: number): string {
  return `${round(value)} s`;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
