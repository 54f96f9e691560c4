import type { Charged } from "../core/limiter-call.ts";
import type { SimEngine } from "./engine.ts";
import type { EngineChecks } from "./engine-checks.ts";
import { Isolate } from "./isolate.ts";
import type { SimLimiter } from "./limiter.ts";
import type { Loop } from "./loop.ts";
import type { Network } from "./network.ts";
import type { Recorder } from "./report.ts";
import type { Sabotage } from "./sabotage.ts";
import type { TenantSpec } from "./spec.ts";
import type { Submitted } from "./submission.ts";
import type { Call, Gateway, Heard } from "./traffic.ts";

/** The way of a request, thinly: what `http/routes/commands.ts` does with the three layers, and what is given back. */

export interface PathWorld {
  readonly loop: Loop;
  readonly clock: () => number;
  readonly random: () => number;
  readonly tenants: readonly TenantSpec[];
  readonly limiters: ReadonlyMap<string, SimLimiter>;
  readonly isolates: readonly Isolate[];
  readonly engine: SimEngine;
  readonly engineChecks: EngineChecks;
  readonly network: Network;
  readonly recorder: Recorder;
  /** Hears what callers hear, each answer once. */
  readonly answered: (call: Call, heard: Heard) => void;
  readonly sabotage: Sabotage | null;
  readonly trace: ((line: string) => void) | null;
}

/** Size of a command's body. */
const BYTES = 100;

export class Path implements Gateway {
  readonly #world: PathWorld;
  readonly #weights: ReadonlyMap<string, number>;
  #isolates: readonly Isolate[];
  #calls = 0;

  constructor(world: PathWorld) {
    this.#world = world;
    this.#weights = new Map(world.tenants.map(({ name, weight }) => [name, weight]));
    this.#isolates = world.isolates;
  }

  /** All isolates are new ones: what they heard is gone. */
  forget(): void {
    this.#isolates = this.#isolates.map(() => new Isolate());
  }

  /** One try of a call, from the caller's side. @returns hangs up */
  call(call: Call, answer: (heard: Heard) => void): () => void {
    this.#world.recorder.asked(call);
    const token = `r${this.#calls++}`;
    let answered = false;
    const heard = (what: Heard) => {
      this.#world.network.send(() => {
        if (!answered) this.#world.answered(call, what);
        answered = true;
        answer(what);
      });
    };
    this.#world.network.send(() => this.#atEdge(call, token, heard));
    return () => this.#world.engine.abandon(token);
  }

  cancel(sequence: number): void {
    this.#world.engine.cancel(sequence);
  }

  gaveUp(): void {
    this.#world.recorder.gaveUp();
  }

  /** Layers 1 to 3, as a request passes them. */
  #atEdge(call: Call, token: string, heard: (what: Heard) => void): void {
    const { tenant, critical, load } = call;
    const limiter = this.#world.limiters.get(tenant);
    const weight = this.#weights.get(tenant) ?? 1;
    const isolate = this.#isolates[Math.floor(this.#world.random() * this.#isolates.length)];
    // A repeat gets its first answer from a full engine, too: keys are looked up there.
    const passesGate = (critical && this.#world.sabotage !== "gate-refuses-critical") || call.key !== null;
    const asksGate = isolate !== undefined && !passesGate;
    const closed = asksGate ? isolate.refusal(tenant, weight, this.#world.clock(), this.#world.random()) : null;
    if (closed !== null) {
      if (critical) this.#world.engineChecks.refused(true, closed.retryAfterSeconds, false);
      const own = limiter?.judge(load.cost);
      if (own?.outcome === "rate_limited") {
        heard(limited(own.retryAfterSeconds));
        return;
      }
      heard({ kind: "refused", ...closed });
      return;
    }
    const charged = limiter?.check(load.cost, critical);
    if (charged !== undefined && charged.outcome !== "allowed") {
      heard(limited(charged.outcome === "rate_limited" ? charged.retryAfterSeconds : 300));
      return;
    }
    this.#atEngine(call, token, isolate, charged, heard);
  }

  #atEngine(
    call: Call,
    token: string,
    isolate: Isolate | undefined,
    charged: Charged | undefined,
    heard: (what: Heard) => void,
  ): void {
    const { tenant, critical, load } = call;
    const weight = this.#weights.get(tenant) ?? 1;
    const wanting = isolate?.takeWanting(this.#world.clock()) ?? [];
    const submission = {
      tenant,
      weight,
      critical,
      bytes: BYTES,
      deadlineMs: load.deadlineMs,
      key: call.key,
      token,
      wanting,
    };
    this.#world.engine.submit(submission, (submitted) => {
      isolate?.hear(submitted.health, this.#world.clock());
      this.#hear(call, submitted, isolate, charged, heard);
    });
  }

  /** What the engine said: its caller is told, and what was charged in vain is given back. */
  #hear(
    { tenant, load }: Call,
    submitted: Submitted,
    isolate: Isolate | undefined,
    charged: Charged | undefined,
    heard: (what: Heard) => void,
  ): void {
    const asker = { tenant, weight: this.#weights.get(tenant) ?? 1 };
    const nowMs = this.#world.clock();
    if (submitted.kind !== "accepted" && charged?.receipt !== undefined) {
      this.#world.limiters.get(tenant)?.refund(load.cost, charged.receipt);
    }
    switch (submitted.kind) {
      case "accepted":
        if (submitted.lastTold !== null) isolate?.hearTime(asker, submitted.lastTold, nowMs);
        this.#world.trace?.(`${this.#at()} ${tenant} accepted as ${submitted.sequence}`);
        heard({ kind: "accepted", sequence: submitted.sequence });
        return;
      case "repeated":
        this.#world.trace?.(`${this.#at()} ${tenant} told again of ${submitted.sequence}`);
        heard({ kind: "accepted", sequence: submitted.sequence });
        return;
      case "in_flight":
        heard({ kind: "refused", code: "idempotency_in_flight", retryAfterSeconds: submitted.retryAfterSeconds });
        return;
      case "refused": {
        const { code, retryAfterSeconds, overShare } = submitted;
        this.#world.trace?.(`${this.#at()} ${tenant} refused: ${code}, ${retryAfterSeconds} s`);
        isolate?.hearTime(asker, retryAfterSeconds, nowMs);
        if (overShare) isolate?.hearOverShare(tenant, retryAfterSeconds, nowMs);
        heard({ kind: "refused", code, retryAfterSeconds });
      }
    }
  }

  #at(): string {
    return `${(this.#world.loop.nowMs / 1000).toFixed(3)} s`;
  }
}

function limited(retryAfterSeconds: number): Heard {
  return { kind: "refused", code: "rate_limited", retryAfterSeconds };
}
