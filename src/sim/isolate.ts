import { type EngineHealth, GATE_INTERVAL_MS, type GateState, gate, heard } from "../core/depth-gate.ts";
import type { OverloadCode } from "../core/problem.ts";
import { ReturnTimes } from "../core/return-times.ts";
import type { Wanting } from "./submission.ts";

/**
 * What one isolate at the edge knows and does by itself, thinly: what `http/edge.ts` does around the core's gate. It is
 * plain data, lost when the isolate goes.
 */

export interface EdgeRefusal {
  readonly code: OverloadCode;
  readonly retryAfterSeconds: number;
}

/** As long as a tenant is told here that it has its share. */
const OVER_SHARE_MS = 200;
const OVER_SHARE_MAX = 1_000;
const WANTING_MAX = 100;

export class Isolate {
  #gate: GateState | undefined;
  readonly #returnTimes = new ReturnTimes();
  readonly #overShare = new Map<string, { readonly untilMs: number; readonly retryAfterSeconds: number }>();
  #wanting = new Map<string, Wanting>();

  /** Layer 2: why an ordinary command goes no further; null: it goes on to the engine. @param random in [0, 1) */
  refusal(tenant: string, weight: number, nowMs: number, random: number): EdgeRefusal | null {
    const own = this.#overShare.get(tenant);
    if (own !== undefined && nowMs < own.untilMs && own.untilMs - nowMs <= GATE_INTERVAL_MS) {
      return { code: "queue_full", retryAfterSeconds: own.retryAfterSeconds };
    }
    const verdict = gate(this.#gate, nowMs);
    if (verdict.verdict === "pass") {
      this.#gate = verdict.next;
      return null;
    }
    const { places, retryAfterSeconds } = verdict.health;
    const asker = { tenant, weight };
    const told =
      places === null ? retryAfterSeconds : this.#returnTimes.tell(asker, places.ahead, places.speed, nowMs, random);
    this.#note(asker);
    return { code: verdict.code, retryAfterSeconds: told };
  }

  /** Whom it has refused since it was last asked for them. */
  takeWanting(): readonly Wanting[] {
    if (this.#wanting.size === 0) return [];
    const taken = [...this.#wanting.values()];
    this.#wanting = new Map();
    return taken;
  }

  /** The engine has answered. */
  hear(health: EngineHealth, nowMs: number): void {
    this.#gate = heard(health, nowMs);
  }

  /** The engine has told a caller of this tenant a time. */
  hearTime(asker: { readonly tenant: string; readonly weight: number }, seconds: number, nowMs: number): void {
    this.#returnTimes.heard(asker, seconds, nowMs);
  }

  hearOverShare(tenant: string, retryAfterSeconds: number, nowMs: number): void {
    this.#overShare.delete(tenant);
    const [oldest] = this.#overShare.keys();
    if (this.#overShare.size >= OVER_SHARE_MAX && oldest !== undefined) this.#overShare.delete(oldest);
    this.#overShare.set(tenant, { untilMs: nowMs + OVER_SHARE_MS, retryAfterSeconds });
  }

  #note(asker: { readonly tenant: string; readonly weight: number }): void {
    const known = this.#wanting.get(asker.tenant);
    if (known === undefined && this.#wanting.size >= WANTING_MAX) return;
    this.#wanting.set(asker.tenant, { ...asker, refused: (known?.refused ?? 0) + 1 });
  }
}
