import { IDLE_FLUSH_MS } from "../core/charge-ahead.ts";
import { seeded } from "../core/random.ts";
import { SimLimiter } from "./limiter.ts";
import { LimiterChecks } from "./limiter-checks.ts";
import { EPOCH_MS, Loop } from "./loop.ts";

/**
 * Layer 1 at the size of a network: many places and isolates, tenants by a Zipf law, a minute of traffic. Every check
 * that an isolate gets is one call of the tenant's object, as it is built; the objects are the production limiter. Not
 * all of the minute is run: the tenants with most traffic each for some seconds, the others by a sample of every rank.
 */

export interface EdgeSpec {
  readonly seed: number;
  /** Checks a second, of all tenants. */
  readonly rate: number;
  readonly tenants: number;
  /** The exponent of the law: the tenant of rank n sends in proportion to 1 ÷ n^zipf. */
  readonly zipf: number;
  readonly places: number;
  /** In each place. */
  readonly isolates: number;
  /** In how many places a tenant's callers are. */
  readonly homes: number;
  /** How much of the minute's checks is run, about: more is more exact, and slower. */
  readonly sample: number;
}

export interface EdgeReport extends EdgeSpec {
  /** Checks that were run. */
  readonly checksRun: number;
  readonly admittedShare: number;
  /** Of an object, per million checks. */
  readonly callsPerMillion: number;
  readonly rowsPerMillion: number;
  /** Seconds in which objects are billed, at most, per million checks. */
  readonly objectSecondsPerMillion: number;
  /** Objects in memory at the same time. */
  readonly objectsAwake: number;
  /** Calls a second of the object with most of them, and how many have more than one object can take. */
  readonly hottestPerSecond: number;
  readonly tooHot: number;
  /** Checks a second that an isolate gets. */
  readonly perIsolate: number;
  /**
   * Questions to D1 about who a credential is, per million checks and a second: an isolate keeps an answer for ten
   * seconds, which is of no use to a tenant that comes more rarely than that.
   */
  readonly lookupsPerMillion: number;
  readonly lookupsPerSecond: number;
  /** Tokens admitted beyond burst + rate × interval. A meter of its own counts them, and the first one ends the run. */
  readonly overAdmitted: number;
  readonly dollars: {
    readonly workers: number;
    readonly calls: number;
    readonly rows: number;
    readonly duration: number;
    /** All of these, per million checks. */
    readonly perMillion: number;
    readonly perMonth: number;
  };
}

/**
 * Published prices in dollars, without what a plan includes: developers.cloudflare.com/workers/platform/pricing and
 * /durable-objects/platform/pricing (Objects with SQLite).
 */
export const PRICES = {
  workerPerMillion: 0.3,
  cpuPerMillionMs: 0.02,
  callPerMillion: 0.15,
  rowPerMillion: 1,
  gbSecondPerMillion: 12.5,
} as const;
/** What a check costs a Worker, measured on workerd. */
const CPU_MS_PER_CHECK = 0.5;
/** An object is billed for 128 MB while it is awake. */
const OBJECT_GB = 0.128;
/** As long as an idle object stays in memory. */
const AWAKE_MS = 10_000;
/**
 * As long as an object is billed after a check, at most: the timer of its flush (`IDLE_FLUSH_MS`, set again once) keeps it
 * from hibernating, and what could hibernate is free (same page).
 */
const BILLED_MS = 2 * IDLE_FLUSH_MS;
/** What one object takes in production, in calls a second. */
const CALLS_MAX = 1_000;
/** As long as an isolate uses what D1 told it (`IDENTITY_CACHE_MS`). */
const IDENTITY_SECONDS = 10;
const MINUTE = 60;
const MONTH_SECONDS = 30 * 86_400;

/** Ranks that are all run; beyond them, of every doubling of the rank so many. */
const HEAD = 32;
const PER_STRATUM = 12;
/** Each tenant is run for at least so long: a row a second is what there is to see. */
const SECONDS_MIN = 3;

/** Half of the tenants are on the smallest tier, as many as that on the two others. */
const TIERS = [
  { perSecond: 50, burst: 100 },
  { perSecond: 100, burst: 200 },
  { perSecond: 50, burst: 100 },
  { perSecond: 1_000, burst: 2_000 },
] as const;

interface Stratum {
  readonly ranks: readonly number[];
  /** Checks a second of all ranks that these stand for. */
  readonly rate: number;
}

interface TenantRun {
  readonly seconds: number;
  readonly checks: number;
  readonly admitted: number;
  readonly rows: number;
  readonly awakeSeconds: number;
  readonly billedSeconds: number;
}

/** @returns what the traffic costs in calls, rows and money, and how hot the hottest object is */
export function edge(spec: EdgeSpec): EdgeReport {
  const random = seeded(spec.seed);
  const weightOf = (rank: number) => rank ** -spec.zipf;
  let weights = 0;
  for (let rank = 1; rank <= spec.tenants; rank++) weights += weightOf(rank);
  const rateOf = (rank: number) => (spec.rate * weightOf(rank)) / weights;
  const strata = strataOf(spec.tenants, rateOf, random);
  const sampled = strata.reduce((sum, { ranks }) => sum + ranks.length, 0);
  const budget = (spec.sample * MINUTE * spec.rate) / sampled;
  const sums = { perSecond: 0, admitted: 0, rows: 0, awake: 0, billed: 0, run: 0 };
  for (const { ranks, rate } of strata) {
    const part = { rate: 0, admitted: 0, rows: 0, awake: 0, billed: 0 };
    for (const rank of ranks) {
      const own = rateOf(rank);
      const done = runTenant(rank, own, Math.min(MINUTE, Math.max(SECONDS_MIN, budget / own)), random);
      part.rate += own;
      part.admitted += done.admitted / done.seconds;
      part.rows += done.rows / done.seconds;
      part.awake += done.awakeSeconds / done.seconds;
      part.billed += done.billedSeconds / done.seconds;
      sums.run += done.checks;
    }
    // The sampled ranks stand for their stratum in proportion to what it sends.
    const scale = rate / part.rate;
    sums.perSecond += rate;
    sums.admitted += part.admitted * scale;
    sums.rows += part.rows * scale;
    sums.awake += part.awake * scale;
    sums.billed += part.billed * scale;
  }
  const isolatesPerTenant = Math.min(spec.places, spec.homes) * spec.isolates;
  let lookups = 0;
  for (let rank = 1; rank <= spec.tenants; rank++) {
    // Each isolate asks with the first request, and with the first one after that answer is too old.
    lookups += rateOf(rank) / (1 + (rateOf(rank) / isolatesPerTenant) * IDENTITY_SECONDS);
  }
  let tooHot = 0;
  while (tooHot < spec.tenants && rateOf(tooHot + 1) > CALLS_MAX) tooHot += 1;
  const perMillion = (amount: number) => (1e6 * amount) / sums.perSecond;
  return {
    ...spec,
    checksRun: sums.run,
    admittedShare: sums.admitted / sums.perSecond,
    callsPerMillion: 1e6,
    rowsPerMillion: perMillion(sums.rows),
    objectSecondsPerMillion: perMillion(sums.billed),
    objectsAwake: sums.awake,
    hottestPerSecond: rateOf(1),
    tooHot,
    perIsolate: spec.rate / (spec.places * spec.isolates),
    lookupsPerMillion: perMillion(lookups),
    lookupsPerSecond: lookups,
    overAdmitted: 0,
    dollars: dollarsOf(perMillion(sums.rows), perMillion(sums.billed), spec.rate),
  };
}

function dollarsOf(rows: number, objectSeconds: number, rate: number): EdgeReport["dollars"] {
  const workers = PRICES.workerPerMillion + CPU_MS_PER_CHECK * PRICES.cpuPerMillionMs;
  const calls = PRICES.callPerMillion;
  const written = (rows * PRICES.rowPerMillion) / 1e6;
  const duration = (objectSeconds * OBJECT_GB * PRICES.gbSecondPerMillion) / 1e6;
  const perMillion = workers + calls + written + duration;
  return { workers, calls, rows: written, duration, perMillion, perMonth: (perMillion * rate * MONTH_SECONDS) / 1e6 };
}

function strataOf(tenants: number, rateOf: (rank: number) => number, random: () => number): Stratum[] {
  const strata: Stratum[] = [];
  for (let rank = 1; rank <= Math.min(HEAD, tenants); rank++) strata.push({ ranks: [rank], rate: rateOf(rank) });
  for (let from = HEAD + 1; from <= tenants; from = 2 * from - 1) {
    const to = Math.min(tenants, 2 * (from - 1));
    const ranks = Array.from({ length: PER_STRATUM }, () => from + Math.floor(random() * (to - from + 1)));
    let rate = 0;
    for (let rank = from; rank <= to; rank++) rate += rateOf(rank);
    strata.push({ ranks, rate });
  }
  return strata;
}

/** One tenant's object for some seconds. The promise of its bucket is checked at every admission. */
function runTenant(rank: number, rate: number, seconds: number, random: () => number): TenantRun {
  const loop = new Loop();
  const clock = () => EPOCH_MS + Math.floor(loop.nowMs);
  const checks = new LimiterChecks(() => Math.floor(loop.nowMs));
  const limit = TIERS[rank % TIERS.length] ?? TIERS[0];
  const limiter = new SimLimiter({ name: `t${rank}`, limit, weight: 1 }, { loop, clock, checks, sabotage: null });
  // Who always sends more than it may has used up its burst long before the minute that is looked at.
  if (rate > limit.perSecond) limiter.check(limit.burst, false);
  const counted = { checks: 0, admitted: 0, awakeMs: 0, billedMs: 0, lastMs: Number.NEGATIVE_INFINITY };
  const rowsBefore = limiter.rowsWritten;
  const next = () => {
    loop.after((-1_000 * Math.log(1 - random())) / rate, () => {
      counted.checks += 1;
      if (limiter.check(1, false).outcome === "allowed") counted.admitted += 1;
      const sinceMs = loop.nowMs - counted.lastMs;
      counted.awakeMs += Math.min(AWAKE_MS, sinceMs);
      counted.billedMs += Math.min(BILLED_MS, sinceMs);
      counted.lastMs = loop.nowMs;
      next();
    });
  };
  next();
  loop.run(seconds * 1_000, () => undefined);
  return {
    seconds,
    checks: counted.checks,
    admitted: counted.admitted,
    rows: limiter.rowsWritten - rowsBefore,
    awakeSeconds: counted.awakeMs / 1_000,
    billedSeconds: counted.billedMs / 1_000,
  };
}
