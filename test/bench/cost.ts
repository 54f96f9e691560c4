import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { PRICES } from "../../src/sim/edge.ts";

/**
 * What a million of each cost: calls of objects and rows written, as the tests of the cost have counted them (not
 * timed) and kept in `cost.json`, with the published prices of both.
 */

const counted = z.array(
  z.strictObject({
    what: z.string(),
    /** Calls of objects for one million, and rows written for one million. */
    callsPerMillion: z.number().min(0),
    rowsPerMillion: z.number().min(0),
  }),
);

export interface CostRow {
  readonly what: string;
  readonly callsPerMillion: number;
  readonly rowsPerMillion: number;
  /** The Worker's request, the calls and the rows; neither its processor time nor that of the objects. */
  readonly dollarsPerMillion: number;
}

const FILE = new URL("cost.json", import.meta.url);

/** @throws Error when the file is there and is not of this shape */
export function readCosts(): CostRow[] {
  if (!existsSync(FILE)) return [];
  return counted.parse(JSON.parse(readFileSync(FILE, "utf8"))).map((row) => ({
    ...row,
    dollarsPerMillion: dollarsOf(row.callsPerMillion, row.rowsPerMillion),
  }));
}

/** @returns dollars for a million requests with so many calls and rows */
export function dollarsOf(calls: number, rows: number): number {
  return PRICES.workerPerMillion + (calls * PRICES.callPerMillion + rows * PRICES.rowPerMillion) / 1e6;
}
