/**
 * What a worker says of a job: done, failed, an error of the business, or more time please.
 *
 * A job can be completed or failed whether or not its lease still runs, and also when it was never handed out: the work
 * is done, and doing it again would help nobody. Only an incident stands in the way, since there somebody is repairing.
 * What follows in the instance is left to instances.ts.
 */

import type { Outcome } from "../port.ts";
import { openIncident } from "./incidents.ts";
import { advanceInstance } from "./instances.ts";
import { adjustJob, findJob, isLeased, jobNotFound, releaseJob } from "./jobs.ts";
import type { Payload } from "./payloads.ts";
import { durationMs, invalidState, succeeded, type Work } from "./work.ts";

/** Completes a job: its variables are merged into the instance, which takes its next step or ends. */
export function completeJob(work: Work, payload: Payload<"JOB:COMPLETE">): Outcome {
  const job = findJob(work, payload.jobKey);
  if (job === undefined) return jobNotFound(payload.jobKey);
  if (job.incident !== null) return hasIncident(work, payload.jobKey, job.incident);
  return advanceInstance(work, job, payload.variables ?? {});
}

/** Fails a job: with retries left it comes back after the backoff, without any it gets an incident. */
export function failJob(work: Work, payload: Payload<"JOB:FAIL">): Outcome {
  const job = findJob(work, payload.jobKey);
  if (job === undefined) return jobNotFound(payload.jobKey);
  if (job.incident !== null) return hasIncident(work, payload.jobKey, job.incident);
  const retries = payload.retries ?? Math.max(0, job.retries - 1);
  if (retries === 0) {
    const message = payload.errorMessage ?? "The job failed and has no retries left.";
    return openIncident(work, job, { type: "JOB_NO_RETRIES", message, retries });
  }
  const backoffMs = Math.round(payload.retryBackoffSeconds * 1000);
  releaseJob(work, job.seq, retries, work.nowMs + backoffMs);
  return succeeded();
}

/**
 * Throws an error of the business. A chain of tasks has nothing that catches one, so that it becomes an incident; the
 * variables of the error belong to whoever catches it and are dropped with it.
 */
export function throwError(work: Work, payload: Payload<"JOB:THROW_ERROR">): Outcome {
  const job = findJob(work, payload.jobKey);
  if (job === undefined) return jobNotFound(payload.jobKey);
  if (job.incident !== null) return hasIncident(work, payload.jobKey, job.incident);
  const uncaught = `Nothing in the process catches the error ${JSON.stringify(payload.errorCode)}`;
  const message = payload.errorMessage === undefined ? `${uncaught}.` : `${uncaught}: ${payload.errorMessage}`;
  return openIncident(work, job, { type: "UNHANDLED_ERROR_EVENT", message, retries: job.retries });
}

/**
 * Changes a job's retries, the deadline of its lease (counted from now), or both; if one of them cannot be changed,
 * neither is. Retries may be changed while an incident is open: that is one way to repair its cause.
 */
export function updateJob(work: Work, payload: Payload<"JOB:UPDATE">): Outcome {
  const job = findJob(work, payload.jobKey);
  if (job === undefined) return jobNotFound(payload.jobKey);
  if (payload.timeoutSeconds !== undefined && !isLeased(work, job)) {
    return invalidState(`Job ${payload.jobKey} is not leased to anybody, so that it has no time-out to change.`);
  }
  const deadlineMs = payload.timeoutSeconds === undefined ? null : work.nowMs + durationMs(payload.timeoutSeconds);
  adjustJob(work, job.seq, payload.retries ?? job.retries, deadlineMs);
  return succeeded();
}

function hasIncident(work: Work, jobKey: string, incident: number): Outcome {
  return invalidState(
    `Job ${jobKey} has the open incident ${work.keys.format(incident)}, which is to be resolved first.`,
  );
}
