import type { Condition } from "./database.ts";

/**
 * The one counter that orders every change of limits. A write that may change limits bumps it in its own transaction
 * and gives its rows the new number, so of two answers about a tenant the one with the higher number is the newer.
 */

/** The number of the latest change, for use inside a statement. */
export const CLOCK = "(SELECT version FROM limits_clock WHERE id = 1)";

/** Moves the clock on, under the same condition as the write that it belongs to: a refused write moves nothing. */
export function bumpClock(db: D1Database, when: Condition): D1PreparedStatement {
  return db.prepare(`UPDATE limits_clock SET version = version + 1 WHERE id = 1 AND ${when.sql}`).bind(...when.args);
}
