import { queryRows } from "./database.ts";

/** Whether D1 answers and has its schema: a database without migrations is as good as none. */
export async function databaseReady(db: D1Database): Promise<boolean> {
  try {
    // What the newest migrations made, and a row that every migrated database has.
    const usage = "(SELECT tier FROM usage_tiers LIMIT 1)";
    const statement = db.prepare(`SELECT limiter_mode, ${usage} FROM tiers WHERE name = 'standard'`);
    return (await queryRows(statement)).length === 1;
  } catch {
    return false;
  }
}
