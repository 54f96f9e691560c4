import type { z } from "zod";
import type { Json } from "../core/json.ts";

/**
 * How the tables are spoken to: batches that are transactions, rows that are checked before anyone sees them, and the
 * two ways in which that fails. What each table holds and means is left to its own file.
 */

/** D1 did not do what it was asked. Nothing of the batch is kept, as far as can be known; asking again is safe. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A stored row is not of the shape that this code writes: a bug or a foreign hand, and never a caller's fault. */
export class BadRow extends Error {
  override readonly name = "BadRow";

  constructor(table: string, why: string) {
    super(`bad row in table ${table}: ${why}`);
  }
}

/** What a caller is told to wait when D1 fails, in seconds: its outages are restarts of a few seconds. */
export const STORE_RETRY_AFTER_SECONDS = 5;

/** Who does an admin write, and when. */
export interface Act {
  readonly actor: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** A condition inside a statement, with its arguments: constant SQL, never a caller's text. */
export interface Condition {
  readonly sql: string;
  readonly args: readonly unknown[];
}

export const ALWAYS: Condition = { sql: "1", args: [] };

/**
 * Runs the statements as one transaction, all or nothing.
 *
 * @returns what each statement gave, in their order
 * @throws StoreUnavailable
 */
export async function runBatch(db: D1Database, statements: readonly D1PreparedStatement[]): Promise<Batch> {
  try {
    return new Batch(await db.batch<unknown>([...statements]));
  } catch (error) {
    throw new StoreUnavailable(`D1 failed: ${String(error)}`, { cause: error });
  }
}

/** The answers of a batch, by the place of their statement. */
export class Batch {
  readonly #results: readonly D1Result<unknown>[];

  constructor(results: readonly D1Result<unknown>[]) {
    this.#results = results;
  }

  rows(at: number): readonly unknown[] {
    return this.#results[at]?.results ?? [];
  }

  /** Whether the statement gave a row; for a write with `RETURNING`, whether it wrote one. */
  found(at: number): boolean {
    return this.rows(at).length > 0;
  }
}

/** @throws StoreUnavailable */
export async function queryRows(statement: D1PreparedStatement): Promise<readonly unknown[]> {
  try {
    return (await statement.all<unknown>()).results;
  } catch (error) {
    throw new StoreUnavailable(`D1 failed: ${String(error)}`, { cause: error });
  }
}

/** @throws BadRow, naming the table, for a row that the schema does not take */
export function checkRow<S extends z.ZodType>(table: string, schema: S, row: unknown): z.output<S> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BadRow(table, issue === undefined ? "not as written" : `${issue.path.join(".")}: ${issue.message}`);
}

/** @throws BadRow for a text that is not JSON */
export function parseJson(table: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRow(table, "a column that holds JSON does not");
  }
}
