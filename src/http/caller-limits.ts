import type { Context } from "hono";
import { FairRate } from "../core/fair-rate.ts";
import { IsolateLimit, type LimitRefusal } from "../core/isolate-limit.ts";
import type { Decision } from "../core/limiter.ts";
import { addressOf } from "../identity/address.ts";
import { type Caller, callerKey } from "../identity/caller.ts";
import type { AppEnv } from "./app-env.ts";

/**
 * What one caller may ask of this isolate without a charge to its own limits: reads that reach the engine, and requests
 * with faults. Plain data in module scope; answers are made in `middleware/limit-caller.ts`.
 */

/**
 * Reads of a tenant, or of an address without a credential: a poller of a hundred commands, twice a second; at once as many
 * as a client has to look after when it comes back from a restart.
 */
const reads = new IsolateLimit("reads", { tokens: 200, perSeconds: 1 }, 2_000);

/** Commands that this isolate reads of the engine a second, of all tenants: a fraction of what an engine answers. */
const engineReads = new FairRate(1_000);

/**
 * Faulty requests of one credential, or of an address without one: a client with a bug sees a hundred of its faults, and
 * then twenty a second. What is past that is refused before its body is read.
 */
const faults = new IsolateLimit("faulty-requests", { tokens: 20, perSeconds: 1 }, 100);

/** Charges a read to its caller. */
export function takeRead(c: Context<AppEnv>): Decision {
  const caller = callerOf(c);
  return reads.take(caller === null ? addressName(c) : callerKey(caller), c.get("nowMs"));
}

/** Whether the caller's share of what this isolate reads of the engine is used up. */
export function isOverReadShare(c: Context<AppEnv>): boolean {
  const caller = callerOf(c);
  return !engineReads.take(caller === null ? addressName(c) : callerKey(caller), c.get("nowMs"));
}

/** Charges a fault to its caller. An operator's are not counted: whoever has that token can stop the gateway. */
export function countFault(c: Context<AppEnv>): void {
  if (!isOperator(c)) faults.take(faultName(c), c.get("nowMs"));
}

/** The refusal of a caller that has sent too many faulty requests; null where it has not. */
export function faultRefusal(c: Context<AppEnv>): LimitRefusal | null {
  return isOperator(c) ? null : faults.refusal(faultName(c), c.get("nowMs"));
}

/** One credential of a tenant does not pay for the faults of another. */
function faultName(c: Context<AppEnv>): string {
  const caller = callerOf(c);
  return caller === null ? addressName(c) : `${callerKey(caller)} ${caller.credential ?? ""}`;
}

function addressName(c: Context<AppEnv>): string {
  return `address:${addressOf(c.req.raw.headers)}`;
}

/** Null on routes that ask for no credential. */
function callerOf(c: Context<AppEnv>): Caller | null {
  const caller: Caller | undefined = c.get("caller");
  return caller ?? null;
}

function isOperator(c: Context<AppEnv>): boolean {
  const actor: string | undefined = c.get("actor");
  return actor !== undefined;
}
