import { type QueueLook, type QueueStatus, refusedInAll } from "./queue-status.ts";

/** What `npm run watch` shows of a queue: a table that is redrawn, or one line each time. */

const BAR_CELLS = 40;
const NAME_CELLS = 10;

/** @returns the table's lines; it has as many while the gateway is away, so that nothing jumps */
export function watchTable(title: string, look: QueueLook): string[] {
  if ("fault" in look) return [title, "", row("state", look.fault), ...new Array<string>(TABLE_ROWS - 3).fill("")];
  const { status } = look;
  const { depth, bound, counters } = status;
  return [
    title,
    "",
    row("state", stateOf(status)),
    row("depth", `${bar(depth, bound)} ${depth}/${bound}   peak ${status.peakDepth}`),
    row("ready", `${status.depth + status.criticalDepth}${waitingElsewhere(status)}`),
    row("running", String(status.running)),
    row("oldest", seconds(status.oldestWaitSeconds)),
    row("pace", `${pace(status)}   done in the last minute ${status.completedLastMinute}`),
    row("accepted", `${counters.accepted}   completed ${counters.completed}   failed ${counters.failed}`),
    row("refused", `${refusedInAll(status)}${byCode(counters.refused)}`),
    row("dead", String(counters.dead)),
  ];
}

/** So many lines has the table. */
export const TABLE_ROWS = 11;

/** @returns the same in one line */
export function watchLine(look: QueueLook): string {
  if ("fault" in look) return look.fault;
  const { status } = look;
  const { counters } = status;
  return [
    `depth ${status.depth}/${status.bound}`,
    `ready ${status.depth + status.criticalDepth}`,
    `running ${status.running}`,
    `oldest ${seconds(status.oldestWaitSeconds)}`,
    `done/min ${status.completedLastMinute}`,
    `accepted ${counters.accepted}`,
    `refused ${refusedInAll(status)}`,
    `dead ${counters.dead}`,
    `pace ${pace(status)}`,
    stateOf(status),
  ].join("  ");
}

/** Who or what holds the queue up, if anything does. */
function stateOf({ paused, upstream }: QueueStatus): string {
  if (paused) return "paused";
  if (upstream === undefined) return "open";
  const resumes = upstream.resumesInSeconds;
  const when = resumes === undefined || resumes === null ? "" : `, again in ${seconds(resumes)}`;
  return `upstream ${upstream.state}${when}`;
}

function waitingElsewhere({ retrying, deferred }: QueueStatus): string {
  const parts = [retrying && `between attempts ${retrying}`, deferred && `deferred ${deferred}`].filter(Boolean);
  return parts.length === 0 ? "" : `   ${parts.join("   ")}`;
}

function bar(depth: number, bound: number): string {
  const full = Math.min(BAR_CELLS, Math.ceil((BAR_CELLS * depth) / Math.max(1, bound)));
  return "#".repeat(full).padEnd(BAR_CELLS, ".");
}

function pace({ pacePerSecond }: QueueStatus): string {
  return pacePerSecond === null ? "unknown" : `${pacePerSecond.toFixed(2)}/s`;
}

function byCode(refused: Readonly<Record<string, number>>): string {
  const parts = Object.entries(refused).map(([code, count]) => `${code} ${count}`);
  return parts.length === 0 ? "" : `   ${parts.join("   ")}`;
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(NAME_CELLS)}${value}`;
}
