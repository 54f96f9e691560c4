/**
 * Handing out jobs: the oldest available ones of a type, each to one worker at a time, until its lease runs out.
 *
 * Bounds: at most `maxJobs`, and at most VARIABLES_BYTES_MAX of variables in one answer (the first job always goes,
 * however large). What does not fit is not leased, so that the next activation gets it at once.
 */

import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../port.ts";
import type { Payload } from "./payloads.ts";
import { decodeVariables, takeWithin, VARIABLES_BYTES_MAX } from "./variables.ts";
import { assertFound, durationMs, succeeded, type Work } from "./work.ts";

type Candidate = { seq: number; instance: number; retries: number; bytes: number };

/**
 * `CROSS JOIN` keeps the planner from starting at the instances: the index on jobs gives the rows in the wanted order
 * (its entries end with the sequence) and the limit stops it there. `octet_length` reads a size without the content, so
 * that looking at 100 jobs does not load 100 MiB.
 */
const CANDIDATES = `
  SELECT job.seq, job.instance, job.retries, octet_length(instance.variables) AS bytes
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
  work.sql.exec(
    `UPDATE process_jobs SET leased = 1, available_at = ?
     WHERE seq IN (SELECT value FROM json_each(?))`,
    deadlineMs,
    JSON.stringify(taken.map((job) => job.seq)),
  );
  const deadline = new Date(deadlineMs).toISOString();
  return succeeded({ jobs: taken.map((job) => handedOut(work, job, payload.type, deadline)) });
}

function handedOut(work: Work, job: Candidate, type: string, deadline: string): JsonObject {
  const [instance] = work.sql
    .exec<{ variables: string }>("SELECT variables FROM process_instances WHERE seq = ?", job.instance)
    .toArray();
  return {
    jobKey: work.keys.format(job.seq),
    type,
    processInstanceKey: work.keys.format(job.instance),
    retries: job.retries,
    deadline,
    variables: decodeVariables(assertFound(instance, `the instance of job ${job.seq}`).variables),
  };
}
