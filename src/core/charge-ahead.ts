import { type Bucket, settle } from "./bucket.ts";
import type { Grains } from "./policy.ts";

/**
 * How a bucket survives a crash without a row per request: the disk is charged ahead of memory, in chunks of about a
 * second of refill. What is written always owes at least as much as what is known, so an object that restarts mints
 * nothing; it may know up to a chunk too much debt.
 */

/** True when an object that started from `written` would owe at least what `memory` owes, now and at any later time. */
export function covers(written: Bucket | undefined, memory: Bucket, grains: Grains, nowMs: number): boolean {
  if (memory.debt === 0) return true;
  if (written === undefined || written.atMs > memory.atMs) return false;
  return settle(written, grains, nowMs).debt >= memory.debt;
}

/** What to write when the disk no longer covers memory: the debt and one chunk more. */
export function ahead(memory: Bucket, grains: Grains): Bucket {
  const oneSecond = grains.perMs * 1000;
  const chunk = Math.min(Math.max(oneSecond, grains.perToken), Math.max(grains.burst, grains.perToken));
  return { ...memory, debt: memory.debt + chunk };
}
