import type { OverloadCode } from "./problem.ts";

/**
 * Layer 2: what an isolate last heard of the engine, and what follows for the next command. While the engine is full,
 * commands are refused without touching it, so that overload costs it nothing; one command per tenant and interval goes
 * through as a probe, so that relief is noticed. Each tenant has its own, because the engine shares out its room among
 * those of whom it hears: with one probe for all, a tenant that floods would be the only one that is heard. In the same
 * way a tenant that has used up its share of the queue is refused here while the others pass.
 *
 * A probe may be one of the callers who wait for room at the engine. It is answered the moment there is room, so the
 * isolate hears of relief at once even though it asks only once per interval.
 */

/** What the engine says of itself with each answer. */
export interface EngineHealth {
  /** Null: the engine takes ordinary commands. */
  readonly refusing: OverloadCode | null;
  /** The tenant that was answered has used up its share of the queue; this says nothing of the others. */
  readonly overShare: boolean;
  readonly retryAfterSeconds: number;
}

/** Plain data for module scope. Undefined until something was heard: unknown is not full. */
export interface GateState {
  readonly health: EngineHealth;
  /** Tenants that were refused or let through as a probe of late, the latest last. */
  readonly probes: ReadonlyMap<string, Probe>;
}

interface Probe {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly overShare: boolean;
  readonly retryAfterSeconds: number;
}

/** How old a refusal at the edge may be. */
export const GATE_INTERVAL_MS = 1000;
/** Tenants that may each ask a full engine per interval and isolate: a tenth of what the object can answer in it. */
export const GATE_PROBES_MAX = 100;

export const OVER_SHARE_DETAIL =
  "Your share of the command queue is used up for now: the room that is left is for others who hold less of theirs.";

export type GateVerdict =
  | { readonly verdict: "pass"; readonly next: GateState | undefined }
  | {
      readonly verdict: "refuse";
      readonly code: OverloadCode;
      readonly overShare: boolean;
      readonly retryAfterSeconds: number;
    };

/** Whether a tenant's ordinary command goes on to the engine. Critical ones are not asked. */
export function gate(state: GateState | undefined, tenant: string, nowMs: number): GateVerdict {
  if (state === undefined) return { verdict: "pass", next: state };
  const { refusing, retryAfterSeconds } = state.health;
  const probe = state.probes.get(tenant);
  const asked = probe !== undefined && isFresh(probe, nowMs) ? probe : null;
  if (asked?.overShare) {
    const { retryAfterSeconds: ownSeconds } = asked;
    return { verdict: "refuse", code: "queue_full", overShare: true, retryAfterSeconds: ownSeconds };
  }
  if (refusing === null) return { verdict: "pass", next: state };
  const probes = asked === null ? withProbe(state.probes, tenant, { ...NOT_OVER, atMs: nowMs }, nowMs) : null;
  if (probes !== null) return { verdict: "pass", next: { ...state, probes } };
  return { verdict: "refuse", code: refusing, overShare: false, retryAfterSeconds };
}

/** The state after an answer of the engine to a tenant. */
export function heard(state: GateState | undefined, health: EngineHealth, tenant: string, nowMs: number): GateState {
  const before = state?.probes ?? NO_PROBES;
  const { refusing, overShare, retryAfterSeconds } = health;
  if (refusing === null && !overShare) {
    if (!before.has(tenant)) return { health, probes: before };
    return { health, probes: new Map([...before].filter(([name]) => name !== tenant)) };
  }
  const probe = { overShare, retryAfterSeconds, atMs: nowMs };
  return { health, probes: withProbe(before, tenant, probe, nowMs) ?? before };
}

const NO_PROBES: ReadonlyMap<string, Probe> = new Map();
const NOT_OVER = { overShare: false, retryAfterSeconds: 0 };

/** A clock that steps back makes a probe from the future: it no longer counts. */
function isFresh({ atMs }: Probe, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < GATE_INTERVAL_MS;
}

/** With this probe and without those that are too old; null when there are too many. */
function withProbe(
  probes: ReadonlyMap<string, Probe>,
  tenant: string,
  probe: Probe,
  nowMs: number,
): ReadonlyMap<string, Probe> | null {
  const fresh = [...probes].filter(([name, one]) => name !== tenant && isFresh(one, nowMs));
  return fresh.length >= GATE_PROBES_MAX ? null : new Map([...fresh, [tenant, probe]]);
}
