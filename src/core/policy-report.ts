import type { Policy } from "./policy.ts";

/** What callers are told of each policy, in answers and in headers. */

/** How a policy stands after the decision. One entry of the RateLimit headers and of `policies` in an answer. */
export interface PolicyReport {
  readonly name: string;
  readonly type: Policy["type"];
  /** The most that can be spent at once: a bucket's burst, a window's limit. */
  readonly limit: number;
  /** A window's length; for a bucket, seconds in which the whole burst comes back, rounded up. Null when it never does. */
  readonly windowSeconds: number | null;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until nothing is owed, rounded up; null when that never comes. */
  readonly resetSeconds: number | null;
}

/** The report that tells a caller most: the one with the least left, and of those the one that takes longest. */
export function tightest(reports: readonly PolicyReport[]): PolicyReport | undefined {
  const resetOf = (report: PolicyReport) => report.resetSeconds ?? Number.POSITIVE_INFINITY;
  return reports.reduce<PolicyReport | undefined>((best, report) => {
    if (best === undefined || report.remaining < best.remaining) return report;
    return report.remaining === best.remaining && resetOf(report) > resetOf(best) ? report : best;
  }, undefined);
}
