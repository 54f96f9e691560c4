import { GATE_INTERVAL_MS } from "./depth-gate.ts";
import type { Asker } from "./fair-share.ts";

/** What an isolate at the edge remembers of tenants, beside its gate: who has its share, and who wants a place. */

/** As long as its commands before are likely to stand in the queue, and far less than what a gate may remember. */
const OVER_SHARE_MS = 200;
const OVER_SHARE_MAX = 1_000;
const WANTING_MAX = 100;

/** Tenants that were told that they have their share, until when; the oldest is forgotten first. */
export class OverShares {
  readonly #told = new Map<string, { readonly untilMs: number; readonly retryAfterSeconds: number }>();

  /** @returns the seconds that the tenant was told and is told again; null when it may ask the engine */
  secondsFor(tenant: string, nowMs: number): number | null {
    const own = this.#told.get(tenant);
    // A clock that stepped back must not make it longer.
    if (own === undefined || nowMs >= own.untilMs || own.untilMs - nowMs > GATE_INTERVAL_MS) return null;
    return own.retryAfterSeconds;
  }

  hear(tenant: string, retryAfterSeconds: number, nowMs: number): void {
    this.#told.delete(tenant);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= OVER_SHARE_MAX && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(tenant, { untilMs: nowMs + OVER_SHARE_MS, retryAfterSeconds });
  }

  clear(): void {
    this.#told.clear();
  }
}

/** A tenant that was refused at the edge, how often, and how long ago for the last time, in milliseconds. */
export interface Wanting extends Asker {
  readonly refused: number;
  readonly agoMs: number;
}

/** A closed gate lets a probe through each second, which takes them along: what is older was not told for want of traffic. */
const WANTING_MS = 5_000;
/** How often a full table is looked through for those that are too old: not with every refusal. */
const SWEEP_EVERY_MS = 1_000;

/** Tenants refused at the edge since the engine last heard of it: they want places there. */
export class WantingTenants {
  readonly #tenants = new Map<string, Omit<Wanting, "agoMs"> & { readonly atMs: number }>();
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  refused(asker: Asker, nowMs: number): void {
    const before = this.#tenants.get(asker.tenant);
    const isFull = this.#tenants.size >= WANTING_MAX;
    if (before === undefined && isFull && Math.abs(nowMs - this.#sweptAtMs) >= SWEEP_EVERY_MS) this.#forgetOld(nowMs);
    if (before === undefined && this.#tenants.size >= WANTING_MAX) return;
    this.#tenants.set(asker.tenant, { ...asker, refused: (before?.refused ?? 0) + 1, atMs: nowMs });
  }

  /** Whether a tenant is among them. */
  has(tenant: string, nowMs: number): boolean {
    const own = this.#tenants.get(tenant);
    return own !== undefined && isRecent(own.atMs, nowMs);
  }

  /** What the engine is to hear with the next command; it is not told twice, and not of those who wanted places long ago. */
  take(nowMs: number): Wanting[] {
    this.#forgetOld(nowMs);
    const taken = [...this.#tenants.values()].map(({ atMs, ...wanting }) => ({
      ...wanting,
      agoMs: Math.max(0, nowMs - atMs),
    }));
    this.#tenants.clear();
    return taken;
  }

  #forgetOld(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const [tenant, { atMs }] of this.#tenants) if (!isRecent(atMs, nowMs)) this.#tenants.delete(tenant);
  }
}

/** Whichever way a clock has leapt. */
function isRecent(atMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < WANTING_MS;
}
