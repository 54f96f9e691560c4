/**
 * Resolving incidents: a job is handed out again, a token tries again what it could not do. A job has at most one
 * incident at a time.
 *
 * Which failures become an incident is decided in job-commands.ts and token-game.ts.
 */

import type { Outcome } from "../port.ts";
import { decide, write } from "./advance.ts";
import { findIncident, type NewIncident, openIncident, removeIncidents } from "./incident-rows.ts";
import { readInstance } from "./instance-rows.ts";
import { blockJob, findJob, type Job, jobNotFound, readJob, releaseJob } from "./jobs.ts";
import type { Payload } from "./payloads.ts";
import { assertFound, invalidState, notFound, succeeded, type Work } from "./work.ts";

/**
 * Opens the incident of a job that has none. The answer carries its key: there is no other way for a caller of `/v1` to
 * learn it.
 *
 * @param retries what the job has left once the incident is resolved; see {@link resolveIncident} for 0
 */
export function breakJob(
  work: Work,
  job: Job,
  incident: Pick<NewIncident, "type" | "message">,
  retries: number,
  locals: string | null = job.locals,
): Outcome {
  const seq = work.keys.next();
  const { instance, element, element_key: elementKey } = job;
  openIncident(work, seq, { ...incident, instance, job: job.seq, element, elementKey });
  blockJob(work, job, retries, seq, locals);
  return succeeded({ incidentKey: work.keys.format(seq) });
}

/**
 * Resolves an incident, named by its own key or by its job's: the job is available at once, the token tries again. A job
 * without retries gets one, because given back with none it could not be tried, which is what resolving asks for. A
 * token may be stuck again at once, and then has a new incident.
 */
export function resolveIncident(work: Work, payload: Payload<"INCIDENT:RESOLVE">): Outcome {
  if (payload.incidentKey !== undefined) {
    const incident = findIncident(work, payload.incidentKey);
    if (incident === undefined) return notFound(`Incident ${payload.incidentKey} does not exist or is resolved.`);
    const { seq, instance, job } = incident;
    if (job === null) return resolveToken(work, seq, instance);
    return resolveJob(work, seq, assertFound(readJob(work, job), `the job of incident ${seq}`));
  }
  const jobKey = assertFound(payload.jobKey, "the key of the incident or of its job");
  const job = findJob(work, jobKey);
  if (job === undefined) return jobNotFound(jobKey);
  if (job.incident === null) return notFound(`Job ${jobKey} has no incident to resolve.`);
  return resolveJob(work, job.incident, job);
}

function resolveJob(work: Work, incident: number, job: Job): Outcome {
  removeIncidents(work, [incident]);
  releaseJob(work, job, Math.max(1, job.retries), work.nowMs, job.locals);
  return succeeded();
}

function resolveToken(work: Work, incident: number, seq: number): Outcome {
  const instance = assertFound(readInstance(work, seq), `the instance of incident ${incident}`);
  const decided = decide(work, instance, { kind: "incident-resolved", incident });
  if (decided.kind === "refused") {
    return invalidState(`The variables of process instance ${work.keys.format(seq)} ${decided.why}.`);
  }
  removeIncidents(work, [incident]);
  write(work, instance, decided);
  return succeeded();
}
