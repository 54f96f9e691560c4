import { queryRows } from "./database.ts";

/** Whether D1 answers and has its schema: a database without migrations is as good as none. */
export async function databaseReady(db: D1Database): Promise<boolean> {
  try {
    // The newest migration's table, and a row that every migrated database has.
    const statement = db.prepare(
      "SELECT name, (SELECT tier FROM usage_tiers LIMIT 1) FROM tiers WHERE name = 'standard'",
    );
    return (await queryRows(statement)).length === 1;
  } catch {
    return false;
  }
}
