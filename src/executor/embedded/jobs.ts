/**
 * The rows of jobs: what a job is, how it comes and goes, and how it is given back. The rules of the commands on jobs
 * are in activation.ts and job-commands.ts; this file only keeps the row consistent.
 *
 * A job is in one of three conditions:
 * - it has an incident: `incident` is set, `available_at` is NULL, nobody gets it;
 * - it is leased: `leased` is 1 and `available_at`, the deadline, is in the future;
 * - else it is handed out from `available_at` on. A lease that runs out becomes this by itself: no timer, no write.
 */

import type { Outcome } from "../port.ts";
import type { Task } from "./definitions.ts";
import { notFound, type Work } from "./work.ts";

export type Job = {
  readonly seq: number;
  readonly instance: number;
  readonly retries: number;
  readonly leased: number;
  readonly available_at: number | null;
  readonly incident: number | null;
};

/** The tenant's job of that key; undefined when it does not exist, is gone, or is somebody else's. */
export function findJob(work: Work, jobKey: string): Job | undefined {
  const seq = work.keys.parse(jobKey);
  return seq === null ? undefined : readJob(work, seq);
}

/** @param seq a sequence of this partition */
export function readJob(work: Work, seq: number): Job | undefined {
  return work.sql
    .exec<Job>(
      `SELECT seq, instance, retries, leased, available_at, incident FROM process_jobs
       WHERE seq = ? AND tenant = ?`,
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

/** Makes the job of a task, available at once, and returns its sequence. */
export function addJob(work: Work, instance: number, task: Task): number {
  const seq = work.keys.next();
  work.sql.exec(
    `INSERT INTO process_jobs (seq, tenant, type, instance, retries, leased, available_at)
     VALUES (?, ?, ?, ?, ?, 0, ?)`,
    seq,
    work.tenant,
    task.type,
    instance,
    task.retries,
    work.nowMs,
  );
  return seq;
}

/** Gives a job back, with or without an incident before: nobody holds it, and it is handed out from that time on. */
export function releaseJob(work: Work, seq: number, retries: number, availableAtMs: number): void {
  work.sql.exec(
    "UPDATE process_jobs SET retries = ?, leased = 0, available_at = ?, incident = NULL WHERE seq = ?",
    retries,
    availableAtMs,
    seq,
  );
}

/** Takes a job out of circulation until its incident is resolved. */
export function blockJob(work: Work, seq: number, retries: number, incident: number): void {
  work.sql.exec(
    "UPDATE process_jobs SET retries = ?, leased = 0, available_at = NULL, incident = ? WHERE seq = ?",
    retries,
    incident,
    seq,
  );
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

/** Ends a job: its key is unknown afterwards. An incident of its own goes with it. */
export function removeJob(work: Work, seq: number): void {
  const removed = work.sql
    .exec<{ incident: number | null }>("DELETE FROM process_jobs WHERE seq = ? RETURNING incident", seq)
    .toArray();
  for (const { incident } of removed) {
    if (incident !== null) work.sql.exec("DELETE FROM process_incidents WHERE seq = ?", incident);
  }
}
