import type { CostRow } from "./cost.ts";
import type { CriticalFigures } from "./critical.ts";
import type { LatencyRow } from "./latency.ts";
import { WARM_UP_SECONDS } from "./measure.ts";
import type { MemoryRow } from "./memory.ts";
import type { AdmissionRow } from "./over-admission.ts";
import { type Figures, figuresOfSide, type Round, ratioOf, type Table } from "./tables.ts";
import type { Verdict } from "./verdicts.ts";

/** Everything that a run has found out, as text for people (Markdown). Pure: the figures come in, nothing is measured. */

export interface Results {
  /** Lines about the machine, and about the versions of what was measured. */
  readonly machine: readonly string[];
  readonly versions: readonly string[];
  readonly seconds: number;
  /** Whether server and load had a core of their own each. */
  readonly pinned: boolean;
  readonly tables: readonly Table[];
  readonly rounds: readonly Round[];
  readonly verdicts: readonly Verdict[];
  readonly admission: readonly AdmissionRow[];
  readonly latency: readonly LatencyRow[];
  readonly critical: CriticalFigures | null;
  readonly memory: readonly MemoryRow[];
  readonly cost: readonly CostRow[];
  /** What people have written about the figures; empty: nothing. */
  readonly notes: string;
  /** Where the time goes in what did not reach its goal, one text each. */
  readonly profiles: readonly string[];
}

type LabelOf = (side: string) => string;

/** @param labelOf what a side is called */
export function writeResults(results: Results, labelOf: LabelOf): string {
  const parts = [
    "# What a decision costs",
    "Written by `npm run bench`; whatever is changed here by hand is gone with the next run.",
    "![Answers a second](results.svg)",
    "## Must be reached",
    verdictTable(results.verdicts),
    results.notes.trim(),
    "## How it was measured",
    method(results),
    ...results.tables.flatMap((table) => [`## ${table.title}`, rateTable(table, results.rounds, labelOf)]),
    ...section("Over-admission", OVER_ADMISSION, admissionTable(results.admission)),
    ...section("Latency below saturation", LATENCY, latencyTable(results.latency)),
    ...(results.critical === null ? [] : ["## Critical commands under overload", criticalText(results.critical)]),
    ...section("Memory", MEMORY, memoryTable(results.memory)),
    ...section("Cost of a million", COST, costTable(results.cost)),
    ...(results.profiles.length === 0 ? [] : ["## Profiles of what was not reached", ...results.profiles.map(fenced)]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const OVER_ADMISSION =
  "Far more was asked than may be admitted, on keys that nobody had used. What may be admitted follows from each " +
  "limiter's own setting and the time that it took: for a bucket burst + rate × time, for windows the limit for each " +
  "window that was touched. Two isolates answer for the same key from the same workerd.";
const LATENCY =
  "Requests come at 30 % of each side's rate at saturation, whatever the answers do, and a request's time runs from the " +
  "moment at which it was due. Milliseconds, median of the rounds (lowest–highest). What the load itself was late is in them.";
const MEMORY =
  "Resident memory of a workerd of its own, in MiB, with its state on a file system in memory where there is one.";
const COST =
  "Counted by tests and not timed. Dollars at published prices for the request, the calls of objects and the rows " +
  "written; without processor time.";

function section(title: string, text: string, table: string): string[] {
  return table === "" ? [] : [`## ${title}`, text, table];
}

function method({ machine, versions, seconds, pinned, rounds }: Results): string {
  const cores = pinned
    ? "The server has one core, the load another."
    : "Server and load share the cores (no `taskset`, or one core).";
  return [
    `- Machine: ${machine.join("; ")}.`,
    `- Versions: ${versions.join(", ")}.`,
    "- One workerd holds every side as a Worker of its own with a socket of its own that leads straight to it: neither the " +
      "entry Worker nor a development proxy is in the path, the same for all. Objects and Workers share its one thread, so a " +
      "call of an object costs here what it takes to make it, and no way.",
    `- ${cores} The load is a process that writes prepared requests onto kept connections; how busy it was is in the tables.`,
    `- ${rounds.length} rounds of ${seconds} s a side, all sides in turn in each round, the order moved on by one each time, ` +
      `after ${WARM_UP_SECONDS} s of each that are not counted; first touches once each instead. A rate is the median of its rounds (lowest–highest). A ` +
      "ratio is the median of the rounds' ratios, since what the machine does meanwhile changes both sides of one.",
    "- µs is the server's processor time for an answer, and `by time` the ratio of those: where a disk or others on the machine " +
      "were waited for, it says what the software takes.",
    "- Where many objects fall idle after a side, the next one begins when they have written what they had counted: that is in " +
      "the cost of a million, and in nobody's time.",
    "- Every answer is looked at: a side that answers something else than it must in more than 2 % of them ends the run.",
    "- Only the ratios say something about the software: the rates are the machine's.",
  ].join("\n");
}

export function rateTable({ rows }: Table, rounds: readonly Round[], labelOf: LabelOf): string {
  const lines = rows.flatMap(([id, against]) => {
    const rate = figuresOfSide(rounds, id, "perSecond");
    if (rate === null) return [];
    const ratio = against === null ? null : ratioOf(rounds, id, against);
    const byTime = against === null ? null : ratioOf(rounds, id, against, "serverMicros");
    const of = (figure: "p99" | "serverBusy" | "serverMicros" | "loadBusy") =>
      figuresOfSide(rounds, id, figure)?.median ?? Number.NaN;
    return [
      [
        labelOf(id),
        shown(rate, 0),
        ratio === null || against === null ? "" : `${shown(ratio, 2)} × ${labelOf(against)}`,
        byTime === null ? "" : byTime.median.toFixed(2),
        of("serverMicros").toFixed(0),
        of("p99").toFixed(1),
        percent(of("serverBusy")),
        percent(of("loadBusy")),
      ],
    ];
  });
  return markdownTable(
    ["side", "answers a second", "ratio", "by time", "µs", "p99 ms", "server's core", "load's core"],
    lines,
  );
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return markdownTable(
    ["what", "goal", "measured", ""],
    verdicts.map(({ what, goal, measured, reached }) => [
      what,
      goal,
      shown(measured, 2),
      reached ? "reached" : "**not reached**",
    ]),
  );
}

export function admissionTable(rows: readonly AdmissionRow[]): string {
  return markdownTable(
    ["limiter", "isolates", "limit", "asked", "may be admitted", "admitted", "too many"],
    rows.map(({ label, isolates, limit, asked, allowed, admitted }) => {
      const over = Math.max(0, admitted - allowed);
      const excess = over === 0 ? "none" : `${over} (${percent(over / allowed)})`;
      return [label, `${isolates}`, limit, `${asked}`, `${allowed}`, `${admitted}`, excess];
    }),
  );
}

export function latencyTable(rows: readonly LatencyRow[]): string {
  return markdownTable(
    ["side", "requests a second", "p50", "p99", "load late, p99"],
    rows.map(({ label, offered, p50, p99, lateP99 }) => [
      label,
      offered.toFixed(0),
      shown(p50, 2),
      shown(p99, 2),
      lateP99.median.toFixed(2),
    ]),
  );
}

export function criticalText(figures: CriticalFigures): string {
  const { unloadedP50, unloadedP99, overloadedP50, overloadedP99, ratio, sent, executed, ordinary } = figures;
  const answers = Object.entries(ordinary).map(([status, count]) => `${count} × ${status}`);
  return [
    "`JOB:COMPLETE`, executed and answered, at the same rate alone and while ordinary commands come at five times what the " +
      "engine can do. Milliseconds.",
    "",
    markdownTable(
      ["", "p50", "p99"],
      [
        ["unloaded", shown(unloadedP50, 1), shown(unloadedP99, 1)],
        ["5 × overload", shown(overloadedP50, 1), shown(overloadedP99, 1)],
        ["p99 ÷ unloaded p99", "", shown(ratio, 2)],
      ],
    ),
    "",
    `${executed} of ${sent} critical commands were executed. Under overload all answers together were ${answers.join(", ")}.`,
  ].join("\n");
}

export function memoryTable(rows: readonly MemoryRow[]): string {
  return markdownTable(
    ["what", "how much", "start", "middle", "end", "end ÷ middle"],
    rows.map(({ what, amount, start, middle, end }) => [
      what,
      amount,
      start.toFixed(0),
      middle.toFixed(0),
      end.toFixed(0),
      (end / middle).toFixed(2),
    ]),
  );
}

function costTable(rows: readonly CostRow[]): string {
  return markdownTable(
    ["what", "calls of objects", "rows written", "dollars"],
    rows.map(({ what, callsPerMillion, rowsPerMillion, dollarsPerMillion }) => [
      what,
      Math.round(callsPerMillion).toLocaleString("en"),
      Math.round(rowsPerMillion).toLocaleString("en"),
      dollarsPerMillion.toFixed(2),
    ]),
  );
}

/** Median (lowest–highest). */
function shown({ median, min, max }: Figures, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** @returns a table of Markdown, its columns aligned for whoever reads the text itself; empty when there are no rows */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const safe = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((name, n) => Math.max(3, name.length, ...safe.map((row) => (row[n] ?? "").length)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, n) => (cells[n] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...safe.map(line)].join("\n");
}
