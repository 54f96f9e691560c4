import { windowEndMs } from "./fixed-window.ts";
import { type HeldLease, LEASE_MS_MAX, type LeaseAsk, leaseSize, type View } from "./lease.ts";
import { type CompiledLimits, count, decide, giveBack } from "./limiter.ts";
import type { Meter } from "./meter.ts";
import type { MeterTable } from "./meters.ts";
import { tightest } from "./policy-report.ts";
import type { Receipts } from "./receipts.ts";
import { isOverflowId, keyOfId, type Subjects } from "./subjects.ts";

/** The object's side of leases: what it lends, and what it makes of a lease that has ended. It decides, and keeps nothing. */

export interface Lent {
  /** Tokens to charge, and the meters once they are; 0: nothing is lent beside what is kept. */
  readonly tokens: number;
  readonly next: ReadonlyMap<string, Meter>;
  /** Whether there is a lease: something new, or something kept. */
  readonly holds: boolean;
  readonly view: View;
}

/**
 * What an isolate is shown and lent after a request.
 *
 * @param charged what the request was admitted and charged for; null: it was refused, or only judged
 * @returns null when there is nothing to go by: nothing is lent, and as much again would fit
 */
export function lend(
  charged: number | null,
  { want, kept }: LeaseAsk,
  meters: MeterTable,
  limits: CompiledLimits,
  subjects: Subjects,
  nowMs: number,
  leaseMs: number,
): Lent | null {
  const standing = decide(meters, limits, 0, nowMs, subjects);
  const ids = [...standing.next.keys()];
  const tight = tightest(standing.decision.reports);
  // Nothing limits it; or it is counted with strangers, for whom there was no place, and an isolate knows no others.
  if (tight === undefined || ids.some(isOverflowId)) return null;
  const lastsMs = Math.min(leaseMs, ...[...standing.next.values()].map(windowLeftMs));
  const tokens = charged === null ? 0 : leaseSize(want, tight.remaining, lastsMs, leaseMs);
  const holds = tokens + kept > 0;
  if (charged !== null && !holds && charged <= tight.remaining) return null;
  // What is kept is charged already, and the isolate's to spend.
  const seen = kept === 0 ? standing : giveBack(meters, limits, kept, ids, 0, nowMs, subjects);
  const { next } = tokens === 0 ? standing : count(meters, limits, tokens, nowMs, subjects, "whole");
  const view = { meters: [...seen.next], atMs: nowMs, lastsMs: holds ? lastsMs : LEASE_MS_MAX, grant: null };
  return { tokens, next, holds, view };
}

/**
 * How long a cost that was refused takes to fit, and how long the limits take to give back as much, by a view of them.
 *
 * @returns in milliseconds, of the policy that makes it wait longest
 */
export function waitFor(
  { meters }: View,
  { policies }: CompiledLimits,
  cost: number,
): { readonly fitsInMs: number; readonly costMs: number } {
  let longest = { fitsInMs: 0, costMs: 0 };
  for (const [id, meter] of meters) {
    const counted = policies.find(({ key }) => key === keyOfId(id));
    const weighed = counted?.rule.weigh(meter, cost);
    if (weighed?.verdict !== "later" || weighed.waitMs <= longest.fitsInMs) continue;
    // A window gives everything back at once.
    const costMs = meter.type === "token-bucket" && meter.perMs > 0 ? (cost * meter.perToken) / meter.perMs : 0;
    longest = { fitsInMs: weighed.waitMs, costMs };
  }
  return longest;
}

/** A lease that was charged in one window may not be spent in the next: it would be counted in neither rightly. */
function windowLeftMs(meter: Meter): number {
  return meter.type === "token-bucket" ? LEASE_MS_MAX : windowEndMs(meter.atMs, meter.windowMs) - meter.atMs;
}

/**
 * What the end of a lease makes of the meters. If nobody has changed them since the tokens were lent, they are what the
 * isolate says, to the token: its requests count from when it admitted them, as if the object itself had. Else what was
 * not spent is given back as far as it is still owed. What is kept stays charged.
 *
 * @param change the object's count of changes
 * @returns null for a lease of an earlier life of the object: what it owes is as written
 */
export function settleLease(
  { held, kept }: { readonly held: HeldLease; readonly kept: number },
  change: number,
  receipts: Receipts,
  meters: MeterTable,
  limits: CompiledLimits,
  subjects: Subjects,
  nowMs: number,
): ReadonlyMap<string, Meter> | null {
  const returned = held.unspent - kept;
  const since = receipts.giveBack(held.receipt, returned);
  if (since === null) return null;
  // A clock that leapt ahead at the isolate has forgiven there what is still owed here.
  if (held.change === change && held.meters.every(([, { atMs }]) => atMs <= nowMs)) {
    const seen = new Map(held.meters);
    const as = { get: (id: string) => seen.get(id), latestMs: meters.latestMs };
    return count(as, limits, kept, nowMs, subjects, "whole").next;
  }
  return giveBack(meters, limits, returned, held.receipt.ids, since, nowMs, subjects).next;
}
