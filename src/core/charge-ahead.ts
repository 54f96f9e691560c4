import { age, type Meter, owesAtLeast, owesNothing, type Rule } from "./meter.ts";
import type { Limits } from "./policy.ts";

/**
 * How a meter survives a crash without a row per request: the disk is charged ahead of memory, in chunks of about a
 * second at the limit's rate. What is written always owes at least as much as what is known, so an object that restarts
 * mints nothing; it may know up to a chunk too much debt, which a second forgives.
 */

/** After this long without a charge the exact debt is written, well before an idle object loses its memory (10 s). */
export const IDLE_FLUSH_MS = 2_000;

/** Where meters are kept. Each call is a row; an object that starts anew starts from what is written. */
export interface MeterDisk {
  readonly written: ReadonlyMap<string, Meter>;
  /** Whether there is anything on disk, and whether this life may write without preparing it first. */
  readonly hasRows: boolean;
  readonly isPrepared: boolean;
  save(id: string, meter: Meter): void;
  delete(id: string): void;
  deleteAll(): void;
  /** Writes the limits, and what the shell keeps beside them. */
  saveState(limits: Limits): void;
}

/** True when an object that started from `written` would owe at least what `memory` owes, now and at any later time. */
export function covers(written: Meter | undefined, memory: Meter): boolean {
  if (owesNothing(memory)) return true;
  if (written === undefined || written.atMs > memory.atMs) return false;
  return owesAtLeast(age(written, memory.atMs), memory);
}

/**
 * What to write after a change: what is owed and one chunk more, or null while the disk still covers it. A slow meter, of
 * which one token takes longer than a second to come back, is written exactly each time, also when it owes less.
 *
 * @param cost what one request was charged; 1 for what many requests share, such as a lease
 */
export function writeAhead<M extends Meter>(rule: Rule<M>, written: Meter | undefined, memory: M, cost = 1): M | null {
  if (!covers(written, memory)) return rule.ahead(memory, cost);
  if (written === undefined || !isSlow(rule, memory) || isExact(written, memory)) return null;
  return memory;
}

function isSlow<M extends Meter>(rule: Rule<M>, memory: M): boolean {
  return owesAtLeast(memory, rule.ahead(memory, 1));
}

/** Whether a row already says exactly what memory owes. */
export function isExact(written: Meter | undefined, memory: Meter): boolean {
  return written !== undefined && covers(written, memory) && owesAtLeast(memory, age(written, memory.atMs));
}
