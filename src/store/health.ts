import { queryRows } from "./database.ts";

/** Whether D1 answers and has its schema: a database without migrations is as good as none. */
export async function databaseReady(db: D1Database): Promise<boolean> {
  try {
    return (await queryRows(db.prepare("SELECT version FROM limits_clock WHERE id = 1"))).length === 1;
  } catch {
    return false;
  }
}
