/**
 * Process instances: made, taken from task to task, ended, and cleared once nobody needs to read of them any more.
 *
 * An active instance is at one task and has exactly one job; an ended one has none, and only its row is kept. The place
 * in the chain only ever grows.
 */

import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../port.ts";
import { findDefinition, taskAt } from "./definitions.ts";
import { addJob, type Job, removeJob } from "./jobs.ts";
import type { Payload } from "./payloads.ts";
import { decodeVariables, encodeVariables, mergeVariables, takeWithin, VARIABLES_BYTES_MAX } from "./variables.ts";
import { assertFound, invalidState, notFound, succeeded, type Work } from "./work.ts";

/** Small enough that a sweep holds up no command for long. */
export const SWEEP_ROWS_MAX = 500;
/** Deleting a row visits all of its pages: 500 rows of 1 MiB would take half a second. At least one row always goes. */
export const SWEEP_BYTES_MAX = 16 * 1024 * 1024;

/** Starts an instance of a process at its first task. Unknown process or version: not found. */
export function createInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CREATE">): Outcome {
  const definition = findDefinition(work, payload.processId, payload.version);
  if (definition === undefined) {
    const version = payload.version === undefined ? "" : `version ${payload.version} of `;
    return notFound(`No ${version}process ${JSON.stringify(payload.processId)} is deployed.`);
  }
  const variables = encodeVariables(payload.variables);
  if (variables.kind === "too_large") return tooLarge("the new process instance", variables.bytes);

  const seq = work.keys.next();
  const job = addJob(work, seq, definition.first);
  work.sql.exec(
    `INSERT INTO process_instances (seq, tenant, definition, state, task, job, created_at, variables)
     VALUES (?, ?, ?, 'active', 0, ?, ?, ?)`,
    seq,
    work.tenant,
    definition.seq,
    job,
    work.nowMs,
    variables.text,
  );
  return succeeded({ processInstanceKey: work.keys.format(seq) });
}

/** Terminates an active instance; its job and an open incident are gone. Ended or unknown: not found. */
export function cancelInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CANCEL">): Outcome {
  const seq = work.keys.parse(payload.processInstanceKey);
  const [instance] = work.sql
    .exec<{ job: number }>(
      "SELECT job FROM process_instances WHERE seq = ? AND tenant = ? AND job IS NOT NULL",
      seq,
      work.tenant,
    )
    .toArray();
  if (seq === null || instance === undefined) {
    return notFound(`Process instance ${payload.processInstanceKey} does not exist or has ended.`);
  }
  removeJob(work, instance.job);
  endInstance(work, seq, "terminated", null);
  return succeeded();
}

/**
 * Takes an instance on from a job that is done: merges the variables, then makes the job of the next task or ends the
 * instance as completed. Merged variables over the bound: nothing has changed, and the job can still be completed with
 * less.
 */
export function advanceInstance(work: Work, done: Job, changes: JsonObject): Outcome {
  let variables: string | null = null;
  // Most completions bring none; then a megabyte of them need not be read.
  if (Object.keys(changes).length > 0) {
    const merged = encodeVariables(mergeVariables(readVariables(work, done.instance), changes));
    if (merged.kind === "too_large")
      return tooLarge(`process instance ${work.keys.format(done.instance)}`, merged.bytes);
    variables = merged.text;
  }
  const [row] = work.sql
    .exec<{ definition: number; task: number }>(
      "SELECT definition, task FROM process_instances WHERE seq = ?",
      done.instance,
    )
    .toArray();
  const { definition, task } = assertFound(row, `the instance of job ${done.seq}`);
  const next = taskAt(work, definition, task + 1);

  removeJob(work, done.seq);
  if (next === undefined) {
    endInstance(work, done.instance, "completed", variables);
  } else {
    work.sql.exec(
      "UPDATE process_instances SET task = ?, job = ?, variables = coalesce(?, variables) WHERE seq = ?",
      task + 1,
      addJob(work, done.instance, next),
      variables,
      done.instance,
    );
  }
  return succeeded();
}

/**
 * Deletes ended instances of all tenants that are past their time to be read, the oldest first, a bounded piece a call.
 *
 * @param endedBeforeMs what ended before this Unix time in milliseconds goes
 * @returns true when there is more to delete
 */
export function sweepInstances(sql: SqlStorage, endedBeforeMs: number): boolean {
  const rows = sql
    .exec<{ seq: number; bytes: number }>(
      `SELECT seq, octet_length(variables) AS bytes FROM process_instances
       WHERE ended_at < ? ORDER BY ended_at LIMIT ?`,
      endedBeforeMs,
      SWEEP_ROWS_MAX + 1,
    )
    .toArray();
  const cleared = takeWithin(rows.slice(0, SWEEP_ROWS_MAX), SWEEP_BYTES_MAX);
  if (cleared.length === 0) return false;
  sql.exec(
    "DELETE FROM process_instances WHERE seq IN (SELECT value FROM json_each(?))",
    JSON.stringify(cleared.map((row) => row.seq)),
  );
  return cleared.length < rows.length;
}

/** @param variables their final text; null when they stay as they are */
function endInstance(work: Work, seq: number, state: "completed" | "terminated", variables: string | null): void {
  work.sql.exec(
    `UPDATE process_instances SET state = ?, job = NULL, ended_at = ?, variables = coalesce(?, variables)
     WHERE seq = ?`,
    state,
    work.nowMs,
    variables,
    seq,
  );
}

function readVariables(work: Work, instance: number): JsonObject {
  const [row] = work.sql
    .exec<{ variables: string }>("SELECT variables FROM process_instances WHERE seq = ?", instance)
    .toArray();
  return decodeVariables(assertFound(row, `instance ${instance}`).variables);
}

function tooLarge(whose: string, bytes: number): Outcome {
  return invalidState(
    `The variables of ${whose} would take ${bytes} bytes, more than VARIABLES_BYTES_MAX of ${VARIABLES_BYTES_MAX}.`,
  );
}
