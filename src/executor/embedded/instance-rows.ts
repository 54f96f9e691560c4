/**
 * The rows of instances: made, read and written. What becomes of an instance is decided elsewhere (advance.ts).
 */

import { INSTANCE_BYTES } from "./holdings.ts";
import type { Token } from "./tokens.ts";
import { decodeTokens, firstDueMs } from "./tokens.ts";
import type { Work } from "./work.ts";

/** A completed job whose row is kept until this time, so that a repeat of its completion is known. */
export type DoneJob = readonly [job: number, untilMs: number];

/** An active instance. */
export interface Instance {
  readonly seq: number;
  readonly definition: number;
  readonly tokens: readonly Token[];
  readonly done: readonly DoneJob[];
  /** What its row takes on disk. */
  readonly bytes: number;
}

/** The tenant's active instance of that sequence; undefined when it has ended, is gone, or is somebody else's. */
export function readInstance(work: Work, seq: number): Instance | undefined {
  const [row] = work.sql
    .exec<{ definition: number; tokens: string; done: string | null; bytes: number }>(
      `SELECT definition, tokens, done, ${INSTANCE_BYTES} AS bytes FROM process_instances
       WHERE seq = ? AND tenant = ? AND ended_at IS NULL`,
      seq,
      work.tenant,
    )
    .toArray();
  if (row === undefined) return undefined;
  const { definition, tokens, done, bytes } = row;
  return { seq, definition, tokens: decodeTokens(tokens), done: decodeDone(done), bytes };
}

/** @returns the text of an instance's variables; undefined when there is no such instance */
export function readVariables(work: Work, seq: number): string | undefined {
  return work.sql.exec<{ variables: string }>("SELECT variables FROM process_instances WHERE seq = ?", seq).toArray()[0]
    ?.variables;
}

export interface NewInstance {
  readonly seq: number;
  readonly definition: number;
  readonly businessId: string | null;
  readonly tags: readonly string[];
  readonly tokens: readonly Token[];
  readonly variables: string;
}

/** An instance without tokens has ended already. */
export function insertInstance(work: Work, instance: NewInstance): void {
  const { seq, definition, businessId, tags, tokens, variables } = instance;
  const hasEnded = tokens.length === 0;
  const inserted = work.sql.exec<{ bytes: number }>(
    `INSERT INTO process_instances
       (seq, tenant, definition, state, created_at, ended_at, due_at, business_id, tags, tokens, variables)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${INSTANCE_BYTES} AS bytes`,
    seq,
    work.tenant,
    definition,
    hasEnded ? "completed" : "active",
    work.nowMs,
    hasEnded ? work.nowMs : null,
    firstDueMs(tokens),
    businessId,
    tags.length === 0 ? null : JSON.stringify(tags),
    JSON.stringify(tokens),
    variables,
  );
  work.holdings.add(work.tenant, "process", inserted.one().bytes);
  if (hasEnded) work.notices.instanceEnded(seq);
}

/** @param variables their final text; null when they stay as they are */
export function moveInstance(
  work: Work,
  { seq, bytes }: Instance,
  next: Pick<Instance, "tokens" | "done">,
  variables: string | null,
): void {
  const moved = work.sql.exec<{ bytes: number }>(
    `UPDATE process_instances SET tokens = ?, due_at = ?, done = ?, variables = coalesce(?, variables) WHERE seq = ?
     RETURNING ${INSTANCE_BYTES} AS bytes`,
    JSON.stringify(next.tokens),
    firstDueMs(next.tokens),
    encodeDone(next.done),
    variables,
    seq,
  );
  work.holdings.add(work.tenant, "process", moved.one().bytes - bytes);
}

/** @param variables their final text; null when they stay as they are */
export function endInstance(
  work: Work,
  { seq, bytes }: Instance,
  state: "completed" | "terminated",
  done: readonly DoneJob[],
  variables: string | null,
): void {
  const ended = work.sql.exec<{ bytes: number }>(
    `UPDATE process_instances
     SET state = ?, ended_at = ?, tokens = '[]', due_at = NULL, done = ?, variables = coalesce(?, variables)
     WHERE seq = ? RETURNING ${INSTANCE_BYTES} AS bytes`,
    state,
    work.nowMs,
    encodeDone(done),
    variables,
    seq,
  );
  work.holdings.add(work.tenant, "process", ended.one().bytes - bytes);
  work.notices.instanceEnded(seq);
}

/** Whether an active instance of the tenant has this business id. */
export function isBusinessIdInUse(work: Work, businessId: string): boolean {
  const rows = work.sql.exec(
    "SELECT 1 FROM process_instances WHERE tenant = ? AND business_id = ? AND ended_at IS NULL",
    work.tenant,
    businessId,
  );
  return rows.toArray().length > 0;
}

/** @param text as stored */
export function decodeDone(text: string | null): readonly DoneJob[] {
  const done: DoneJob[] = text === null ? [] : JSON.parse(text);
  return done;
}

function encodeDone(done: readonly DoneJob[]): string | null {
  return done.length === 0 ? null : JSON.stringify(done);
}
