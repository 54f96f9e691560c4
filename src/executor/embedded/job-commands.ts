/**
 * What a worker says of a job: done, failed, an error of the business, or more time please.
 *
 * A job can be completed or failed whether or not its lease still runs, and also when it was never handed out: the work
 * is done, and doing it again would help nobody. Only an incident stands in the way, since there somebody is repairing.
 * What follows in the instance is left to advance.ts.
 */

import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../port.ts";
import { decide, write } from "./advance.ts";
import { definitionOf } from "./definitions.ts";
import type { GameEvent } from "./game-events.ts";
import { breakJob } from "./incidents.ts";
import { type DoneJob, type Instance, readInstance } from "./instance-rows.ts";
import {
  adjustJob,
  findJob,
  finishJob,
  isJustDone,
  isLeased,
  type Job,
  jobNotFound,
  releaseJob,
  removeJobs,
} from "./jobs.ts";
import { catcherOf } from "./moves.ts";
import type { Payload } from "./payloads.ts";
import { decodeVariables, type Encoded, encodeVariables, LOCALS_BYTES_MAX, mergeVariables } from "./variables.ts";
import { assertFound, durationMs, invalidState, succeeded, type Work } from "./work.ts";

/**
 * Completes a job: its variables go to the instance, which advances or ends. If they do not fit there, nothing has
 * changed, and the job can still be completed with less.
 *
 * A client that gives details when it takes jobs repeats a completion whose answer it has not seen: until its lease
 * would have run out, the repeat is told that it is done.
 */
export function completeJob(work: Work, payload: Payload<"JOB:COMPLETE">): Outcome {
  const { jobKey, variables = {} } = payload;
  const job = findJob(work, jobKey);
  if (job === undefined) return isJustDone(work, jobKey) ? succeeded() : jobNotFound(jobKey);
  if (job.incident !== null) return hasIncident(work, jobKey, job.incident);
  return finish(work, job, { kind: "job-completed", job: job.seq, locals: localsOf(job), variables });
}

/** Fails a job: with retries left it comes back after the backoff, without any it gets an incident. */
export function failJob(work: Work, payload: Payload<"JOB:FAIL">): Outcome {
  const job = findJob(work, payload.jobKey);
  if (job === undefined) return jobNotFound(payload.jobKey);
  if (job.incident !== null) return hasIncident(work, payload.jobKey, job.incident);
  const locals = withLocals(job, payload.variables ?? {});
  if (locals.kind === "refused") return invalidState(`The variables of job ${payload.jobKey} ${locals.why}.`);
  const text = locals.text === "{}" ? null : locals.text;
  const retries = payload.retries ?? Math.max(0, job.retries - 1);
  if (retries === 0) {
    const message = payload.errorMessage ?? "The job failed and has no retries left.";
    return breakJob(work, job, { type: "JOB_NO_RETRIES", message }, retries, text);
  }
  const backoffMs = Math.round(payload.retryBackoffSeconds * 1000);
  releaseJob(work, job, retries, work.nowMs + backoffMs, text);
  return succeeded();
}

/**
 * Throws an error of the business. An error boundary event at the task may catch it: the job is gone, and the instance
 * goes on from there with the error's variables. Else it becomes an incident, and the variables are dropped: they belong
 * to whoever catches it.
 */
export function throwError(work: Work, payload: Payload<"JOB:THROW_ERROR">): Outcome {
  const { jobKey, errorCode, errorMessage, variables = {} } = payload;
  const job = findJob(work, jobKey);
  if (job === undefined) return jobNotFound(jobKey);
  if (job.incident !== null) return hasIncident(work, jobKey, job.incident);
  const boundary = catcherOf(definitionOf(work, instanceOf(work, job).definition).model, job.element, errorCode);
  if (boundary !== null) return finish(work, job, { kind: "error-caught", job: job.seq, boundary, variables });
  const uncaught = `Nothing in the process catches the error ${JSON.stringify(errorCode)}`;
  const message = errorMessage === undefined ? `${uncaught}.` : `${uncaught}: ${errorMessage}`;
  return breakJob(work, job, { type: "UNHANDLED_ERROR_EVENT", message }, job.retries);
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

/** The job is over, and its instance goes on by this event. */
function finish(work: Work, job: Job, event: GameEvent & { kind: "job-completed" | "error-caught" }): Outcome {
  const instance = instanceOf(work, job);
  const decided = decide(work, instance, event);
  if (decided.kind === "refused") {
    return invalidState(`The variables of process instance ${work.keys.format(job.instance)} ${decided.why}.`);
  }
  const done = event.kind === "job-completed" ? doneOf(work, job) : null;
  if (done === null) removeJobs(work, [job.seq]);
  else finishJob(work, job, done[1]);
  write(work, instance, decided, done);
  return succeeded();
}

/** Until when a repeat of its completion is to be known; null: it need not be. */
function doneOf(work: Work, job: Job): DoneJob | null {
  const isKnown = job.worker !== null && job.available_at !== null && isLeased(work, job);
  return isKnown ? [job.seq, job.available_at] : null;
}

function instanceOf(work: Work, job: Job): Instance {
  return assertFound(readInstance(work, job.instance), `the instance of job ${job.seq}`);
}

function localsOf(job: Job): JsonObject {
  return job.locals === null ? {} : decodeVariables(job.locals);
}

function withLocals(job: Job, changes: JsonObject): Encoded {
  if (Object.keys(changes).length === 0) return { kind: "fits", text: job.locals ?? "{}" };
  return encodeVariables(mergeVariables(localsOf(job), changes), LOCALS_BYTES_MAX);
}

function hasIncident(work: Work, jobKey: string, incident: number): Outcome {
  return invalidState(
    `Job ${jobKey} has the open incident ${work.keys.format(incident)}, which is to be resolved first.`,
  );
}
