import type { Report } from "./report.ts";
import {
  type EngineSpec,
  type LoadSpec,
  type Manners,
  PLAIN_ENGINE,
  PLAIN_LOAD,
  PLAIN_NETWORK,
  type TenantSpec,
  type WorldSpec,
} from "./spec.ts";

/**
 * The named scenarios that are worlds, as data: from a few numbers to a whole world, and what must be true of what came
 * of it. Scenarios that are no worlds have files of their own (`three-modes.ts`, `capacity.ts`, `edge.ts`).
 */

/** Something that must be true of a run, and whether it was. */
export interface Claim {
  readonly says: string;
  readonly holds: boolean;
}

const HOUR = 3_600;

export interface EngineOptions {
  readonly seed: number;
  readonly bound: number;
  readonly callers: Manners;
}

export const OVERLOAD: EngineOptions = { seed: 1, bound: 2_500, callers: "never" };
const OVERLOAD_PACE = 250;
/** Of a thousand. They go ahead of the rest, so at the height of it the rest has only what they leave of the pace. */
const OVERLOAD_CRITICAL = 10;
const OVERLOAD_PACE_LEFT = OVERLOAD_PACE - (500 * OVERLOAD_CRITICAL) / 1_000;

/** 100 → 500 a second in a minute, five minutes of that, and back in a minute; the engine does 250 a second. */
export function overloadWorld({ seed, bound, callers }: EngineOptions): WorldSpec {
  const phases = [
    { seconds: 60, from: 100, to: 500 },
    { seconds: 300, from: 500, to: 500 },
    { seconds: 60, from: 500, to: 100 },
    { seconds: 60, from: 100, to: 100 },
  ];
  return world(seed, {
    seconds: HOUR,
    tenants: [{ name: "t", limit: { perSecond: 1_000, burst: 2_000 }, weight: 1 }],
    loads: [{ ...load(["t"], phases), criticalPerMille: OVERLOAD_CRITICAL, manners: callers, triesMax: 5 }],
    engine: { ...fast(OVERLOAD_PACE), bound, enqueueWaitMs: 5_000, isolates: 4 },
    backend: { jobMs: 100, spread: 0, quota: null, troubles: [] },
  });
}

/** How many critical ones come in a second varies by chance. */
const CHANCE = 1.03;
/** When the rate falls below what the engine does: 37.5 s into the way down. */
const OVERLOAD_ENDS_SECONDS = 60 + 300 + (60 * (500 - OVERLOAD_PACE)) / (500 - 100);

export function overloadClaims(report: Report, { bound, callers }: EngineOptions): Claim[] {
  const others = Object.keys(report.refusals).filter((code) => code !== "queue_full");
  const wait = bound / OVERLOAD_PACE_LEFT;
  const quietAfter = OVERLOAD_ENDS_SECONDS + 10;
  return [
    claim(`refused for a full queue only, 503 (${report.refusals.queue_full ?? 0})`, others.length === 0),
    claim(`at most ${report.peakDepth} queued, bound ${bound}`, report.peakDepth <= bound),
    claim(
      `p99 of the wait ${round(report.waits?.p99)} s, bound ÷ the pace that critical ones leave ${round(wait)} s`,
      (report.waits?.p99 ?? 0) <= wait * CHANCE,
    ),
    claim(
      `${report.critical.refused} of ${report.critical.offered} critical ones refused`,
      report.critical.refused === 0,
    ),
    ...(callers === "never"
      ? [
          claim(
            `the last refusal at ${round(report.lastRefusalSeconds)} s, the overload ends at ${OVERLOAD_ENDS_SECONDS} s`,
            (report.lastRefusalSeconds ?? 0) <= quietAfter,
          ),
        ]
      : []),
    nothingLost(report),
  ];
}

export const OUTAGE: EngineOptions = { seed: 1, bound: 1_000, callers: "never" };
const OUTAGE_FROM = 60;
const OUTAGE_SECONDS = 1_800;

/** A backend that is down for half an hour under 50 a second, of the 100 that it could do. */
export function outageWorld({ seed, bound, callers }: EngineOptions): WorldSpec {
  const trouble = { fromSeconds: OUTAGE_FROM, toSeconds: OUTAGE_FROM + OUTAGE_SECONDS, kind: "down" } as const;
  return world(seed, {
    seconds: 4 * HOUR,
    loads: [{ ...load(["t"], [{ seconds: 2_400, from: 50, to: 50 }]), manners: callers, triesMax: 4 }],
    engine: { ...fast(100), bound, enqueueWaitMs: 5_000, isolates: 4 },
    backend: { jobMs: 100, spread: 0, quota: null, troubles: [trouble] },
  });
}

export function outageClaims(report: Report, { bound }: EngineOptions): Claim[] {
  const over = OUTAGE_FROM + OUTAGE_SECONDS;
  const after = report.timeline.filter(({ seconds }) => seconds > over);
  const emptyAt = after.find(({ depth }) => depth <= bound / 10)?.seconds ?? Number.POSITIVE_INFINITY;
  return [
    claim(`at most ${report.peakDepth} queued, bound ${bound}`, report.peakDepth <= bound),
    claim(`${report.gaveUp} refused, each told when to come back`, report.gaveUp > 0),
    claim(`the queue has drained at ${emptyAt} s, the outage ends at ${over} s`, emptyAt < over + 300),
    claim(
      `no second overload: the last refusal at ${round(report.lastRefusalSeconds)} s`,
      (report.lastRefusalSeconds ?? 0) <= emptyAt,
    ),
    claim(`${report.ends.dead} given up as dead letters`, report.ends.dead === 0),
    nothingLost(report),
  ];
}

export const FAIR_SHARE: EngineOptions = { seed: 1, bound: 2_000, callers: "never" };
const FAIR_TENANTS = 40;

/** 40 tenants, each within its own limit, against an engine that can serve a third of them. */
export function fairShareWorld({ seed, bound, callers }: EngineOptions): WorldSpec {
  const names = Array.from({ length: FAIR_TENANTS }, (_, n) => `t${n}`);
  // Some send twice as much as others; together three times what the engine does.
  const rates = names.map((_, n) => 5 + (5 * n) / (FAIR_TENANTS - 1));
  return world(seed, {
    seconds: HOUR,
    tenants: names.map((name) => ({ name, limit: { perSecond: 15, burst: 30 }, weight: 1 })),
    loads: rates.map((rate, n) => ({
      ...load([`t${n}`], [{ seconds: 120, from: rate, to: rate }]),
      spacing: "random" as const,
      manners: callers,
      triesMax: 4,
    })),
    engine: { ...fast(100), bound, isolates: 4 },
    backend: { jobMs: 100, spread: 0, quota: null, troubles: [] },
  });
}

export function fairShareClaims(report: Report, { bound }: EngineOptions): Claim[] {
  const served = Object.values(report.tenants).map(({ ended }) => ended);
  const mean = served.reduce((sum, one) => sum + one, 0) / served.length;
  const furthest = Math.max(...served.map((one) => Math.abs(one / mean - 1)));
  return [
    claim(`at most ${report.peakDepth} queued, bound ${bound}`, report.peakDepth <= bound),
    claim(`${report.refusals.rate_limited ?? 0} refused by their own limit`, (report.refusals.rate_limited ?? 0) === 0),
    claim(`served to within ${round(100 * furthest)} % of an equal share each`, furthest <= 0.1),
    nothingLost(report),
  ];
}

export interface RateLimitOptions {
  readonly seed: number;
  readonly rate: number;
  readonly seconds: number;
  readonly limit: number;
  readonly burst: number;
}

export const RATE_LIMIT: RateLimitOptions = { seed: 1, rate: 150, seconds: 60, limit: 100, burst: 200 };

/** One tenant that sends more than it may, and one that does not. */
export function rateLimitWorld({ seed, rate, seconds, limit, burst }: RateLimitOptions): WorldSpec {
  const own = { perSecond: limit, burst };
  const phase = (perSecond: number) => [{ seconds, from: perSecond, to: perSecond }];
  return world(seed, {
    seconds: HOUR,
    tenants: [
      { name: "over", limit: own, weight: 1 },
      { name: "within", limit: own, weight: 1 },
    ],
    loads: [load(["over"], phase(rate)), load(["within"], phase(limit / 2))],
    engine: { ...fast(10 * rate), bound: 10_000, isolates: 4 },
    backend: { jobMs: 100, spread: 0, quota: null, troubles: [] },
  });
}

export function rateLimitClaims(report: Report, { seconds, limit, burst, rate }: RateLimitOptions): Claim[] {
  const [over, within] = [report.tenants.over, report.tenants.within];
  const due = Math.min(rate * seconds, burst + limit * seconds);
  const others = Object.keys(report.refusals).filter((code) => code !== "rate_limited");
  return [
    claim(`${over?.accepted} admitted, ${due} ± 1 % are due`, Math.abs((over?.accepted ?? 0) / due - 1) <= 0.01),
    claim("the rest is refused by its own limit, 429", others.length === 0),
    claim(`the other tenant is refused ${within?.refused} times`, within?.refused === 0),
    nothingLost(report),
  ];
}

function nothingLost({ accepted, ends, emptyAtSeconds }: Report): Claim {
  const all = ends.succeeded + ends.failed + ends.dead + ends.cancelled + ends.expired;
  return claim(`${accepted} accepted, ${all} ended: nothing is lost`, emptyAtSeconds !== null && accepted === all);
}

function claim(says: string, holds: boolean): Claim {
  return { says, holds };
}

/** An engine that does so many commands of 100 ms a second. */
function fast(perSecond: number): EngineSpec {
  return { ...PLAIN_ENGINE, concurrency: Math.ceil(perSecond / 10), timeoutMs: 5_000 };
}

function load(tenants: readonly string[], phases: LoadSpec["phases"]): LoadSpec {
  return { ...PLAIN_LOAD, tenants, phases };
}

type WorldParts = Omit<WorldSpec, "seed" | "network" | "faults" | "tenants"> & { tenants?: readonly TenantSpec[] };

function world(seed: number, parts: WorldParts): WorldSpec {
  return { seed, tenants: [{ name: "t", limit: null, weight: 1 }], network: PLAIN_NETWORK, faults: [], ...parts };
}

function round(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 100) / 100;
}
