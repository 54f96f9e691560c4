/**
 * The rows of incidents: something that cannot go on by itself, a job or a token, until somebody has repaired the cause
 * and says so. A resolved one is gone.
 */

import { INCIDENT_BYTES } from "./holdings.ts";
import type { Stuck } from "./moves.ts";
import { MESSAGE_LENGTH_MAX } from "./payloads.ts";
import type { Work } from "./work.ts";

export type IncidentType = Stuck["type"] | "JOB_NO_RETRIES";

export interface NewIncident {
  readonly instance: number;
  /** Null: it is a token without a job that cannot go on. */
  readonly job: number | null;
  readonly element: string;
  readonly elementKey: number;
  readonly type: IncidentType;
  /** What whoever repairs it should know. */
  readonly message: string;
}

/** @param seq a fresh key */
export function openIncident(work: Work, seq: number, incident: NewIncident): void {
  const opened = work.sql.exec<{ bytes: number }>(
    `INSERT INTO process_incidents (seq, tenant, instance, job, element, element_key, type, created_at, message)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${INCIDENT_BYTES} AS bytes`,
    seq,
    work.tenant,
    incident.instance,
    incident.job,
    incident.element,
    incident.elementKey,
    incident.type,
    work.nowMs,
    incident.message.slice(0, MESSAGE_LENGTH_MAX),
  );
  work.holdings.add(work.tenant, "process", opened.one().bytes);
}

/** The tenant's open incident of that key: whose it is. */
export function findIncident(
  work: Work,
  incidentKey: string,
): { readonly seq: number; readonly instance: number; readonly job: number | null } | undefined {
  const seq = work.keys.parse(incidentKey);
  return work.sql
    .exec<{ seq: number; instance: number; job: number | null }>(
      "SELECT seq, instance, job FROM process_incidents WHERE seq = ? AND tenant = ?",
      seq,
      work.tenant,
    )
    .toArray()[0];
}

export function removeIncidents(work: Work, seqs: readonly number[]): void {
  for (const seq of seqs) {
    const removed = work.sql.exec<{ bytes: number }>(
      `DELETE FROM process_incidents WHERE seq = ? RETURNING ${INCIDENT_BYTES} AS bytes`,
      seq,
    );
    for (const { bytes } of removed) work.holdings.add(work.tenant, "process", -bytes);
  }
}
