/**
 * Schema of an object's own SQLite: numbered steps, applied once each, in order, never edited afterwards. The number of
 * the last applied step is kept in `schema_steps`, one row per part (the queue and its executor each have their own).
 */

/** @param steps each one or more statements; a later version appends, it never changes what is there */
export function applySchema(storage: DurableObjectStorage, part: string, steps: readonly string[]): void {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS schema_steps (part TEXT PRIMARY KEY, step INTEGER NOT NULL) WITHOUT ROWID");
  const [row] = sql.exec<{ step: number }>("SELECT step FROM schema_steps WHERE part = ?", part).toArray();
  const applied = row?.step ?? 0;
  if (applied > steps.length) throw new Error(`${part} has schema step ${applied}, this code knows ${steps.length}`);
  if (applied === steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(applied)) sql.exec(step);
    sql.exec("INSERT OR REPLACE INTO schema_steps (part, step) VALUES (?, ?)", part, steps.length);
  });
}
