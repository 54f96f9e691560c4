/**
 * The tables of the embedded engine, as numbered steps that the engine object runs once each and in order.
 *
 * A step that was released is never edited: a change is a new step at the end. Every statement names its table with
 * the prefix `process_`, because the queue's own tables live in the same database.
 *
 * A row written costs money and time, so that each index here is one that a command reads:
 * - `process_definitions_version`: the newest version of a process, or a named one;
 * - `process_jobs_available`: the jobs of one type that may be handed out, oldest first. A job with an incident has no
 *   `available_at` and is not in the index at all; a leased one sorts behind its deadline, so that activation never
 *   steps over it;
 * - `process_instances_ended`: what the sweep clears. Active instances are not in it, however many and however old.
 *
 * The instance points at its job rather than the job being indexed by its instance: the instance's row is written at
 * each step anyway. Long columns come last, so that reading the short ones does not follow overflow pages.
 */
export const EMBEDDED_SCHEMA: readonly string[] = [
  `
  CREATE TABLE process_definitions (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    tasks TEXT NOT NULL                -- JSON [{type, retries}], in the order of the tasks
  ) STRICT;
  CREATE UNIQUE INDEX process_definitions_version ON process_definitions (tenant, process_id, version);

  CREATE TABLE process_instances (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    definition INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'completed', 'terminated')),
    task INTEGER NOT NULL,             -- 0-based: which task of the definition it is at, or ended at
    job INTEGER,                       -- the job of that task; NULL once ended
    created_at INTEGER NOT NULL,       -- this and all times: Unix milliseconds
    ended_at INTEGER,
    variables TEXT NOT NULL,           -- JSON object
    CHECK ((state = 'active') = (job IS NOT NULL) AND (job IS NULL) = (ended_at IS NOT NULL))
  ) STRICT;
  CREATE INDEX process_instances_ended ON process_instances (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE process_jobs (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    instance INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    leased INTEGER NOT NULL,           -- 1: available_at is the deadline of a lease
    available_at INTEGER,              -- when it may be handed out: creation, lease deadline or end of a backoff
    incident INTEGER,
    CHECK ((available_at IS NULL) = (incident IS NOT NULL))
  ) STRICT;
  CREATE INDEX process_jobs_available ON process_jobs (tenant, type, available_at) WHERE available_at IS NOT NULL;

  CREATE TABLE process_incidents (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    job INTEGER NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('JOB_NO_RETRIES', 'UNHANDLED_ERROR_EVENT')),
    created_at INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  `,
];
