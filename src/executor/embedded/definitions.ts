/**
 * Process definitions: deployed, versioned per tenant, never changed and never removed, because instances go on by the
 * version that they began with.
 *
 * A process is a chain of tasks. What a task's job goes through is left to jobs.ts.
 */

import type { Outcome } from "../port.ts";
import type { Payload } from "./payloads.ts";
import { assertFound, succeeded, type Work } from "./work.ts";

/** One step of a process: the type of its job, and how often that may be tried. */
export interface Task {
  readonly type: string;
  readonly retries: number;
}

type VersionRow = { seq: number; version: number; tasks: string };

/**
 * Deploys a process. The same content as the newest version is that version again: a deployment that is repeated, or
 * done at each start of a service, adds nothing. Content that was the newest once and is not any more is a new version,
 * or else a roll-back by deployment could not be done.
 */
export function deploy(work: Work, payload: Payload<"DEPLOYMENT:CREATE">): Outcome {
  const tasks = encodeTasks(payload.tasks);
  const newest = newestVersion(work, payload.processId);
  if (newest?.tasks === tasks) return succeeded();
  work.sql.exec(
    "INSERT INTO process_definitions (seq, tenant, process_id, version, tasks) VALUES (?, ?, ?, ?, ?)",
    work.keys.next(),
    work.tenant,
    payload.processId,
    (newest?.version ?? 0) + 1,
    tasks,
  );
  return succeeded();
}

/**
 * A definition by its name.
 *
 * @param version from 1; undefined for the newest
 * @returns its sequence and its first task; undefined when the tenant has no such process or version
 */
export function findDefinition(
  work: Work,
  processId: string,
  version: number | undefined,
): { readonly seq: number; readonly first: Task } | undefined {
  const row = version === undefined ? newestVersion(work, processId) : namedVersion(work, processId, version);
  if (row === undefined) return undefined;
  return { seq: row.seq, first: assertFound(decodeTasks(row.tasks)[0], `the first task of definition ${row.seq}`) };
}

/** The task at a place of a definition that an instance refers to; undefined behind the last one. */
export function taskAt(work: Work, definition: number, index: number): Task | undefined {
  const [row] = work.sql
    .exec<{ tasks: string }>(
      "SELECT tasks FROM process_definitions WHERE seq = ? AND tenant = ?",
      definition,
      work.tenant,
    )
    .toArray();
  return decodeTasks(assertFound(row, `definition ${definition}`).tasks)[index];
}

function newestVersion(work: Work, processId: string): VersionRow | undefined {
  return work.sql
    .exec<VersionRow>(
      `SELECT seq, version, tasks FROM process_definitions
       WHERE tenant = ? AND process_id = ? ORDER BY version DESC LIMIT 1`,
      work.tenant,
      processId,
    )
    .toArray()[0];
}

function namedVersion(work: Work, processId: string, version: number): VersionRow | undefined {
  return work.sql
    .exec<VersionRow>(
      "SELECT seq, version, tasks FROM process_definitions WHERE tenant = ? AND process_id = ? AND version = ?",
      work.tenant,
      processId,
      version,
    )
    .toArray()[0];
}

/** One text for one content, whatever the order of members in the request: contents are compared as texts. */
function encodeTasks(tasks: readonly Task[]): string {
  return JSON.stringify(tasks.map(({ type, retries }) => ({ type, retries })));
}

function decodeTasks(text: string): readonly Task[] {
  const tasks: Task[] = JSON.parse(text);
  return tasks;
}
