import { queryRows } from "./database.ts";

/** Whether D1 answers and has its schema: a database without migrations is as good as none. */
export async function databaseReady(db: D1Database): Promise<boolean> {
  try {
    // The newest migration's column, in a row that every migrated database has.
    return (await queryRows(db.prepare("SELECT weight FROM tiers WHERE name = 'standard'"))).length === 1;
  } catch {
    return false;
  }
}
