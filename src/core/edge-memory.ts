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

/** A tenant that was refused at the edge, and how often. */
export interface Wanting extends Asker {
  readonly refused: number;
}

/** Tenants refused at the edge since the engine last heard of it: they want places there. */
export class WantingTenants {
  readonly #tenants = new Map<string, Wanting>();

  refused(asker: Asker): void {
    const before = this.#tenants.get(asker.tenant)?.refused ?? 0;
    if (before > 0 || this.#tenants.size < WANTING_MAX)
      this.#tenants.set(asker.tenant, { ...asker, refused: before + 1 });
  }

  /** What the engine is to hear with the next command; it is not told twice. */
  take(): Wanting[] {
    const taken = [...this.#tenants.values()];
    this.#tenants.clear();
    return taken;
  }
}
