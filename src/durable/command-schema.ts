/**
 * The queue's tables in the engine's SQLite, as numbered steps (schema.ts applies each once): a later version appends,
 * it never changes what is there. What the columns mean is in command-store.ts, the values of `engine_state` in
 * engine-state.ts.
 */

export const COMMAND_SCHEMA: readonly string[] = [
  `CREATE TABLE commands (
     sequence INTEGER PRIMARY KEY,
     tenant TEXT NOT NULL,
     intent TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     payload TEXT,
     state TEXT NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     result TEXT,
     error TEXT,
     accepted_at INTEGER NOT NULL,
     started_at INTEGER,
     finished_at INTEGER
   );
   CREATE TABLE stragglers (sequence INTEGER PRIMARY KEY);
   CREATE TABLE dead_letters (sequence INTEGER PRIMARY KEY);
   CREATE TABLE engine_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`,
  // So that tenants take the same turns after a restart.
  "ALTER TABLE commands ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;",
];
