import type { AdminQueue } from "./shapes.ts";

/**
 * The last minutes as the page has seen them, and what can be said from them: rates are differences of counters over
 * the time between two looks. Pure: the time of a look is given.
 */

/** What the charts show, in milliseconds. */
export const HISTORY_MS = 5 * 60_000;
/** A rate in a chart is taken over at least this long, so that the jitter of single looks does not show. */
const SMOOTH_MS = 2_500;
/** "Now" in words: long enough to be steady, short enough to be now. */
const RECENT_MS = 10_000;
/** From when the engine counts refusals: they are in its memory alone. */
export const REFUSALS_SINCE = "the engine last woke (an idle one forgets after ten seconds)";
/** Longer without a look is a hole in a line. */
const HOLE_MS = 35_000;

/** One look at the queue. */
export interface Look {
  /** When it was answered, Unix milliseconds. */
  readonly atMs: number;
  readonly depth: number;
  readonly bound: number;
  readonly inFlight: number;
  readonly limit: number | null;
  readonly accepted: number;
  /** By code. Counted from the engine's last start, so it may fall. */
  readonly refused: Readonly<Record<string, number>>;
  /** Whether one more command would have found room. */
  readonly hasRoom: boolean;
}

export function lookOf(queue: AdminQueue, atMs: number): Look {
  const { depth, bound, inFlight, limit, counters } = queue;
  const { accepted, refused } = counters;
  const hasRoom = queue.retryAfterSeconds === null;
  return { atMs, depth, bound, inFlight, limit: limit.value, accepted, refused, hasRoom };
}

/** With one more look; what is older than the charts show is forgotten, and so is everything after a step of the clock back. */
export function withLook(looks: readonly Look[], look: Look): Look[] {
  const last = looks.at(-1);
  if (last !== undefined && last.atMs > look.atMs) return [look];
  return [...looks.filter(({ atMs }) => atMs > look.atMs - HISTORY_MS - SMOOTH_MS), look];
}

/** How many of something a second, between two looks; null where a counter began anew in between. */
function rate(from: number, to: number, ms: number): number | null {
  return to < from || ms <= 0 ? null : ((to - from) * 1000) / ms;
}

export interface Recent {
  readonly acceptedPerSecond: number;
  /** Codes that were refused with lately, each with how often a second. */
  readonly refusedPerSecond: Readonly<Record<string, number>>;
  /** Whether there was room at every look. */
  readonly hadRoom: boolean;
}

/** What has been going on lately; null after the first look. */
export function recent(looks: readonly Look[]): Recent | null {
  const last = looks.at(-1);
  const first = looks.find(({ atMs }) => last !== undefined && atMs >= last.atMs - RECENT_MS);
  if (last === undefined || first === undefined || first === last) return null;
  const ms = last.atMs - first.atMs;
  const codes = Object.entries(last.refused).map(([code, count]) => {
    return [code, rate(first.refused[code] ?? 0, count, ms) ?? 0] as const;
  });
  return {
    acceptedPerSecond: rate(first.accepted, last.accepted, ms) ?? 0,
    refusedPerSecond: Object.fromEntries(codes.filter(([, perSecond]) => perSecond > 0)),
    hadRoom: looks.slice(looks.indexOf(first)).every(({ hasRoom }) => hasRoom),
  };
}

type Column = (number | null)[];

/** Columns for the charts: the first is seconds before the last look (0 or less). */
export interface Columns {
  readonly secondsAgo: number[];
  readonly depth: Column;
  readonly bound: Column;
  readonly inFlight: Column;
  readonly limit: Column;
  readonly acceptedPerSecond: Column;
  readonly refusedPerSecond: Column;
}

export function columnsOf(looks: readonly Look[]): Columns {
  const lastMs = looks.at(-1)?.atMs ?? 0;
  const columns: Columns = {
    secondsAgo: [],
    depth: [],
    bound: [],
    inFlight: [],
    limit: [],
    acceptedPerSecond: [],
    refusedPerSecond: [],
  };
  for (const [n, look] of looks.entries()) {
    const before = looks[n - 1];
    if (before !== undefined && look.atMs - before.atMs > HOLE_MS) pushHole(columns, before.atMs - lastMs);
    const from = smoothFrom(looks, n);
    const ms = look.atMs - (from?.atMs ?? look.atMs);
    columns.secondsAgo.push((look.atMs - lastMs) / 1000);
    columns.depth.push(look.depth);
    columns.bound.push(look.bound);
    columns.inFlight.push(look.inFlight);
    columns.limit.push(look.limit);
    columns.acceptedPerSecond.push(from === undefined ? null : rate(from.accepted, look.accepted, ms));
    columns.refusedPerSecond.push(from === undefined ? null : rate(total(from.refused), total(look.refused), ms));
  }
  return columns;
}

/** The youngest look that is old enough to take a rate from; the oldest there is, while none is. */
function smoothFrom(looks: readonly Look[], n: number): Look | undefined {
  const atMs = looks[n]?.atMs ?? 0;
  for (let k = n - 1; k >= 0; k--) {
    const look = looks[k];
    if (look !== undefined && (atMs - look.atMs >= SMOOTH_MS || k === 0)) return look;
  }
  return undefined;
}

function pushHole(columns: Columns, afterMs: number): void {
  const { secondsAgo, ...lines } = columns;
  secondsAgo.push(afterMs / 1000 + 0.001);
  for (const line of Object.values(lines)) line.push(null);
}

export function total(byCode: Readonly<Record<string, number>>): number {
  return Object.values(byCode).reduce((sum, count) => sum + count, 0);
}
