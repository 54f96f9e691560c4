/**
 * The rows of jobs: what a job is, how it comes and goes, and how it is given back. The rules of the commands on jobs
 * are in activation.ts and job-commands.ts; this file only keeps the row consistent.
 *
 * A job is in one of four conditions:
 * - it is done: `done_until` is set, `available_at` is NULL; it is gone for all but a repeat of its completion;
 * - it has an incident: `incident` is set, `available_at` is NULL, nobody gets it;
 * - it is leased: `leased` is 1 and `available_at`, the deadline, is in the future;
 * - else it is handed out from `available_at` on. A lease that runs out becomes this by itself: no timer, no write.
 */

import type { Outcome } from "../port.ts";
import type { Effect } from "./game-events.ts";
import { JOB_BYTES } from "./holdings.ts";
import { removeIncidents } from "./incident-rows.ts";
import { notFound, type Work } from "./work.ts";

export type Job = {
  readonly seq: number;
  readonly type: string;
  readonly instance: number;
  readonly retries: number;
  readonly leased: number;
  readonly available_at: number | null;
  readonly incident: number | null;
  readonly element: string;
  readonly element_key: number;
  /** Of the last activation; null: it gave no details. */
  readonly worker: string | null;
  /** The task's own variables, as text; null: none. */
  readonly locals: string | null;
  /** What its row takes on disk. */
  readonly bytes: number;
};

/** The tenant's job of that key; undefined when it does not exist, is done, or is somebody else's. */
export function findJob(work: Work, jobKey: string): Job | undefined {
  const seq = work.keys.parse(jobKey);
  return seq === null ? undefined : readJob(work, seq);
}

/** @param seq a sequence of this partition */
export function readJob(work: Work, seq: number): Job | undefined {
  return work.sql
    .exec<Job>(
      `SELECT seq, type, instance, retries, leased, available_at, incident, element, element_key, worker, locals,
         ${JOB_BYTES} AS bytes
       FROM process_jobs WHERE seq = ? AND tenant = ? AND done_until IS NULL`,
      seq,
      work.tenant,
    )
    .toArray()[0];
}

/** The answer for a key that {@link findJob} does not know. */
export function jobNotFound(jobKey: string): Outcome {
  return notFound(`Job ${jobKey} does not exist or has ended.`);
}

/** Whether somebody holds the job right now. At its deadline a lease has run out. */
export function isLeased(work: Work, job: Job): boolean {
  return job.leased === 1 && job.available_at !== null && job.available_at > work.nowMs;
}

/** Makes the job that a token rests for, available at once. */
export function addJob(work: Work, instance: number, created: Effect & { kind: "job-created" }): void {
  const inserted = work.sql.exec<{ bytes: number }>(
    `INSERT INTO process_jobs
       (seq, tenant, type, instance, retries, leased, available_at, created_at, element, element_key, locals)
     VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?6, ?7, ?8, ?9) RETURNING ${JOB_BYTES} AS bytes`,
    created.job,
    work.tenant,
    created.type,
    instance,
    created.retries,
    work.nowMs,
    created.element,
    created.elementKey,
    created.locals,
  );
  work.holdings.add(work.tenant, "process", inserted.one().bytes);
  work.notices.jobAvailable(work.tenant, created.type);
}

/**
 * Gives a job back, with or without an incident before: nobody holds it, and it is handed out from that time on.
 *
 * @param locals the task's own variables from now on, as text
 */
export function releaseJob(
  work: Work,
  { seq, type, bytes }: Job,
  retries: number,
  availableAtMs: number,
  locals: string | null,
): void {
  const released = work.sql.exec<{ bytes: number }>(
    `UPDATE process_jobs SET retries = ?, leased = 0, available_at = ?, incident = NULL, locals = ? WHERE seq = ?
     RETURNING ${JOB_BYTES} AS bytes`,
    retries,
    availableAtMs,
    locals,
    seq,
  );
  work.holdings.add(work.tenant, "process", released.one().bytes - bytes);
  if (availableAtMs <= work.nowMs) work.notices.jobAvailable(work.tenant, type);
}

/** Takes a job out of circulation until its incident is resolved. */
export function blockJob(
  work: Work,
  { seq, bytes }: Job,
  retries: number,
  incident: number,
  locals: string | null,
): void {
  const blocked = work.sql.exec<{ bytes: number }>(
    `UPDATE process_jobs SET retries = ?, leased = 0, available_at = NULL, incident = ?, locals = ? WHERE seq = ?
     RETURNING ${JOB_BYTES} AS bytes`,
    retries,
    incident,
    locals,
    seq,
  );
  work.holdings.add(work.tenant, "process", blocked.one().bytes - bytes);
}

/**
 * Changes how often a job may be tried and, for a leased one, until when it is leased. Takes it from nobody.
 *
 * @param deadlineMs null: as before, and then the index is not written
 */
export function adjustJob(work: Work, seq: number, retries: number, deadlineMs: number | null): void {
  if (deadlineMs === null) work.sql.exec("UPDATE process_jobs SET retries = ? WHERE seq = ?", retries, seq);
  else work.sql.exec("UPDATE process_jobs SET retries = ?, available_at = ? WHERE seq = ?", retries, deadlineMs, seq);
}

/** The job is done, and its row stays until then, so that a repeat of the completion is known. */
export function finishJob(work: Work, { seq, bytes }: Job, untilMs: number): void {
  const finished = work.sql.exec<{ bytes: number }>(
    `UPDATE process_jobs SET leased = 0, available_at = NULL, done_until = ?, locals = NULL WHERE seq = ?
     RETURNING ${JOB_BYTES} AS bytes`,
    untilMs,
    seq,
  );
  work.holdings.add(work.tenant, "process", finished.one().bytes - bytes);
}

/** Whether the tenant's job of that key was completed under a lease that would still run. */
export function isJustDone(work: Work, jobKey: string): boolean {
  const rows = work.sql.exec(
    "SELECT 1 FROM process_jobs WHERE seq = ? AND tenant = ? AND done_until > ?",
    work.keys.parse(jobKey),
    work.tenant,
    work.nowMs,
  );
  return rows.toArray().length > 0;
}

/** Ends jobs: their keys are unknown afterwards. Incidents of theirs go with them. */
export function removeJobs(work: Work, seqs: readonly number[]): void {
  for (const seq of seqs) {
    const removed = work.sql
      .exec<{ incident: number | null; bytes: number }>(
        `DELETE FROM process_jobs WHERE seq = ? RETURNING incident, ${JOB_BYTES} AS bytes`,
        seq,
      )
      .toArray();
    for (const { incident, bytes } of removed) {
      work.holdings.add(work.tenant, "process", -bytes);
      if (incident !== null) removeIncidents(work, [incident]);
    }
  }
}
