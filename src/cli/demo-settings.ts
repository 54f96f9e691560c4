import { decimal, readOptions, usageText } from "./options.ts";
import type { Quota } from "./provider-settings.ts";

/** What the demo does: the burst whose outcome is worked out beforehand, or a shorter one. */

export interface DemoPlan {
  /** Commands per second. */
  readonly rate: number;
  readonly seconds: number;
  /** The most that may be queued. */
  readonly bound: number;
  /** Jobs that run at once: 2 workers with 4 each. */
  readonly concurrency: number;
  readonly jobMs: number;
  readonly quota: Quota;
}

/** The plan for which the simulator says what comes out. */
export const TABLE_PLAN: DemoPlan = {
  rate: 10,
  seconds: 30,
  bound: 100,
  concurrency: 8,
  jobMs: 2200,
  quota: { burst: 50, perMinute: 50 },
};

const OPTIONS = {
  rate: decimal("N", "commands per second", { min: 0.1, max: 1000 }, TABLE_PLAN.rate),
  seconds: decimal("N", "for how long", { min: 1, max: 600 }, TABLE_PLAN.seconds),
};

export const DEMO_USAGE = `${usageText("npm run demo", "a burst through a gateway of its own, with proof that nothing was lost", OPTIONS)}

With another rate or duration the expected figures do not apply; what must hold for any burst is checked all the same.`;

/**
 * @param argv the arguments after the program's name
 * @returns what was asked for, or "help"
 * @throws Error with one line for people
 */
export function readDemoArguments(argv: readonly string[]): DemoPlan | "help" {
  const values = readOptions(argv, OPTIONS);
  return values === "help" ? "help" : { ...TABLE_PLAN, ...values };
}

/** Whether the figures that were worked out beforehand are this plan's. */
export function isTablePlan({ rate, seconds }: DemoPlan): boolean {
  return rate === TABLE_PLAN.rate && seconds === TABLE_PLAN.seconds;
}

/** About how long the burst takes until its last job is done, in seconds: as its quota and its slots allow. */
export function expectedSeconds({ rate, seconds, bound, concurrency, jobMs, quota }: DemoPlan): number {
  const jobSeconds = jobMs / 1000;
  const slotsPerSecond = concurrency / jobSeconds;
  const quotaPerSecond = quota.perMinute / 60;
  const startedMeanwhile = Math.min(quota.burst + quotaPerSecond * seconds, concurrency + slotsPerSecond * seconds);
  const accepted = Math.min(rate * seconds, bound + startedMeanwhile);
  const lastStart = Math.max(seconds, (accepted - quota.burst) / quotaPerSecond, accepted / slotsPerSecond);
  return lastStart + jobSeconds;
}
