import type { Grant, HeldLease, LeaseAsk } from "./lease.ts";
import type { Meter } from "./meter.ts";

/** What a `Holding` holds: how the meters stood, what was lent, and by which clock. Data, and what can be read off it. */

export interface Held {
  meters: ReadonlyMap<string, Meter>;
  /** From the isolate's clock to the object's, in milliseconds. */
  readonly shiftMs: number;
  /** On the isolate's clock. */
  readonly fromMs: number;
  untilMs: number;
  readonly grant: Grant | null;
  /** On the object's clock. */
  readonly turn: { readonly cost: number; readonly fitsAtMs: number; readonly asksAtMs: number } | null;
  /** Tokens that it began with, and those that may still be spent. */
  readonly lent: number;
  budget: number;
  /** Tokens spent here so far. */
  spent: number;
}

/** A request as its isolate asks the object about it. Handed back with the answer. */
export interface Asking {
  readonly lease: LeaseAsk;
  /** Of the limits that were known then. */
  readonly version: number;
  readonly askedAtMs: number;
  /** Whether it brings a lease back or may bring one: only one such call is under way at a time. */
  readonly carries: boolean;
}

/** The object's time to decide by: it stands still while others are to have what comes back. */
export function timeOf({ shiftMs, turn }: Held, cost: number, nowMs: number): number {
  const atMs = nowMs + shiftMs;
  return turn !== null && cost >= turn.cost && atMs < turn.asksAtMs ? Math.min(atMs, turn.fitsAtMs - 1) : atMs;
}

/** The lease as it goes back; null where there was none. */
export function leaseOf({ grant, budget, meters }: Held): HeldLease | null {
  return grant && { receipt: grant.receipt, change: grant.change, unspent: budget, meters: [...meters] };
}
