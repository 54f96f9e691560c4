import { type EngineHealth, type GateState, gate, heard } from "../core/depth-gate.ts";
import { OverShares, type Wanting, WantingTenants } from "../core/edge-memory.ts";
import type { Asker } from "../core/fair-share.ts";
import { FirstComers } from "../core/first-comers.ts";
import type { OverloadCode } from "../core/problem.ts";
import { ReturnTimes } from "../core/return-times.ts";

/**
 * What one isolate at the edge knows and does by itself, thinly: what `http/edge.ts` does around the core's gate. It is
 * plain data, lost when the isolate goes.
 */

export interface EdgeRefusal {
  readonly code: OverloadCode;
  readonly retryAfterSeconds: number;
}

export class Isolate {
  #gate: GateState | undefined;
  readonly #returnTimes = new ReturnTimes();
  readonly #overShares = new OverShares();
  readonly #wanting = new WantingTenants();
  readonly #firstComers = new FirstComers();

  /** Layer 2: why an ordinary command goes no further; null: it goes on to the engine. @param random in [0, 1) */
  refusal(tenant: string, weight: number, nowMs: number, random: number): EdgeRefusal | null {
    const asker = { tenant, weight };
    const own = this.#overShares.secondsFor(tenant, nowMs);
    if (own !== null) {
      this.#wanting.refused(asker, nowMs);
      return { code: "queue_full", retryAfterSeconds: own };
    }
    const verdict = gate(this.#gate, nowMs);
    if (verdict.verdict === "pass") {
      this.#gate = verdict.next;
      this.#firstComers.passed(tenant, nowMs);
      return null;
    }
    if (verdict.code === "queue_full" && this.#firstComers.take(tenant, nowMs)) return null;
    this.#firstComers.refused(tenant, nowMs);
    const { places, retryAfterSeconds } = verdict.health;
    const told =
      places === null ? retryAfterSeconds : this.#returnTimes.tell(asker, places.ahead, places.speed, nowMs, random);
    this.#wanting.refused(asker, nowMs);
    return { code: verdict.code, retryAfterSeconds: told };
  }

  /** Whom it has refused since it was last asked for them. */
  takeWanting(nowMs: number): readonly Wanting[] {
    return this.#wanting.take(nowMs);
  }

  /** The engine has answered. */
  hear(health: EngineHealth, nowMs: number): void {
    this.#gate = heard(health, nowMs);
  }

  /** The engine has told a caller of this tenant a time. */
  hearTime(asker: Asker, seconds: number, nowMs: number): void {
    this.#returnTimes.heard(asker, seconds, nowMs);
    this.#firstComers.refused(asker.tenant, nowMs);
  }

  hearOverShare(tenant: string, retryAfterSeconds: number, nowMs: number): void {
    this.#overShares.hear(tenant, retryAfterSeconds, nowMs);
  }
}
