import { IDLE_FLUSH_MS } from "../core/charge-ahead.ts";
import type { LimiterMode } from "../core/lease.ts";
import { LeasingIsolate } from "./leasing.ts";
import { SimLimiter } from "./limiter.ts";
import { LimiterChecks } from "./limiter-checks.ts";
import { EPOCH_MS, Loop } from "./loop.ts";

/** One tenant of the network in `edge.ts`: its object and the isolates that ask it. */

/** Half of the tenants are on the smallest tier, as many as that on the two others. */
const TIERS = [
  { perSecond: 50, burst: 100 },
  { perSecond: 100, burst: 200 },
  { perSecond: 50, burst: 100 },
  { perSecond: 1_000, burst: 2_000 },
] as const;

/** As long as an idle object stays in memory. */
const AWAKE_MS = 10_000;
/**
 * As long as an object is billed after a check, at most: the timer of its flush keeps it from hibernating, and what could
 * hibernate is free (same page).
 */
const BILLED_MS = IDLE_FLUSH_MS;
export interface TenantRun {
  readonly seconds: number;
  readonly checks: number;
  readonly admitted: number;
  readonly calls: number;
  readonly over: number;
  readonly rows: number;
  readonly awakeSeconds: number;
  readonly billedSeconds: number;
}

/** One tenant's object for some seconds, asked by isolates. The promise of its bucket is checked at every admission. */
export function runTenant(
  rank: number,
  rate: number,
  seconds: number,
  isolatesMax: number,
  mode: LimiterMode,
  random: () => number,
): TenantRun {
  const loop = new Loop();
  const clock = () => EPOCH_MS + Math.floor(loop.nowMs);
  const checks = new LimiterChecks(() => Math.floor(loop.nowMs));
  const limit = TIERS[rank % TIERS.length] ?? TIERS[0];
  const name = `t${rank}`;
  const limiter = new SimLimiter({ name, limit, weight: 1 }, { loop, clock, checks, sabotage: null });
  // Who always sends more than it may has used up its burst long before the minute that is looked at.
  if (rate > limit.perSecond) limiter.check(limit.burst, false);
  const counted = { checks: 0, admitted: 0, calls: 0, awakeMs: 0, billedMs: 0, lastMs: Number.NEGATIVE_INFINITY };
  const rowsBefore = limiter.rowsWritten;
  const called = () => {
    counted.calls += 1;
    const sinceMs = loop.nowMs - counted.lastMs;
    counted.awakeMs += Math.min(AWAKE_MS, sinceMs);
    counted.billedMs += Math.min(BILLED_MS, sinceMs);
    counted.lastMs = loop.nowMs;
  };
  const isolates = Array.from(
    { length: isolatesMax },
    (_, n) => new LeasingIsolate(limiter, { loop, clock, mode, called }, n),
  );
  const next = () => {
    loop.after((-1_000 * Math.log(1 - random())) / rate, () => {
      counted.checks += 1;
      const calls = counted.calls;
      if (isolates[Math.floor(random() * isolates.length)]?.check(1)) {
        counted.admitted += 1;
        checks.admitted(name, 1, false);
      }
      if (counted.calls > calls)
        checks.leased(
          name,
          isolates.reduce((sum, { unspent }) => sum + unspent, 0),
        );
      next();
    });
  };
  next();
  loop.run(seconds * 1_000, () => undefined);
  return {
    seconds,
    checks: counted.checks,
    admitted: counted.admitted,
    calls: counted.calls,
    over: Math.floor(checks.over(name)),
    rows: limiter.rowsWritten - rowsBefore,
    awakeSeconds: counted.awakeMs / 1_000,
    billedSeconds: counted.billedMs / 1_000,
  };
}
