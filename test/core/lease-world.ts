import { EdgeLimits } from "../../src/core/edge-limits.ts";
import type { Asking } from "../../src/core/held.ts";
import type { Holding } from "../../src/core/holding.ts";
import { LEASE_GRACE_MS } from "../../src/core/lease.ts";
import type { Decision } from "../../src/core/limiter.ts";
import type { Charged } from "../../src/core/limiter-call.ts";
import type { Limits } from "../../src/core/policy.ts";
import type { GivenBack } from "../../src/core/receipts.ts";
import { NOBODY, type Subjects } from "../../src/core/subjects.ts";
import { TenantLimits } from "../../src/core/tenant-limits.ts";
import { MeterRows } from "../../src/sim/meter-rows.ts";

/**
 * Isolates and one limiter object on clocks that a test moves, with calls that are under way as long as it likes: what
 * the shells do around the core, without a platform.
 */

export const T0 = 1_700_000_000_000;

/** How long the object lends tokens for. */
export const LEASE_MS = 1_000;

/** The object: its clock, its disk, its lives. */
export class ObjectSide {
  readonly disk = new MeterRows();
  readonly #limits: Limits;
  #lives = 0;
  #life: TenantLimits;
  calls = 0;
  clockMs = T0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#life = this.#begin();
  }

  get life(): TenantLimits {
    return this.#life;
  }

  crash(): void {
    this.#life = this.#begin();
  }

  #begin(): TenantLimits {
    return new TenantLimits(this.disk, this.#limits, [...this.disk.written], () => this.#lives++);
  }
}

/** A call that is under way: the object has not heard of it, or has and its answer is coming. */
export interface Call {
  readonly holding: Holding;
  readonly asking: Asking;
  readonly cost: number;
  answer: Charged | null;
}

/** One isolate at the edge. */
export class Edge {
  readonly #limits: Limits;
  readonly #object: ObjectSide;
  readonly #leaseMs: number | null;
  #memory: EdgeLimits;
  #isolate: number;
  clockMs = T0;
  /** Requests that it admitted by itself. */
  admittedHere = 0;
  /** What may be ended, and when. */
  #ends: { holding: Holding; heard: object; atMs: number; subjects: Subjects }[] = [];

  constructor(limits: Limits, object: ObjectSide, leaseMs: number | null, isolate = 0) {
    this.#isolate = isolate;
    this.#memory = new EdgeLimits(isolate);
    this.#limits = limits;
    this.#object = object;
    this.#leaseMs = leaseMs;
  }

  crash(): void {
    this.#isolate += 0.001;
    this.#memory = new EdgeLimits(this.#isolate);
    this.#ends = [];
  }

  get given(): GivenBack {
    return this.#memory.given;
  }

  holding(subjects: Subjects = NOBODY): Holding {
    return this.#memory.holding({ limiter: "t", limits: this.#limits, subjects });
  }

  /** Decides here, or begins a call. */
  begin(cost: number, subjects: Subjects = NOBODY): { here: Charged } | { call: Call } {
    const holding = this.holding(subjects);
    const here = holding.decide(cost, this.clockMs);
    if (here?.outcome === "allowed") this.admittedHere += 1;
    if (here !== null) return { here };
    return { call: { holding, asking: holding.ask(this.#leaseMs, this.clockMs), cost, answer: null } };
  }

  /** The call arrives at the object. */
  arrive(call: Call, leaseMs: number): void {
    const { asking, cost, holding } = call;
    this.#object.calls += 1;
    const request = {
      cost,
      limits: this.#limits,
      isolate: this.#isolate,
      subjects: holding.subjects,
      lease: asking.lease,
    };
    call.answer = this.#object.life.check(request, this.#object.clockMs, leaseMs);
  }

  /** Its answer arrives here; null: it is lost. */
  hear({ holding, asking, answer }: Call): void {
    if (answer === null) {
      holding.failed(asking);
      return;
    }
    const { view = null } = answer;
    const heard = holding.hear(asking, view, this.clockMs);
    if (heard === null || view === null) return;
    this.#ends.push({ holding, heard, atMs: this.clockMs + view.lastsMs + LEASE_GRACE_MS, subjects: holding.subjects });
  }

  /** What is due by this isolate's clock ends. */
  endDue(): void {
    const due = this.#ends.filter(({ atMs }) => atMs <= this.clockMs);
    this.#ends = this.#ends.filter(({ atMs }) => atMs > this.clockMs);
    for (const { holding, heard, subjects } of due) {
      const lease = holding.end(heard);
      if (lease === null) continue;
      this.#object.calls += 1;
      this.#object.life.settle(lease, subjects, this.#object.clockMs);
    }
  }

  /** A request whose call takes no time; the lease is asked for again behind it, as the shell does. */
  check(cost: number, leaseMs: number, subjects: Subjects = NOBODY): Decision {
    const begun = this.begin(cost, subjects);
    if ("here" in begun) {
      const holding = this.holding(subjects);
      if (holding.isRunningOut(this.clockMs)) {
        const renewal = { holding, asking: holding.ask(this.#leaseMs, this.clockMs, true), cost: 0, answer: null };
        this.arrive(renewal, leaseMs);
        this.hear(renewal);
      }
      return begun.here;
    }
    this.arrive(begun.call, leaseMs);
    this.hear(begun.call);
    if (begun.call.answer === null) throw new Error("the call has arrived");
    return begun.call.answer;
  }
}
