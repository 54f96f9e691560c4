/**
 * Timers: an instance's row says when its first one is due. Each instance with something due is an event of its own, in
 * a transaction that the caller holds.
 */

import { decide, write } from "./advance.ts";
import { readInstance } from "./instance-rows.ts";
import type { Work } from "./work.ts";

/** An instance that has a timer due. */
export type DueInstance = { readonly seq: number; readonly tenant: string };

/** Instances with a timer due, the longest overdue first, of all tenants but those that are to wait. */
export function dueInstances(sql: SqlStorage, nowMs: number, limit: number, waiting: readonly string[]): DueInstance[] {
  return sql
    .exec<DueInstance>(
      `SELECT seq, tenant FROM process_instances
       WHERE due_at <= ? AND tenant NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT ?`,
      nowMs,
      JSON.stringify(waiting),
      limit,
    )
    .toArray();
}

/** When the next timer is due of any tenant but those that wait, in Unix milliseconds; null: there is none. */
export function nextDueMs(sql: SqlStorage, waiting: readonly string[]): number | null {
  return sql
    .exec<{ at: number | null }>(
      `SELECT min(due_at) AS at FROM process_instances
       WHERE due_at IS NOT NULL AND tenant NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify(waiting),
    )
    .one().at;
}

/**
 * Lets all timers of an instance go off that are due. What they would make and cannot be stored is an incident: there is
 * no caller to tell.
 */
export function fireInstance(work: Work, seq: number): void {
  const instance = readInstance(work, seq);
  if (instance === undefined) return;
  const decided = decide(work, instance, { kind: "timers-due" });
  if (decided.kind === "ready") {
    write(work, instance, decided);
    return;
  }
  const message = `The variables of the process instance ${decided.why}.`;
  const refused = decide(work, instance, { kind: "timers-refused", message });
  if (refused.kind === "refused") throw new Error(`instance ${seq} cannot keep its tokens: ${refused.why}`);
  write(work, instance, refused);
}

/** Looks at an instance's timers again at that time only: firing them has run into a bug of ours. */
export function postponeInstance(sql: SqlStorage, seq: number, untilMs: number): void {
  sql.exec("UPDATE process_instances SET due_at = ? WHERE seq = ? AND due_at IS NOT NULL", untilMs, seq);
}
