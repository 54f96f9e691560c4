import type { BurstAnswer, BurstProgress, BurstResult } from "./burst-run.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import { alignRows } from "./text-table.ts";

/** What a stream was answered, in figures for programs and in a table for people. */

export interface AnswerFigures {
  readonly count: number;
  readonly answerMs: Spread | null;
  /** Whole seconds; null where no answer carried it. */
  readonly retryAfterSeconds: Spread | null;
  /** Refusals (429 and 503) without a Retry-After. */
  readonly withoutRetryAfter: number;
}

export interface BurstReport {
  readonly planned: number;
  readonly sent: number;
  readonly unsent: number;
  readonly sendingSeconds: number;
  readonly plannedSeconds: number;
  /** How long after they were due requests were sent, in milliseconds. */
  readonly lateMs: Spread | null;
  /** False: the stream was not what was asked for, and the other figures are those of something else. */
  readonly onTime: boolean;
  readonly all: AnswerFigures;
  readonly byAnswer: Readonly<Record<string, AnswerFigures>>;
}

/** A sender that is this late at the 99th of a hundred is saturated, or stands on a machine that is. */
const LATE_MS_MAX = 100;

/** @returns the figures of a stream, whole or interrupted; those of which there is no sample are null */
export function burstReport(result: BurstResult): BurstReport {
  const { answers, planned, unsent } = result;
  const lateMs = spreadOf(answers.map((answer) => answer.lateMs));
  const labels = [...new Set(answers.map(({ label }) => label))].sort();
  return {
    planned,
    sent: answers.length,
    unsent,
    sendingSeconds: result.sendingSeconds,
    plannedSeconds: result.plannedSeconds,
    lateMs,
    onTime: unsent === 0 && (lateMs === null || lateMs.p99 <= LATE_MS_MAX),
    all: figuresOf(answers.filter(({ status }) => status > 0)),
    byAnswer: Object.fromEntries(
      labels.map((label) => [label, figuresOf(answers.filter((answer) => answer.label === label))]),
    ),
  };
}

function figuresOf(answers: readonly BurstAnswer[]): AnswerFigures {
  const waits = answers.flatMap(({ retryAfterSeconds }) => (retryAfterSeconds === null ? [] : [retryAfterSeconds]));
  const refusals = answers.filter(({ status }) => status === 429 || status === 503);
  return {
    count: answers.length,
    answerMs: spreadOf(answers.map(({ answerMs }) => answerMs)),
    retryAfterSeconds: spreadOf(waits),
    withoutRetryAfter: refusals.filter(({ retryAfterSeconds }) => retryAfterSeconds === null).length,
  };
}

/** The table of `npm run burst`, line by line. */
export function burstLines(report: BurstReport): string[] {
  const head = ["answer", "count", "Retry-After min", "median", "max", "answer ms median", "p95", "p99", "max"];
  const rows = Object.entries(report.byAnswer).map(([label, figures]) => figureRow(label, figures));
  const all = rows.length > 1 ? [figureRow("all answers", { ...report.all, retryAfterSeconds: null })] : [];
  const { all: answered, lateMs } = report;
  const lines = [...alignRows([head, ...rows, ...all]), "", sendingLine(report)];
  if (answered.withoutRetryAfter > 0) lines.push(`${answered.withoutRetryAfter} refusals carried no Retry-After`);
  if (report.unsent > 0) lines.push(`${report.unsent} were not sent: too many had no answer yet`);
  if (!report.onTime && lateMs !== null) {
    lines.push("The sender itself was late: these figures say more about it than about the gateway.");
  }
  return lines;
}

function figureRow(label: string, { count, answerMs, retryAfterSeconds }: AnswerFigures): string[] {
  const waits = retryAfterSeconds && [retryAfterSeconds.min, retryAfterSeconds.median, retryAfterSeconds.max];
  const times = answerMs && [answerMs.median, answerMs.p95, answerMs.p99, answerMs.max];
  return [
    label,
    String(count),
    ...(waits?.map((seconds) => `${seconds} s`) ?? ["–", "–", "–"]),
    ...(times?.map((ms) => ms.toFixed(1)) ?? ["–", "–", "–", "–"]),
  ];
}

function sendingLine({ sent, planned, sendingSeconds, plannedSeconds, lateMs }: BurstReport): string {
  const late =
    lateMs === null ? "" : `; late by ${lateMs.median.toFixed(1)} ms (median), ${lateMs.max.toFixed(1)} (max)`;
  return `sent ${sent} of ${planned} in ${sendingSeconds.toFixed(1)} s of ${plannedSeconds.toFixed(1)}${late}`;
}

/** The report for programs: milliseconds to a thousandth, which is what a clock like this one can tell. */
export function burstJson(report: BurstReport): string {
  return JSON.stringify(report, (_name, value: unknown) =>
    typeof value === "number" ? Math.round(value * 1000) / 1000 : value,
  );
}

/** One line on how far a stream is. */
export function progressLine({ seconds, sent, planned, open, counts }: BurstProgress): string {
  const answers = [...counts].map(([label, count]) => `   ${label}: ${count}`).join("");
  return `${seconds.toFixed(0).padStart(4)} s   sent ${sent}/${planned}   open ${open}${answers}`;
}
