/**
 * Process instances: made, cancelled, and cleared once nobody needs to read of them any more. What happens in between is
 * left to advance.ts.
 */

import type { Outcome } from "../port.ts";
import { applyEffects, decideAt } from "./advance.ts";
import { findDefinition, findDefinitionByKey } from "./definitions.ts";
import { removeIncidents } from "./incident-rows.ts";
import { decodeDone, endInstance, insertInstance, isBusinessIdInUse, readInstance } from "./instance-rows.ts";
import { removeJobs } from "./jobs.ts";
import type { Definition } from "./models.ts";
import type { Payload } from "./payloads.ts";
import { incidentsOf, jobsOf } from "./tokens.ts";
import { encodeVariables, takeWithin } from "./variables.ts";
import { alreadyExists, assertFound, invalidState, notFound, succeeded, type Work } from "./work.ts";

/** Small enough that a sweep holds up no command for long. */
export const SWEEP_ROWS_MAX = 500;
/** Deleting a row visits all of its pages: 500 rows of 1 MiB would take half a second. At least one row always goes. */
export const SWEEP_BYTES_MAX = 16 * 1024 * 1024;

/** Starts an instance of a process. Unknown process, version or key: not found. */
export function createInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CREATE">): Outcome {
  const definition = definitionFor(work, payload);
  if (definition === undefined) return notFound(notDeployed(payload));
  const { businessId = null, tags = [] } = payload;
  const variables = encodeVariables(payload.variables);
  if (variables.kind === "refused") return refused(variables.why);
  if (businessId !== null && isBusinessIdInUse(work, businessId)) {
    return alreadyExists(`An active process instance has the business id ${JSON.stringify(businessId)} already.`);
  }
  const seq = work.keys.next();
  const position = { tokens: [], variables: () => payload.variables };
  const decided = decideAt(work, definition, position, { kind: "started" });
  if (decided.kind === "refused") return refused(decided.why);

  const text = decided.variables ?? variables.text;
  const { tokens } = decided;
  insertInstance(work, { seq, definition: definition.seq, businessId, tags, tokens, variables: text });
  applyEffects(work, seq, decided.effects);
  const processInstanceKey = work.keys.format(seq);
  if (payload.details !== true) return succeeded({ processInstanceKey });
  return succeeded({
    processInstanceKey,
    processDefinitionId: definition.processId,
    processDefinitionVersion: definition.version,
    processDefinitionKey: work.keys.format(definition.seq),
    tags,
    businessId,
  });
}

/** Terminates an active instance; its jobs, timers and open incidents are gone. Ended or unknown: not found. */
export function cancelInstance(work: Work, payload: Payload<"PROCESS_INSTANCE:CANCEL">): Outcome {
  const seq = work.keys.parse(payload.processInstanceKey);
  const instance = seq === null ? undefined : readInstance(work, seq);
  if (instance === undefined) {
    return notFound(`Process instance ${payload.processInstanceKey} does not exist or has ended.`);
  }
  removeJobs(work, jobsOf(instance.tokens));
  removeIncidents(work, incidentsOf(instance.tokens));
  endInstance(work, instance.seq, "terminated", instance.done, null);
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
    .exec<{ seq: number; bytes: number; done: string | null }>(
      `SELECT seq, octet_length(variables) AS bytes, done FROM process_instances
       WHERE ended_at < ? ORDER BY ended_at LIMIT ?`,
      endedBeforeMs,
      SWEEP_ROWS_MAX + 1,
    )
    .toArray();
  const cleared = takeWithin(rows.slice(0, SWEEP_ROWS_MAX), SWEEP_BYTES_MAX);
  if (cleared.length === 0) return false;
  const jobs = cleared.flatMap(({ done }) => decodeDone(done).map(([job]) => job));
  if (jobs.length > 0) deleteFrom(sql, "process_jobs", jobs);
  deleteFrom(
    sql,
    "process_instances",
    cleared.map(({ seq }) => seq),
  );
  return cleared.length < rows.length;
}

function deleteFrom(sql: SqlStorage, table: "process_jobs" | "process_instances", seqs: readonly number[]): void {
  sql.exec(`DELETE FROM ${table} WHERE seq IN (SELECT value FROM json_each(?))`, JSON.stringify(seqs));
}

function definitionFor(work: Work, payload: Payload<"PROCESS_INSTANCE:CREATE">): Definition | undefined {
  if (payload.processDefinitionKey !== undefined) return findDefinitionByKey(work, payload.processDefinitionKey);
  return findDefinition(work, assertFound(payload.processId, "the process to start"), payload.version);
}

function notDeployed({ processId, version, processDefinitionKey }: Payload<"PROCESS_INSTANCE:CREATE">): string {
  if (processDefinitionKey !== undefined) return `No process of the key ${processDefinitionKey} is deployed.`;
  const wanted = version === undefined || version === -1 ? "" : `version ${version} of `;
  return `No ${wanted}process ${JSON.stringify(processId)} is deployed.`;
}

function refused(why: string): Outcome {
  return invalidState(`The variables of the new process instance ${why}.`);
}
