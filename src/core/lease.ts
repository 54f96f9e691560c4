import type { Meter } from "./meter.ts";
import type { Receipt } from "./receipts.ts";
import type { Subjects } from "./subjects.ts";

/**
 * Leases: a busy isolate takes tokens of a tenant at once, spends them by itself, and tells what became of them with its
 * next call. What isolate and object say to each other, and how much is lent; what each does with it is in
 * `edge-limits.ts` and `tenant-limits.ts`.
 *
 * Leased tokens are charged when they are lent, so nothing is ever admitted twice. What it allows beyond burst + rate ×
 * interval is what was leased before the interval and not yet expired at its beginning: those tokens were charged
 * earlier, time may have forgiven them since, and they may be spent within it.
 */

/** The longest that a deployment may lend tokens for, in milliseconds: limits have to take effect within a second. */
export const LEASE_MS_MAX = 1_000;

/** Whether isolates may decide by leases; `exact`: an object decides each request that may be admitted. */
export const LIMITER_MODES = ["leased", "exact"] as const;
export type LimiterMode = (typeof LIMITER_MODES)[number];

/**
 * How long after the end of a lease its isolate still waits before it makes a call of its own to give it back, in
 * milliseconds: while requests come, the next one takes it along.
 */
export const LEASE_GRACE_MS = 50;

/** An isolate's side of a call: what it holds, what it did, and what it would like. */
export interface LeaseAsk {
  /** Tokens that it would like to hold until the lease ends, beside those that it keeps. */
  readonly want: number;
  /** Of what it held: tokens that it may be spending while it is being answered. They stay charged. */
  readonly kept: number;
  /** The lease before, which this ends; null: there was none. */
  readonly held: HeldLease | null;
  /** What it decided by itself since it last said so. */
  readonly done: Done;
}

/** Of an isolate that holds nothing and asks for nothing. */
export const NO_LEASE: LeaseAsk = { want: 0, kept: 0, held: null, done: { admitted: 0, refused: 0 } };

/** Requests that an isolate has decided by itself. */
export interface Done {
  readonly admitted: number;
  readonly refused: number;
}

/** A lease as it ends. */
export interface HeldLease {
  readonly receipt: Receipt;
  /** What the object's count of changes stood at when it lent the tokens. */
  readonly change: number;
  /** Tokens that were not spent, kept ones included. */
  readonly unspent: number;
  /** How the meters stand by what this isolate knows: true, if nobody else has changed them since. */
  readonly meters: readonly (readonly [id: string, meter: Meter])[];
}

/** A lease that has ended without a request to take it along, and whose use it was. */
export interface EndedLease {
  readonly lease: LeaseAsk;
  readonly subjects: Subjects;
}

/** How the meters of a request stand at its object, so that its isolate can decide the next ones by itself. */
export interface View {
  /** Those that the request is counted by, without what is lent. */
  readonly meters: readonly (readonly [id: string, meter: Meter])[];
  /** The object's clock. */
  readonly atMs: number;
  /** How long it may be gone by, in milliseconds. */
  readonly lastsMs: number;
  /** What was lent with it: so many tokens more than were kept; null: nothing. */
  readonly grant: Grant | null;
  /** After a refusal: other isolates wait for the same tokens, and this one's turn comes later. */
  readonly turn?: Turn;
}

export interface Turn {
  /** From this cost on, */
  readonly cost: number;
  /** it fits in so many milliseconds if nobody else asks, */
  readonly fitsInMs: number;
  /** and is asked for again in so many. */
  readonly asksInMs: number;
}

export interface Grant {
  readonly tokens: number;
  readonly receipt: Receipt;
  readonly change: number;
}

/**
 * One isolate gets no more than this part of what is left, so that near the limit few tokens lie where nobody asks for
 * them: a lease has the size of the isolate's demand while there is plenty, and is nothing at the end.
 */
const PART_OF_REST = 4;

/**
 * How many tokens to lend.
 *
 * @param want for a whole lease; @param remaining what the tightest policy has left after the request itself
 * @param lastsMs how long this lease lasts, of `leaseMs` that the want is for
 */
export function leaseSize(want: number, remaining: number, lastsMs: number, leaseMs: number): number {
  return Math.min(Math.ceil((want * lastsMs) / leaseMs), Math.floor(remaining / PART_OF_REST));
}

/** A request a second is not worth a lease: from so many tokens a second on an isolate asks for one. */
const BUSY_TOKENS_PER_SECOND = 8;
const DEMAND_WINDOW_MS = 1_000;

/** What an isolate is asked for of one tenant, in tokens, counted in windows of a second. */
export class Demand {
  #windowMs = 0;
  #present = 0;
  #before = 0;

  count(cost: number, nowMs: number): void {
    this.#settle(nowMs);
    this.#present += cost;
  }

  /** Tokens that a lease of `leaseMs` should have; 0 while there is too little demand for one. */
  wantFor(leaseMs: number, nowMs: number): number {
    this.#settle(nowMs);
    const perSecond = Math.max(this.#present, this.#before);
    return perSecond < BUSY_TOKENS_PER_SECOND ? 0 : Math.ceil((perSecond * leaseMs) / DEMAND_WINDOW_MS);
  }

  #settle(nowMs: number): void {
    const windowMs = Math.floor(nowMs / DEMAND_WINDOW_MS) * DEMAND_WINDOW_MS;
    if (windowMs === this.#windowMs) return;
    this.#before = windowMs - this.#windowMs === DEMAND_WINDOW_MS ? this.#present : 0;
    this.#present = 0;
    this.#windowMs = windowMs;
  }
}
