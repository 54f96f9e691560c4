/**
 * What every rule of the engine works with: the storage, the keys, whose command it is and what time it is; and the
 * shapes in which a rule answers.
 *
 * Contract: a rule first reads and decides, then writes. A `failed` answer therefore leaves every row as it was, and
 * needs no rollback.
 */

import type { JsonObject } from "../../core/json.ts";
import type { KeySource } from "../../core/keys.ts";
import type { TenantHoldings } from "../../core/tenant-holdings.ts";
import { type QuotaName, quotaText } from "../../core/tenant-quotas.ts";
import type { Outcome } from "../port.ts";
import type { Models } from "./models.ts";
import type { Notices } from "./notices.ts";

/** One command being carried out. */
export interface Work {
  readonly sql: SqlStorage;
  readonly keys: KeySource;
  /** Every statement that looks something up by a key also matches this. */
  readonly tenant: string;
  /** Unix milliseconds; the same for the whole command. */
  readonly nowMs: number;
  /** What is in memory: it outlives the command. */
  readonly models: Models;
  readonly notices: Notices;
  /** What this and other tenants have on disk: see holdings.ts. */
  readonly holdings: TenantHoldings;
}

/** The command did what it wanted. */
export function succeeded(result: JsonObject = {}): Outcome {
  return { state: "succeeded", result };
}

/** What the command names is not there, or belongs to somebody else: the two read the same on purpose. */
export function notFound(message: string): Outcome {
  return { state: "failed", error: { code: "not_found", message } };
}

/** What the command names is there, but not in a state that allows it. */
export function invalidState(message: string): Outcome {
  return { state: "failed", error: { code: "invalid_state", message } };
}

/** What the command would make is there already. */
export function alreadyExists(message: string): Outcome {
  return { state: "failed", error: { code: "already_exists", message } };
}

/** What the command brings cannot be used. */
export function invalidArgument(message: string): Outcome {
  return { state: "failed", error: { code: "invalid_argument", message } };
}

/** The tenant has used up what it may hold. @param todo what makes room, without the full stop */
export function quotaExceeded(quota: QuotaName, todo: string): Outcome {
  const message = `The tenant has reached ${quotaText(quota)}. ${todo}.`;
  return { state: "failed", error: { code: "quota_exceeded", message } };
}

/**
 * A duration as a whole number of milliseconds. Not under one: the shortest lease that can be asked for must still be
 * a lease.
 */
export function durationMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

/** States what cannot be otherwise unless the engine itself has a bug. */
export function assertFound<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`embedded engine: ${what} is missing`);
  return value;
}
