import { type Grant, LEASE_MS_MAX, type Turn, type View } from "./lease.ts";
import { type Charged, UNKNOWN_LIMITS } from "./limiter-call.ts";
import type { Meter } from "./meter.ts";

/**
 * What an isolate makes of a limiter object's answer. In a gradual deployment the object may be of another version: an
 * answer that is not understood admits nothing, and a view that is not understood lends nothing.
 */

/** @returns the answer, without its view where that cannot be gone by; null when there is no decision in it */
export function readAnswer(answer: unknown): Charged | typeof UNKNOWN_LIMITS | null {
  if (!isObject(answer)) return null;
  const { outcome } = answer;
  if (outcome === UNKNOWN_LIMITS.outcome) return UNKNOWN_LIMITS;
  if (!isDecision(answer)) return null;
  const { view, receipt, ...decision } = answer;
  return {
    ...decision,
    ...(isReceipt(receipt) && { receipt }),
    ...(isView(view) && { view }),
  };
}

function isDecision(answer: Readonly<Record<string, unknown>>): answer is Charged & Readonly<Record<string, unknown>> {
  const { outcome, reports, violated, retryAfterSeconds } = answer;
  if (!Array.isArray(reports) || !reports.every(isReport)) return false;
  if (outcome === "allowed") return true;
  if (!Array.isArray(violated) || !violated.every((name) => typeof name === "string")) return false;
  return outcome === "cost_exceeds_capacity" || (outcome === "rate_limited" && isAtLeast(1, retryAfterSeconds));
}

function isReport(report: unknown): boolean {
  if (!isObject(report)) return false;
  const { name, type, limit, windowSeconds, remaining, resetSeconds } = report;
  return (
    typeof name === "string" &&
    typeof type === "string" &&
    [limit, remaining].every(Number.isFinite) &&
    [windowSeconds, resetSeconds].every((seconds) => seconds === null || Number.isFinite(seconds))
  );
}

function isView(view: unknown): view is View {
  if (!isObject(view)) return false;
  const { meters, atMs, lastsMs, grant, turn } = view;
  if (!Array.isArray(meters) || !meters.every(isEntry)) return false;
  if (!Number.isFinite(atMs) || !isAtLeast(0, lastsMs) || lastsMs > LEASE_MS_MAX) return false;
  return (grant === null || isGrant(grant)) && (turn === undefined || isTurn(turn));
}

function isEntry(entry: unknown): boolean {
  return Array.isArray(entry) && typeof entry[0] === "string" && isMeter(entry[1]);
}

function isMeter(meter: unknown): meter is Meter {
  if (!isObject(meter)) return false;
  const { type, atMs } = meter;
  const counts = METER_COUNTS.get(String(type));
  return counts !== undefined && Number.isFinite(atMs) && counts.every((name) => isAtLeast(0, meter[name]));
}

const METER_COUNTS: ReadonlyMap<string, readonly string[]> = new Map<Meter["type"], readonly string[]>([
  ["token-bucket", ["debt", "perToken", "perMs"]],
  ["fixed-window", ["used", "windowMs"]],
  ["sliding-window", ["previous", "present", "windowMs"]],
]);

function isGrant(grant: unknown): grant is Grant {
  if (!isObject(grant)) return false;
  const { tokens, change, receipt } = grant;
  return isAtLeast(0, tokens) && Number.isSafeInteger(tokens) && Number.isFinite(change) && isReceipt(receipt);
}

function isReceipt(receipt: unknown): receipt is Grant["receipt"] {
  if (!isObject(receipt)) return false;
  const { life, number, total, ids } = receipt;
  return (
    Number.isFinite(life) &&
    isAtLeast(0, number) &&
    isAtLeast(0, total) &&
    Array.isArray(ids) &&
    ids.every((id) => typeof id === "string")
  );
}

function isTurn(turn: unknown): turn is Turn {
  if (!isObject(turn)) return false;
  const { cost, fitsInMs, asksInMs } = turn;
  return [cost, fitsInMs, asksInMs].every((value) => isAtLeast(0, value));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isAtLeast(least: number, value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= least;
}
