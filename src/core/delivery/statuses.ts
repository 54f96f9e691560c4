/**
 * What the status of an upstream's answer means for its command, where it is not 2xx. Data: a route of a deployment may
 * say otherwise of single statuses.
 */

/**
 * `final`: the command has failed, and a repeat would not change it. `retry`: an attempt is spent, and the next one is made
 * after the told wait, or after the backoff. `not-now`: the same wait, and no attempt is spent.
 */
export const STATUS_MEANINGS = ["final", "retry", "not-now"] as const;
export type StatusMeaning = (typeof STATUS_MEANINGS)[number];

/** What a route says of statuses, by their number as text. */
export type RouteStatuses = Readonly<Record<string, StatusMeaning>>;

interface StatusRow {
  readonly from: number;
  readonly to: number;
  readonly means: StatusMeaning;
  /** With a `Retry-After` that can be read: whoever names a time wants to be asked again. */
  readonly withRetryAfter: StatusMeaning;
}

/** The first row that a status is in holds. */
const STATUS_ROWS: readonly StatusRow[] = [
  { from: 429, to: 429, means: "not-now", withRetryAfter: "not-now" },
  { from: 503, to: 503, means: "not-now", withRetryAfter: "not-now" },
  { from: 400, to: 499, means: "final", withRetryAfter: "retry" },
];
/** Redirects and other 5xx leave open whether the work was done. */
const OTHERWISE: StatusMeaning = "retry";

/** Statuses by which an upstream speaks of itself: their "not now" is for all commands. Any other delays its own command. */
const OF_THE_UPSTREAM: ReadonlySet<number> = new Set([429, 503]);

/**
 * @param status any but 2xx
 * @param hasRetryAfter the answer names a time
 * @param statuses what the command's route says; it holds whether or not a time is named
 */
export function meaningOf(status: number, hasRetryAfter: boolean, statuses: RouteStatuses): StatusMeaning {
  const own = statuses[status];
  if (own !== undefined) return own;
  const row = STATUS_ROWS.find(({ from, to }) => status >= from && status <= to);
  if (row === undefined) return OTHERWISE;
  return hasRetryAfter ? row.withRetryAfter : row.means;
}

/** Whether a "not now" of this status holds the whole queue, and not only its own command. */
export function holdsQueue(status: number): boolean {
  return OF_THE_UPSTREAM.has(status);
}
