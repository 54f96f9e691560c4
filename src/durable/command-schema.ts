/** The tables of the queue in the engine object: numbered steps, as `schema.ts` applies them. */

export const COMMAND_SCHEMA: readonly string[] = [
  // The texts come last: what is read of a row most often must not have to walk over them.
  `CREATE TABLE commands (
     sequence INTEGER PRIMARY KEY,
     tenant TEXT NOT NULL,
     intent TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     weight INTEGER NOT NULL,
     kept_bytes INTEGER NOT NULL DEFAULT 0,
     state TEXT NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     accepted_at INTEGER NOT NULL,
     started_at INTEGER,
     finished_at INTEGER,
     error TEXT,
     result TEXT,
     payload TEXT
   );
   CREATE TABLE stragglers (sequence INTEGER PRIMARY KEY);
   CREATE TABLE dead_letters (sequence INTEGER PRIMARY KEY);
   CREATE TABLE engine_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`,
  `ALTER TABLE commands ADD COLUMN deadline_at INTEGER;
   ALTER TABLE commands ADD COLUMN not_before INTEGER;
   ALTER TABLE commands ADD COLUMN headers TEXT;
   CREATE TABLE deferred (sequence INTEGER PRIMARY KEY);
   CREATE TABLE idempotency_keys (
     tenant TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     used_at INTEGER NOT NULL,
     answer TEXT NOT NULL,
     PRIMARY KEY (tenant, key)
   ) WITHOUT ROWID;`,
];
