import { type EngineHealth, GATE_INTERVAL_MS, type GateState, gate, heard } from "../core/depth-gate.ts";
import type { Asker } from "../core/fair-share.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";

/**
 * What this isolate knows and has done by itself. Plain data in module scope: no promise, stub or response may ever be
 * shared between requests.
 */

/** By partition of the engine; there are at most as many as the deployment has. */
const gateStates = new Map<number, GateState>();
let refusals: Record<string, number> = {};

/** Tenants that were told that they have their share, until when; the oldest is forgotten first. */
const overShare = new Map<string, { readonly untilMs: number; readonly retryAfterSeconds: number }>();
const OVER_SHARE_MAX = 1_000;
/** Tenants refused here since the engine last heard of it, by partition: they want places there. */
const wanting = new Map<number, Map<string, Asker>>();
const WANTING_MAX = 100;

/** Layer 2: the problem to answer with, or null when a tenant's ordinary command goes on to the engine. */
export function gateRefusal(partition: number, tenant: string, nowMs: number): Problem | null {
  const own = overShare.get(tenant);
  if (own !== undefined && nowMs < own.untilMs && own.untilMs - nowMs <= GATE_INTERVAL_MS) {
    return { code: "queue_full", detail: OVER_SHARE, retryAfterSeconds: own.retryAfterSeconds };
  }
  const verdict = gate(gateStates.get(partition), nowMs);
  if (verdict.verdict === "pass") {
    if (verdict.next !== undefined) gateStates.set(partition, verdict.next);
    return null;
  }
  const { code, retryAfterSeconds } = verdict;
  return { code, detail: DETAILS[code], retryAfterSeconds };
}

/** A tenant was refused here, for lack of room and for nothing else: the engine is told with the next call. */
export function noteWanting(partition: number, asker: Asker): void {
  const wants = wanting.get(partition) ?? new Map<string, Asker>();
  if (wants.size < WANTING_MAX) wanting.set(partition, wants.set(asker.tenant, asker));
}

/** Takes the tenants that want places in a partition and were not let through to say so. */
export function takeWanting(partition: number): Asker[] {
  const taken = [...(wanting.get(partition)?.values() ?? [])];
  wanting.delete(partition);
  return taken;
}

/** A tenant has its share of the queue: for a moment it is told so here. */
export function hearOverShare(tenant: string, retryAfterSeconds: number, nowMs: number): void {
  overShare.delete(tenant);
  const [oldest] = overShare.keys();
  if (overShare.size >= OVER_SHARE_MAX && oldest !== undefined) overShare.delete(oldest);
  overShare.set(tenant, { untilMs: nowMs + OVER_SHARE_MS, retryAfterSeconds });
}

/** As long as its commands before are likely to stand in the queue, and far less than what a gate may remember. */
const OVER_SHARE_MS = 200;
const OVER_SHARE = "You have your share of the command queue; what is left of it is for others who wait for theirs.";

const DETAILS: Readonly<Record<OverloadCode, string>> = {
  queue_full: "The command queue is full. Everyone has to wait.",
  request_limit: "The engine works on as many commands as it bears. Everyone has to wait.",
  write_limit: "The engine takes no more commands this second. Everyone has to wait.",
  engine_paused: "An operator has paused the engine, and it takes no commands.",
};

/** What the engine has just said of itself. */
export function hearEngine(partition: number, health: EngineHealth, nowMs: number): void {
  gateStates.set(partition, heard(health, nowMs));
}

/** An operator has changed the engine through this isolate: what was heard before no longer holds. */
export function forgetEngine(): void {
  gateStates.clear();
  overShare.clear();
}

/** Counts refusals that the engine has not seen. */
export function countRefusal(code: string, count = 1): void {
  refusals[code] = (refusals[code] ?? 0) + count;
}

/** Takes the refusals that were not yet told to the engine. */
export function takeRefusals(): Readonly<Record<string, number>> {
  const taken = refusals;
  refusals = {};
  return taken;
}
