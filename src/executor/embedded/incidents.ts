/**
 * Incidents: a job that cannot go on by itself waits, outside of circulation, until somebody has repaired the cause and
 * says so. A job has at most one; a resolved one is gone.
 *
 * Which failures become an incident is decided in job-commands.ts.
 */

import type { Outcome } from "../port.ts";
import { blockJob, findJob, type Job, jobNotFound, readJob, releaseJob } from "./jobs.ts";
import type { Payload } from "./payloads.ts";
import { assertFound, notFound, succeeded, type Work } from "./work.ts";

export interface NewIncident {
  readonly type: "JOB_NO_RETRIES" | "UNHANDLED_ERROR_EVENT";
  /** What whoever repairs it should know. */
  readonly message: string;
  /** What the job has left once the incident is resolved; see {@link resolveIncident} for 0. */
  readonly retries: number;
}

/**
 * Opens the incident of a job that has none. The answer carries its key: there is no other way for the caller to
 * learn it.
 */
export function openIncident(work: Work, job: Job, incident: NewIncident): Outcome {
  const seq = work.keys.next();
  work.sql.exec(
    "INSERT INTO process_incidents (seq, tenant, job, type, created_at, message) VALUES (?, ?, ?, ?, ?, ?)",
    seq,
    work.tenant,
    job.seq,
    incident.type,
    work.nowMs,
    incident.message,
  );
  blockJob(work, job.seq, incident.retries, seq);
  return succeeded({ incidentKey: work.keys.format(seq) });
}

/**
 * Resolves an incident, named by its own key or by its job's: the job is available at once. A job without retries gets
 * one, because given back with none it could not be tried, which is what resolving asks for.
 */
export function resolveIncident(work: Work, payload: Payload<"INCIDENT:RESOLVE">): Outcome {
  if (payload.incidentKey !== undefined) {
    const seq = work.keys.parse(payload.incidentKey);
    const jobSeq = seq === null ? undefined : jobOfIncident(work, seq);
    if (seq === null || jobSeq === undefined) {
      return notFound(`Incident ${payload.incidentKey} does not exist or is resolved.`);
    }
    return resolve(work, seq, assertFound(readJob(work, jobSeq), `the job of incident ${seq}`));
  }
  const jobKey = assertFound(payload.jobKey, "the key of the incident or of its job");
  const job = findJob(work, jobKey);
  if (job === undefined) return jobNotFound(jobKey);
  if (job.incident === null) return notFound(`Job ${jobKey} has no incident to resolve.`);
  return resolve(work, job.incident, job);
}

function jobOfIncident(work: Work, seq: number): number | undefined {
  return work.sql
    .exec<{ job: number }>("SELECT job FROM process_incidents WHERE seq = ? AND tenant = ?", seq, work.tenant)
    .toArray()[0]?.job;
}

function resolve(work: Work, incident: number, job: Job): Outcome {
  work.sql.exec("DELETE FROM process_incidents WHERE seq = ?", incident);
  releaseJob(work, job.seq, Math.max(1, job.retries), work.nowMs);
  return succeeded();
}
