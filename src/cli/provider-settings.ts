import { z } from "zod";
import { choice, decimal, list, readOptions, usageText, whole } from "./options.ts";

/**
 * How the simulated backend behaves: what the command line and `POST /_control` may set, with the same ranges for
 * both.
 */

/**
 * What can go wrong with a job. The job is done, and the answer is lost or strange: `reset` (the connection breaks
 * instead of an answer), `close-mid-body`, `html`, `huge`, `slow` (ten times as long). The job is not started: `redirect`,
 * and 503 with a Retry-After that is `garbage-retry-after`, `retry-after-date` or `huge-retry-after`.
 */
export const FAULTS = [
  "none",
  "reset",
  "html",
  "huge",
  "redirect",
  "slow",
  "close-mid-body",
  "garbage-retry-after",
  "retry-after-date",
  "huge-retry-after",
] as const;
export type Fault = (typeof FAULTS)[number];

/** During an outage a job is answered with 503, finds nobody who listens, or is never answered. */
const OUTAGE_KINDS = ["503", "refuse", "hang"] as const;
export type OutageKind = (typeof OUTAGE_KINDS)[number];

/** A part of the provider's life, in milliseconds since its start. */
export interface Outage {
  readonly kind: OutageKind;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** So many jobs may start at once, and then so many a minute. */
export interface Quota {
  readonly burst: number;
  readonly perMinute: number;
}

export interface ProviderSettings {
  /** How long a job takes, in milliseconds. */
  readonly jobMs: number;
  /** Null where as many jobs may start as come. */
  readonly quota: Quota | null;
  /** The share of jobs that end with 500. */
  readonly failRate: number;
  readonly fault: Fault;
  /** The share of jobs that the fault befalls. */
  readonly faultRate: number;
  readonly outages: readonly Outage[];
}

export interface ProviderOptions extends ProviderSettings {
  /** 0: a free one. */
  readonly port: number;
  readonly seed: number;
}

/** A backend that does what it is told, with the quota of a small one. */
export const DEFAULTS: ProviderOptions = {
  port: 8790,
  seed: 1,
  jobMs: 2200,
  quota: { burst: 50, perMinute: 50 },
  failRate: 0,
  fault: "none",
  faultRate: 1,
  outages: [],
};

const JOB_MS = { min: 0, max: 3_600_000 };
const QUOTA_BURST = { min: 1, max: 1_000_000 };
const QUOTA_PER_MINUTE = { min: 0, max: 1_000_000 };
const SHARE = { min: 0, max: 1 };
const OUTAGE_SECONDS = { min: 0, max: 86_400 };

const OPTIONS = {
  port: whole("N", "where to listen on 127.0.0.1; 0: a free port", { min: 0, max: 65_535 }, DEFAULTS.port),
  jobMs: whole("N", "how long a job takes, in milliseconds", JOB_MS, DEFAULTS.jobMs),
  quotaBurst: whole("N", "how many jobs may start at once", QUOTA_BURST, 50),
  quotaPerMinute: whole("N", "how many jobs a minute may start after that; 0: no quota", QUOTA_PER_MINUTE, 50),
  failRate: decimal("P", "the share of jobs that end with 500, 0 to 1", SHARE, DEFAULTS.failRate),
  fault: choice("NAME", `what goes wrong with some jobs: ${FAULTS.join(" ")}`, FAULTS, DEFAULTS.fault),
  faultRate: decimal("P", "the share of jobs that the fault befalls, 0 to 1", SHARE, DEFAULTS.faultRate),
  outage: list("FROM:SECONDS", "an outage, in seconds since the start", readOutage),
  outageKind: choice(
    "KIND",
    "what jobs meet then: 503, refuse (nobody listens) or hang (no answer)",
    OUTAGE_KINDS,
    "503",
  ),
  seed: whole("N", "the same seed, the same chance", { min: 0, max: 2 ** 32 - 1 }, DEFAULTS.seed),
};

export const PROVIDER_USAGE = `${usageText("npm run provider", "a simulated backend; any method and path is a job", OPTIONS)}

While it runs:
  GET  /_stats[?ids=1]   what it has seen
  POST /_control         {jobMs?, quota?: {burst, perMinute} | null, failRate?, fault?, faultRate?,
                          outage?: {seconds, kind} | null}; null ends the quota, or the outage that is`;

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for, or "help"
 * @throws Error with one line for people
 */
export function readProviderArguments(argv: readonly string[]): ProviderOptions | "help" {
  const values = readOptions(argv, OPTIONS);
  if (values === "help") return "help";
  const { port, seed, jobMs, failRate, fault, faultRate, outageKind } = values;
  const { quotaBurst: burst, quotaPerMinute: perMinute } = values;
  const outages = values.outage.map((times) => ({ ...times, kind: outageKind }));
  return { port, seed, jobMs, quota: quotaOf({ burst, perMinute }), failRate, fault, faultRate, outages };
}

function readOutage(given: string): { fromMs: number; untilMs: number } {
  const [, from, seconds] = /^(\d{1,5}(?:\.\d+)?):(\d{1,5}(?:\.\d+)?)$/.exec(given) ?? [];
  if (from === undefined || seconds === undefined) throw new Error(`takes FROM:SECONDS, not ${given}`);
  return { fromMs: Number(from) * 1000, untilMs: (Number(from) + Number(seconds)) * 1000 };
}

/** No jobs a minute is how a person says that there is no quota. */
function quotaOf(quota: Quota | null): Quota | null {
  return quota === null || quota.perMinute === 0 ? null : quota;
}

const within = ({ min, max }: { min: number; max: number }) => z.number().min(min).max(max);

const change = z.strictObject({
  jobMs: within(JOB_MS).int().optional(),
  quota: z
    .strictObject({ burst: within(QUOTA_BURST).int(), perMinute: within(QUOTA_PER_MINUTE).int() })
    .nullable()
    .optional(),
  failRate: within(SHARE).optional(),
  fault: z.enum(FAULTS).optional(),
  faultRate: within(SHARE).optional(),
  outage: z
    .strictObject({ seconds: within(OUTAGE_SECONDS), kind: z.enum(OUTAGE_KINDS) })
    .nullable()
    .optional(),
});

/** What may be changed while it runs. */
export type ProviderChange = z.input<typeof change>;

/**
 * @param given a change as it came, checked here
 * @param sinceStartMs when an outage begins, or which one ends
 * @returns the settings from now on
 * @throws Error with one line that names the field
 */
export function changeSettings(settings: ProviderSettings, given: unknown, sinceStartMs: number): ProviderSettings {
  const parsed = change.safeParse(given);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; "));
  }
  const { jobMs, quota, failRate, fault, faultRate, outage } = parsed.data;
  return {
    jobMs: jobMs ?? settings.jobMs,
    quota: quota === undefined ? settings.quota : quotaOf(quota),
    failRate: failRate ?? settings.failRate,
    fault: fault ?? settings.fault,
    faultRate: faultRate ?? settings.faultRate,
    outages: outage === undefined ? settings.outages : changeOutages(settings.outages, outage, sinceStartMs),
  };
}

/** A new outage takes the place of the one that is; outages to come stay. */
function changeOutages(
  outages: readonly Outage[],
  outage: { seconds: number; kind: OutageKind } | null,
  nowMs: number,
): readonly Outage[] {
  const others = outages.filter((one) => !covers(one, nowMs));
  if (outage === null) return others;
  return [{ kind: outage.kind, fromMs: nowMs, untilMs: nowMs + outage.seconds * 1000 }, ...others];
}

/** Whether an outage is on at this time, in milliseconds since the start. */
export function covers({ fromMs, untilMs }: Outage, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs < untilMs;
}
