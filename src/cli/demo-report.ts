import { burstReport } from "./burst-report.ts";
import { ACCEPTED, type Check, RETRY_AFTER_SECONDS } from "./demo-judge.ts";
import type { DemoOutcome } from "./demo-run.ts";
import { type DemoPlan, expectedSeconds, isTablePlan } from "./demo-settings.ts";
import type { Spread } from "./statistics.ts";
import { alignRows } from "./text-table.ts";

/** What the demo says: what it is about to do, what came out next to what was worked out beforehand, and the proof. */

/** Starting takes some seconds beside the burst. */
const START_SECONDS = 5;

/** What is said before anything starts, above all how long it takes. */
export function introduction(plan: DemoPlan): string {
  const { rate, seconds, bound, concurrency, jobMs, quota } = plan;
  return [
    `${rate} commands a second for ${seconds} s, through a queue of ${bound}, to a backend that runs ${concurrency} jobs at a time,`,
    `takes ${jobMs / 1000} s for one, and lets ${quota.burst} start at once and then ${quota.perMinute} a minute.`,
    `This takes about ${Math.round(expectedSeconds(plan) + START_SECONDS)} s (Ctrl-C ends it).`,
    ...(isTablePlan(plan) ? [] : ["For this rate and duration no figures were worked out beforehand."]),
    "",
  ].join("\n");
}

/** The figures as the simulator has them, and what may come out over HTTP. */
const EXPECTED = [
  `174 (${ACCEPTED.min} to ${ACCEPTED.max})`,
  "126",
  `83 to 108 s (${RETRY_AFTER_SECONDS.min} to ${RETRY_AFTER_SECONDS.max})`,
  "100",
  "22.5 to 22.6 s",
  "149 s (± 2)",
];

/** The summary's lines. */
export function outcomeLines({ facts, burst, queue, backend }: DemoOutcome): string[] {
  const report = burstReport(burst);
  const accepted = facts.answers.filter(({ commandId }) => commandId !== undefined);
  const refused = report.all.count - accepted.length;
  const figures: [string, string][] = [
    ["accepted", String(accepted.length)],
    ["refused", String(refused)],
    ["Retry-After", span(report.all.retryAfterSeconds)],
    ["longest queue", String(queue.peakDepth)],
    [`oldest wait at ${facts.plan.seconds} s`, `${queue.oldestWaitSeconds.toFixed(1)} s`],
    ["queue empty at", queue.emptyAtSeconds === null ? "never" : `${queue.emptyAtSeconds.toFixed(1)} s`],
  ];
  const expected = isTablePlan(facts.plan) ? EXPECTED : [];
  const rows = figures.map(([name, seen], n) => [name, seen, ...expected.slice(n, n + 1)]);
  const head = ["", "seen", ...(expected.length > 0 ? ["expected"] : [])];
  return [...alignRows([head, ...rows]), "", timesLine(report.all.answerMs, report.onTime), backendLine(backend)];
}

function span(spread: Spread | null): string {
  return spread === null ? "–" : `${spread.min} to ${spread.max} s`;
}

function timesLine(times: Spread | null, onTime: boolean): string {
  if (times === null) return "no answer at all";
  const figures = `answers took ${times.median.toFixed(1)} ms (median), ${times.p95.toFixed(1)} (p95), ${times.p99.toFixed(1)} (p99)`;
  return onTime ? figures : `${figures}; the sender was late, so this says more about the machine`;
}

function backendLine({ started, refused429, repeatedDeliveries }: DemoOutcome["backend"]): string {
  return `the backend started ${started} jobs, refused ${refused429} over its quota, and saw ${repeatedDeliveries} repeated deliveries`;
}

/** The proof's lines, and at its end what is broken, if anything is. */
export function verdictLines(checks: readonly Check[]): string[] {
  const broken = checks.filter(({ ok }) => !ok);
  return [
    ...checks.map(({ line, ok }) => `  ${ok ? "kept    " : "BROKEN  "}${line}`),
    "",
    ...(broken.length === 0 ? ["Every promise was kept."] : broken.map(({ line }) => `Broken: ${line}`)),
  ];
}
