import type { LimiterMode } from "../core/lease.ts";
import { seeded } from "../core/random.ts";
import { runTenant } from "./edge-tenant.ts";

/**
 * Layer 1 at the size of a network: many places and isolates, tenants by a Zipf law, a minute of traffic. Isolates and
 * objects are the production limiter: leases and refusals that are kept at the edge, or each check one call. Not
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
  readonly mode: LimiterMode;
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
  /**
   * The most tokens that any tenant was admitted beyond burst + rate × interval. A meter of its own counts them, and one
   * more than was leased ends the run.
   */
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

interface Stratum {
  readonly ranks: readonly number[];
  /** How many ranks these stand for, and the checks a second of all of them. */
  readonly size: number;
  readonly rate: number;
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
  const isolatesPerTenant = Math.min(spec.places, spec.homes) * spec.isolates;
  const sums = {
    perSecond: 0,
    admitted: 0,
    calls: 0,
    rows: 0,
    awake: 0,
    billed: 0,
    run: 0,
    over: 0,
    hottest: 0,
    tooHot: 0,
  };
  for (const { ranks, rate, size } of strata) {
    const part = { rate: 0, admitted: 0, calls: 0, rows: 0, awake: 0, billed: 0, tooHot: 0 };
    for (const rank of ranks) {
      const own = rateOf(rank);
      const seconds = Math.min(MINUTE, Math.max(SECONDS_MIN, budget / own));
      const done = runTenant(rank, own, seconds, isolatesPerTenant, spec.mode, random);
      const callsPerSecond = done.calls / done.seconds;
      part.rate += own;
      part.admitted += done.admitted / done.seconds;
      part.calls += callsPerSecond;
      part.tooHot += callsPerSecond > CALLS_MAX ? 1 / ranks.length : 0;
      part.rows += done.rows / done.seconds;
      part.awake += done.awakeSeconds / done.seconds;
      part.billed += done.billedSeconds / done.seconds;
      sums.run += done.checks;
      sums.over = Math.max(sums.over, done.over);
      sums.hottest = Math.max(sums.hottest, callsPerSecond);
    }
    // The sampled ranks stand for their stratum in proportion to what it sends.
    const scale = rate / part.rate;
    sums.perSecond += rate;
    sums.admitted += part.admitted * scale;
    sums.calls += part.calls * scale;
    sums.rows += part.rows * scale;
    sums.tooHot += part.tooHot * size;
    sums.awake += part.awake * scale;
    sums.billed += part.billed * scale;
  }
  let lookups = 0;
  for (let rank = 1; rank <= spec.tenants; rank++) {
    // Each isolate asks with the first request, and with the first one after that answer is too old.
    lookups += rateOf(rank) / (1 + (rateOf(rank) / isolatesPerTenant) * IDENTITY_SECONDS);
  }
  const perMillion = (amount: number) => (1e6 * amount) / sums.perSecond;
  return {
    ...spec,
    checksRun: sums.run,
    admittedShare: sums.admitted / sums.perSecond,
    callsPerMillion: perMillion(sums.calls),
    rowsPerMillion: perMillion(sums.rows),
    objectSecondsPerMillion: perMillion(sums.billed),
    objectsAwake: sums.awake,
    hottestPerSecond: sums.hottest,
    tooHot: Math.round(sums.tooHot),
    perIsolate: spec.rate / (spec.places * spec.isolates),
    lookupsPerMillion: perMillion(lookups),
    lookupsPerSecond: lookups,
    overAdmitted: sums.over,
    dollars: dollarsOf(perMillion(sums.calls), perMillion(sums.rows), perMillion(sums.billed), spec.rate),
  };
}

function dollarsOf(callsMade: number, rows: number, objectSeconds: number, rate: number): EdgeReport["dollars"] {
  const workers = PRICES.workerPerMillion + CPU_MS_PER_CHECK * PRICES.cpuPerMillionMs;
  const calls = (callsMade * PRICES.callPerMillion) / 1e6;
  const written = (rows * PRICES.rowPerMillion) / 1e6;
  const duration = (objectSeconds * OBJECT_GB * PRICES.gbSecondPerMillion) / 1e6;
  const perMillion = workers + calls + written + duration;
  return { workers, calls, rows: written, duration, perMillion, perMonth: (perMillion * rate * MONTH_SECONDS) / 1e6 };
}

function strataOf(tenants: number, rateOf: (rank: number) => number, random: () => number): Stratum[] {
  const strata: Stratum[] = [];
  for (let rank = 1; rank <= Math.min(HEAD, tenants); rank++)
    strata.push({ ranks: [rank], size: 1, rate: rateOf(rank) });
  for (let from = HEAD + 1; from <= tenants; from = 2 * from - 1) {
    const to = Math.min(tenants, 2 * (from - 1));
    const ranks = Array.from({ length: PER_STRATUM }, () => from + Math.floor(random() * (to - from + 1)));
    let rate = 0;
    for (let rank = from; rank <= to; rank++) rate += rateOf(rank);
    strata.push({ ranks, size: to - from + 1, rate });
  }
  return strata;
}
