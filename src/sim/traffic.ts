import { DEFAULT_RETRY, decideRetry, earn, freshBudget, type Outcome, type RetryBudget } from "../client/retry.ts";
import type { Loop } from "./loop.ts";
import type { LoadSpec } from "./spec.ts";

/** Callers: when requests come, and what each caller does with its answer. */

/** What a caller hears. */
export type Heard =
  | { readonly kind: "accepted"; readonly sequence: number | null }
  | { readonly kind: "refused"; readonly code: string; readonly retryAfterSeconds: number };

export interface Call {
  readonly tenant: string;
  readonly critical: boolean;
  readonly load: LoadSpec;
  /** The caller's own name for it, the same at every try; null: none. */
  readonly key: string | null;
  /** Which try this is, from 1. */
  readonly attempt: number;
  /** What it was told the last time, in seconds; null on the first try. */
  readonly toldSeconds: number | null;
}

export interface Gateway {
  /**
   * One try of a call.
   *
   * @param answer called when an answer comes back: never, once, or by a bad network twice
   * @returns hangs up: whoever waits for room waits no longer
   */
  call(call: Call, answer: (heard: Heard) => void): () => void;
  cancel(sequence: number): void;
  /** A caller has given up: what it heard last. */
  gaveUp(call: Call): void;
}

/** Asking again at once is not asking in no time. */
const IGNORE_MS = 10;
const HERD_MS = 10_000;
/** As long as our SDK waits for an answer. */
const TIMEOUT_MS = 15_000;
const CANCEL_AFTER_MS = 2_000;

/** The requests of one load. */
export class Traffic {
  readonly #name: string;
  readonly #load: LoadSpec;
  readonly #loop: Loop;
  readonly #random: () => number;
  readonly #gateway: Gateway;
  #budget: RetryBudget = freshBudget(DEFAULT_RETRY.budget);
  #sent = 0;
  #phase = 0;
  /** When the present phase began, in the run's time. */
  #phaseFromMs = 0;
  /** Requests of the present phase so far. */
  #inPhase = 0;
  /** Callers that wait to ask again. */
  #pending = 0;

  /** @param name of this load, which no other has: its callers' keys begin with it */
  constructor(name: string, load: LoadSpec, loop: Loop, random: () => number, gateway: Gateway) {
    this.#name = name;
    this.#load = load;
    this.#loop = loop;
    this.#random = random;
    this.#gateway = gateway;
    this.#plan();
  }

  /** Whether nobody will come any more. */
  get isOver(): boolean {
    return this.#phase >= this.#load.phases.length && this.#pending === 0;
  }

  /** When the last fresh request has come, in the run's time. */
  get endsAtMs(): number {
    return this.#load.phases.reduce((sum, { seconds }) => sum + seconds * 1000, 0);
  }

  /** Plans the next request of the present phase, or goes on to the next phase. */
  #plan(): void {
    for (let phase = this.#load.phases[this.#phase]; phase !== undefined; phase = this.#load.phases[this.#phase]) {
      const atMs = this.#phaseFromMs + 1000 * this.#offsetSeconds(phase);
      if (atMs < this.#phaseFromMs + phase.seconds * 1000 - 1e-6) {
        this.#loop.lastAfter(atMs - this.#loop.nowMs, () => this.#arrive());
        return;
      }
      this.#phaseFromMs += phase.seconds * 1000;
      this.#phase += 1;
      this.#inPhase = 0;
    }
  }

  /** When the next request comes, in seconds from the beginning of the phase. */
  #offsetSeconds({ seconds, from, to }: LoadSpec["phases"][number]): number {
    if (from <= 0 && to <= 0) return Number.POSITIVE_INFINITY;
    if (this.#load.spacing === "random") {
      const sofar = (this.#loop.nowMs - this.#phaseFromMs) / 1000;
      const rate = Math.max(1e-9, from + ((to - from) * Math.max(0, sofar)) / seconds);
      return Math.max(0, sofar) - Math.log(1 - this.#random()) / rate;
    }
    // So many have come by the time t: from × t + (to − from) × t² ÷ 2 ÷ seconds.
    const slope = (to - from) / seconds;
    if (Math.abs(slope) < 1e-12) return this.#inPhase / from;
    const root = from * from + 2 * slope * this.#inPhase;
    return root < 0 ? Number.POSITIVE_INFINITY : (Math.sqrt(root) - from) / slope;
  }

  #arrive(): void {
    const { tenants, criticalPerMille } = this.#load;
    const tenant = tenants[this.#sent % tenants.length] ?? "t";
    const critical = criticalPerMille > 0 && 1000 * this.#random() < criticalPerMille;
    this.#sent += 1;
    this.#inPhase += 1;
    if (this.#load.manners === "sdk") this.#budget = earn(this.#budget, DEFAULT_RETRY.budget);
    const key = this.#load.keyed ? `${this.#name}-${this.#sent}` : null;
    this.#try({ tenant, critical, load: this.#load, key, attempt: 1, toldSeconds: null }, this.#loop.nowMs);
    this.#plan();
  }

  #try(call: Call, beganMs: number): void {
    let over = false;
    const hangUp = this.#gateway.call(call, (heard) => {
      if (over) return;
      over = true;
      if (heard.kind === "refused") this.#tryAgain(call, beganMs, heard.retryAfterSeconds);
      else this.#accepted(heard.sequence);
    });
    if (over) return;
    const { hangUpPerMille, hangUpMs, manners } = this.#load;
    if (hangUpPerMille > 0 && 1000 * this.#random() < hangUpPerMille) {
      this.#later(hangUpMs, () => {
        if (over) return;
        over = true;
        hangUp();
      });
    } else if (manners === "sdk") {
      this.#later(TIMEOUT_MS, () => {
        if (over) return;
        over = true;
        hangUp();
        this.#tryAgain(call, beganMs, null);
      });
    }
  }

  #accepted(sequence: number | null): void {
    const { cancelPerMille } = this.#load;
    if (sequence === null || cancelPerMille === 0 || 1000 * this.#random() >= cancelPerMille) return;
    this.#later(CANCEL_AFTER_MS, () => this.#gateway.cancel(sequence));
  }

  /** @param toldSeconds null: there was no answer */
  #tryAgain(call: Call, beganMs: number, toldSeconds: number | null): void {
    const waitMs = call.attempt >= this.#load.triesMax ? null : this.#waitMs(call, beganMs, toldSeconds);
    if (waitMs === null) {
      this.#gateway.gaveUp(call);
      return;
    }
    this.#later(waitMs, () => this.#try({ ...call, attempt: call.attempt + 1, toldSeconds }, beganMs));
  }

  /** How long until it asks again; null: never. */
  #waitMs({ attempt, key }: Call, beganMs: number, toldSeconds: number | null): number | null {
    const { nowMs } = this.#loop;
    switch (this.#load.manners) {
      case "never":
        return null;
      case "obey":
        return (toldSeconds ?? 0) * 1000;
      case "ignore":
        return IGNORE_MS;
      case "herd":
        return HERD_MS - (nowMs % HERD_MS);
      case "sdk": {
        const repeatable = key !== null;
        const state = { attempts: attempt, elapsedMs: nowMs - beganMs, repeatable, budget: this.#budget };
        const outcome: Outcome =
          toldSeconds === null
            ? { kind: "doubtful", retryAfterMs: null }
            : { kind: "refused", retryAfterMs: toldSeconds * 1000 };
        const decision = decideRetry(state, outcome, DEFAULT_RETRY, this.#random());
        if (!decision.retry) return null;
        this.#budget = decision.next.budget;
        return decision.waitMs;
      }
    }
  }

  #later(ms: number, act: () => void): void {
    this.#pending += 1;
    this.#loop.after(ms, () => {
      this.#pending -= 1;
      act();
    });
  }
}
