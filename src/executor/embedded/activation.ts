/**
 * Handing out jobs: the oldest available ones of a type, each to one worker at a time, until its lease runs out.
 *
 * Bounds: at most `maxJobs`, and at most VARIABLES_BYTES_MAX of variables in one answer (the first job always goes,
 * however large). What does not fit is not leased, so that the next activation gets it at once.
 */

import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../port.ts";
import { definitionOf } from "./definitions.ts";
import type { Payload } from "./payloads.ts";
import { elementOf } from "./tokens.ts";
import { decodeVariables, mergeVariables, takeWithin, VARIABLES_BYTES_MAX } from "./variables.ts";
import { assertFound, durationMs, succeeded, type Work } from "./work.ts";

type Candidate = {
  seq: number;
  instance: number;
  retries: number;
  bytes: number;
  element: string;
  element_key: number;
  locals: string | null;
};

/**
 * `CROSS JOIN` keeps the planner from starting at the instances: the index on jobs gives the rows in the wanted order
 * (its entries end with the sequence) and the limit stops it there. `octet_length` reads a size without the content, so
 * that looking at 100 jobs does not load 100 MiB.
 */
const CANDIDATES = `
  SELECT job.seq, job.instance, job.retries, job.element, job.element_key, job.locals,
    octet_length(instance.variables) + coalesce(octet_length(job.locals), 0) AS bytes
  FROM process_jobs AS job CROSS JOIN process_instances AS instance ON instance.seq = job.instance
  WHERE job.tenant = ? AND job.type = ? AND job.available_at <= ?
  ORDER BY job.available_at, job.seq
  LIMIT ?`;

/** Activates jobs. No job available is a success with an empty list: the worker simply asks again. */
export function activateJobs(work: Work, payload: Payload<"JOB:ACTIVATE">): Outcome {
  const candidates = work.sql
    .exec<Candidate>(CANDIDATES, work.tenant, payload.type, work.nowMs, payload.maxJobs)
    .toArray();
  const taken = takeWithin(candidates, VARIABLES_BYTES_MAX);
  if (taken.length === 0) return succeeded({ jobs: [] });

  const deadlineMs = work.nowMs + durationMs(payload.timeoutSeconds);
  const worker = payload.worker ?? (payload.details === true ? "" : null);
  work.sql.exec(
    `UPDATE process_jobs SET leased = 1, available_at = ?, worker = ?
     WHERE seq IN (SELECT value FROM json_each(?))`,
    deadlineMs,
    worker,
    JSON.stringify(taken.map((job) => job.seq)),
  );
  return succeeded({ jobs: taken.map((job) => handedOut(work, job, payload, deadlineMs)) });
}

/**
 * When the earliest job of a type can be had: at once when that is past, at the end of a lease or a backoff when not.
 *
 * @returns Unix milliseconds; null: there is none in circulation
 */
export function nextJobMs(sql: SqlStorage, tenant: string, type: string): number | null {
  return (
    sql
      .exec<{ at: number | null }>(
        `SELECT min(available_at) AS at FROM process_jobs WHERE tenant = ? AND type = ? AND available_at IS NOT NULL`,
        tenant,
        type,
      )
      .toArray()[0]?.at ?? null
  );
}

function handedOut(work: Work, job: Candidate, payload: Payload<"JOB:ACTIVATE">, deadlineMs: number): JsonObject {
  const [row] = work.sql
    .exec<{ variables: string; definition: number; tags: string | null }>(
      "SELECT variables, definition, tags FROM process_instances WHERE seq = ?",
      job.instance,
    )
    .toArray();
  const instance = assertFound(row, `the instance of job ${job.seq}`);
  const handed: JsonObject = {
    jobKey: work.keys.format(job.seq),
    type: payload.type,
    processInstanceKey: work.keys.format(job.instance),
    retries: job.retries,
    deadline: new Date(deadlineMs).toISOString(),
    variables: variablesFor(instance.variables, job.locals, payload.fetchVariables ?? []),
  };
  if (payload.details !== true) return handed;
  const { seq, processId, version, model } = definitionOf(work, instance.definition);
  const element = elementOf(model, job.element);
  const tags: string[] = JSON.parse(instance.tags ?? "[]");
  return {
    ...handed,
    processDefinitionId: processId,
    processDefinitionVersion: version,
    processDefinitionKey: work.keys.format(seq),
    elementId: job.element,
    elementInstanceKey: work.keys.format(job.element_key),
    customHeaders: element.kind === "service-task" ? { ...element.headers } : {},
    worker: payload.worker ?? "",
    tags,
  };
}

/** What the worker gets to see: its task's own variables before the instance's. @param wanted none: all of them */
function variablesFor(instance: string, locals: string | null, wanted: readonly string[]): JsonObject {
  const own = decodeVariables(instance);
  const all = locals === null ? own : mergeVariables(own, decodeVariables(locals));
  if (wanted.length === 0) return all;
  const names = new Set(wanted);
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
