/**
 * Process definitions: versioned per tenant, never changed and never removed, because instances go on by the version
 * that they began with. Here they are found; how they come is deployments.ts.
 */

import type { ProcessModel } from "./bpmn/model.ts";
import { fromTasks } from "./bpmn/tasks.ts";
import type { Definition } from "./models.ts";
import { assertFound, type Work } from "./work.ts";

/** One step of a chain: the type of its job, and how often that may be tried. */
export interface Task {
  readonly type: string;
  readonly retries: number;
}

type DefinitionRow = {
  seq: number;
  process_id: string;
  version: number;
  tasks: string | null;
  model: string | null;
};

/**
 * A definition by its name.
 *
 * @param version from 1; undefined or -1 for the newest
 * @returns undefined when the tenant has no such process or version
 */
export function findDefinition(work: Work, processId: string, version: number | undefined): Definition | undefined {
  if (version === undefined || version === -1) return findNewest(work, processId);
  const [row] = work.sql
    .exec<{ seq: number }>(
      "SELECT seq FROM process_definitions WHERE tenant = ? AND process_id = ? AND version = ?",
      work.tenant,
      processId,
      version,
    )
    .toArray();
  return row === undefined ? undefined : definitionOf(work, row.seq);
}

/** Most instances are of the newest version, so it is looked up once and not for each of them. */
function findNewest(work: Work, processId: string): Definition | undefined {
  const { sql, tenant, models } = work;
  const known = models.newest(tenant, processId);
  if (known !== undefined) return definitionOf(work, known);
  const [row] = sql
    .exec<{ seq: number }>(
      "SELECT seq FROM process_definitions WHERE tenant = ? AND process_id = ? ORDER BY version DESC LIMIT 1",
      tenant,
      processId,
    )
    .toArray();
  if (row === undefined) return undefined;
  models.isNewest(tenant, processId, row.seq);
  return definitionOf(work, row.seq);
}

/** A definition by its key; undefined when it does not exist or is another tenant's. */
export function findDefinitionByKey(work: Work, definitionKey: string): Definition | undefined {
  const seq = work.keys.parse(definitionKey);
  const [row] = work.sql
    .exec<{ seq: number }>("SELECT seq FROM process_definitions WHERE seq = ? AND tenant = ?", seq, work.tenant)
    .toArray();
  return row === undefined ? undefined : definitionOf(work, row.seq);
}

/** The definition that one of the tenant's instances refers to. */
export function definitionOf(work: Work, seq: number): Definition {
  const kept = work.models.get(seq);
  if (kept !== undefined) return kept;
  const [found] = work.sql
    .exec<DefinitionRow>("SELECT seq, process_id, version, tasks, model FROM process_definitions WHERE seq = ?", seq)
    .toArray();
  const row = assertFound(found, `definition ${seq}`);
  const definition = { seq, processId: row.process_id, version: row.version, model: modelOf(row) };
  work.models.keep(definition, (row.model ?? row.tasks ?? "").length);
  return definition;
}

function modelOf(row: DefinitionRow): ProcessModel {
  if (row.model === null) return fromTasks(row.process_id, JSON.parse(row.tasks ?? "[]"));
  const model: ProcessModel = JSON.parse(row.model);
  return model;
}
