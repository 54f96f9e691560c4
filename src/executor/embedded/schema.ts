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
 * - `process_instances_ended`: what the sweep clears. Active instances are not in it, however many and however old;
 * - `process_instances_due`: who has a timer, the next first. Only instances that wait for one are in it;
 * - `process_instances_business`: the active instance of a business id. Only instances that have one are in it.
 *
 * The instance holds its tokens, and they point at its jobs, rather than jobs being indexed by their instance: the
 * instance's row is written at each step anyway. Searches have no index of their own: they read, and cost no writes.
 * Long columns come last, so that reading the short ones does not follow overflow pages.
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
  // From chains of tasks to models: what an instance is at is a list of tokens. Constraints cannot be changed in place,
  // so each table is made anew. A chain's instance was at one task, whose job's key serves as the element's own.
  `
  CREATE TABLE next_definitions (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT,
    version_tag TEXT,
    resource TEXT,                     -- the name that its document was deployed under
    fingerprint TEXT,                  -- of the document; contents are compared by it
    tasks TEXT,                        -- a chain: JSON [{type, retries}], in the order of the tasks
    model TEXT,                        -- a document: its model as JSON
    CHECK ((tasks IS NULL) = (model IS NOT NULL) AND (model IS NULL) = (fingerprint IS NULL))
  ) STRICT;
  INSERT INTO next_definitions (seq, tenant, process_id, version, tasks)
    SELECT seq, tenant, process_id, version, tasks FROM process_definitions;

  CREATE TABLE next_instances (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    definition INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'completed', 'terminated')),
    created_at INTEGER NOT NULL,       -- this and all times: Unix milliseconds
    ended_at INTEGER,
    due_at INTEGER,                    -- when the first of its timers is due
    business_id TEXT,
    tags TEXT,                         -- JSON [text]; NULL: none
    done TEXT,                         -- JSON [[job, until]]: completed jobs whose rows are kept for a while
    tokens TEXT NOT NULL,              -- JSON, see tokens.ts; empty once ended
    variables TEXT NOT NULL,           -- JSON object
    CHECK ((state = 'active') = (ended_at IS NULL))
  ) STRICT;
  INSERT INTO next_instances (seq, tenant, definition, state, created_at, ended_at, tokens, variables)
    SELECT seq, tenant, definition, state, created_at, ended_at,
      CASE WHEN job IS NULL THEN '[]' ELSE json_array(json_object(
        'key', job, 'at', 'task-' || (task + 1), 'rest', json_object('kind', 'job', 'job', job))) END,
      variables
    FROM process_instances;

  CREATE TABLE next_jobs (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    instance INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    leased INTEGER NOT NULL,           -- 1: available_at is the deadline of a lease
    available_at INTEGER,              -- when it may be handed out: creation, lease deadline or end of a backoff
    done_until INTEGER,                -- completed; the row stays so that a repeat is known until then
    incident INTEGER,
    created_at INTEGER NOT NULL,
    element TEXT NOT NULL,
    element_key INTEGER NOT NULL,
    worker TEXT,                       -- who has, or had, the lease; NULL: a caller that gave no details
    locals TEXT,                       -- JSON object: variables of this task alone; NULL: none
    CHECK ((available_at IS NULL) = (incident IS NOT NULL OR done_until IS NOT NULL))
  ) STRICT;
  INSERT INTO next_jobs
      (seq, tenant, type, instance, retries, leased, available_at, incident, created_at, element, element_key)
    SELECT job.seq, job.tenant, job.type, job.instance, job.retries, job.leased, job.available_at, job.incident,
      instance.created_at, 'task-' || (instance.task + 1), job.seq
    FROM process_jobs AS job JOIN process_instances AS instance ON instance.seq = job.instance;

  CREATE TABLE next_incidents (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    instance INTEGER NOT NULL,
    job INTEGER,                       -- NULL: a token is stuck without one
    element TEXT NOT NULL,
    element_key INTEGER NOT NULL,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  INSERT INTO next_incidents (seq, tenant, instance, job, element, element_key, type, created_at, message)
    SELECT incident.seq, incident.tenant, job.instance, job.seq, job.element, job.element_key, incident.type,
      incident.created_at, incident.message
    FROM process_incidents AS incident JOIN next_jobs AS job ON job.seq = incident.job;

  DROP TABLE process_definitions;
  DROP TABLE process_instances;
  DROP TABLE process_jobs;
  DROP TABLE process_incidents;
  ALTER TABLE next_definitions RENAME TO process_definitions;
  ALTER TABLE next_instances RENAME TO process_instances;
  ALTER TABLE next_jobs RENAME TO process_jobs;
  ALTER TABLE next_incidents RENAME TO process_incidents;

  CREATE UNIQUE INDEX process_definitions_version ON process_definitions (tenant, process_id, version);
  CREATE INDEX process_instances_ended ON process_instances (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX process_instances_due ON process_instances (due_at, tenant) WHERE due_at IS NOT NULL;
  CREATE UNIQUE INDEX process_instances_business ON process_instances (tenant, business_id)
    WHERE business_id IS NOT NULL AND ended_at IS NULL;
  CREATE INDEX process_jobs_available ON process_jobs (tenant, type, available_at) WHERE available_at IS NOT NULL;
  `,
];
