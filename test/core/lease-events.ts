import fc from "fast-check";
import { expect } from "vitest";
import type { Limits } from "../../src/core/policy.ts";
import { type Call, Edge, LEASE_MS, ObjectSide } from "./lease-world.ts";

/** What can happen between three isolates and one object, in any order: requests, pauses, and every way a call can fail. */

export const anyEvent = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ op: fc.constant("ask" as const), edge: fc.nat(2), cost: fc.constantFrom(1, 1, 1, 2, 7) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant("burst" as const), edge: fc.nat(2), n: fc.integer({ min: 5, max: 40 }) }),
  },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 700 }) }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("arrive" as const), which: fc.nat(20) }) },
  { weight: 6, arbitrary: fc.record({ op: fc.constant("hear" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("lose" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("drop" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("garble" as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("crash-object" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("crash-edge" as const), edge: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("step-edge" as const),
      edge: fc.nat(2),
      ms: fc.integer({ min: -90_000, max: 90_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("step-object-back" as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
  },
);

export type Event = typeof anyEvent extends fc.Arbitrary<infer E> ? E : never;

export class World {
  readonly #object: ObjectSide;
  readonly #edges: Edge[];
  readonly #asked: { edge: Edge; call: Call }[] = [];
  readonly #answered: { edge: Edge; call: Call }[] = [];
  /** What was admitted when, and what was leased, unspent and not expired just before. */
  readonly #admitted: { atMs: number; cost: number; leased: number }[] = [];
  #ms = 0;
  byLease = 0;

  constructor(limits: Limits) {
    this.#object = new ObjectSide(limits);
    this.#edges = [0, 1, 2].map((n) => new Edge(limits, this.#object, LEASE_MS, n));
  }

  apply(event: Event): void {
    const edge = "edge" in event ? this.#edges[event.edge] : undefined;
    switch (event.op) {
      case "ask":
        if (edge) this.#ask(edge, event.cost);
        return;
      case "burst":
        for (let n = 0; edge && n < event.n; n++) {
          this.#ask(edge, 1);
          while (this.#asked.length > 0) this.#arrive(0);
          while (this.#answered.length > 0) this.#hear(0);
        }
        return;
      case "pass":
        this.#ms += event.ms;
        for (const clock of [this.#object, ...this.#edges]) clock.clockMs += event.ms;
        for (const one of this.#edges) one.endDue();
        return;
      case "arrive":
        if (this.#asked.length > 0) this.#arrive(event.which % this.#asked.length);
        return;
      case "hear":
        if (this.#answered.length > 0) this.#hear(event.which % this.#answered.length);
        return;
      case "lose":
        if (this.#answered.length > 0) this.#lose(event.which % this.#answered.length);
        return;
      case "drop":
        this.#drop(event.which);
        return;
      case "garble":
        this.#garble(event.which);
        return;
      case "crash-object":
        this.#object.crash();
        return;
      case "crash-edge":
        edge?.crash();
        return;
      case "step-edge":
        if (edge) edge.clockMs += event.ms;
        return;
      case "step-object-back":
        this.#object.clockMs -= event.ms;
    }
  }

  /** Nothing of it may be found in any interval between two admissions. */
  expectBound(perSecond: number, burst: number): void {
    this.#admitted.forEach((first, from) => {
      let sum = 0;
      for (const { atMs, cost } of this.#admitted.slice(from)) {
        sum += cost;
        const allowed = burst + (perSecond * (atMs - first.atMs)) / 1000 + first.leased;
        if (sum > allowed + 1e-6) expect({ from: first.atMs, to: atMs, sum }).toEqual({ allowed });
      }
    });
  }

  #ask(edge: Edge, cost: number): void {
    const leased = this.#leased();
    const begun = edge.begin(cost);
    if ("call" in begun) {
      this.#asked.push({ edge, call: begun.call });
      return;
    }
    if (begun.here.outcome !== "allowed") return;
    this.byLease += cost;
    this.#admitted.push({ atMs: this.#ms, cost, leased });
  }

  #arrive(which: number): void {
    const [begun] = this.#asked.splice(which, 1);
    if (begun === undefined) return;
    const leased = this.#leased();
    begun.edge.arrive(begun.call, LEASE_MS);
    const isAdmitted = begun.call.answer?.outcome === "allowed" && begun.call.cost > 0;
    if (isAdmitted) this.#admitted.push({ atMs: this.#ms, cost: begun.call.cost, leased });
    this.#answered.push(begun);
  }

  #hear(which: number): void {
    const [begun] = this.#answered.splice(which, 1);
    begun?.edge.hear(begun.call);
  }

  #lose(which: number): void {
    const [begun] = this.#answered.splice(which, 1);
    begun?.edge.hear({ ...begun.call, answer: null });
  }

  /** Nothing is ever heard of a call, not even that it has failed: the platform ends what a caller who has gone began. */
  #drop(which: number): void {
    const calls = which % 2 === 0 ? this.#asked : this.#answered;
    if (calls.length > 0) calls.splice(which % calls.length, 1);
  }

  /** The view of an answer is not understood. */
  #garble(which: number): void {
    const [begun] = this.#answered.splice(which % Math.max(1, this.#answered.length), 1);
    if (begun?.call.answer) begun.edge.hear({ ...begun.call, answer: { outcome: "allowed", reports: [] } });
  }

  /**
   * Traffic of one isolate within the limit after a second of quiet, with calls that take no time.
   *
   * @returns how many of its last 500 requests were admitted there, without a call
   */
  decidedHereAfterwards(n: number): number {
    const edge = this.#edges[n];
    if (edge === undefined) throw new Error(`there is no isolate ${n}`);
    // What was lent and lost is forgiven, whatever the clocks have done.
    this.apply({ op: "pass", ms: 600_000 });
    let before = 0;
    for (let request = 0; request < 1_000; request++) {
      if (request === 500) before = edge.admittedHere;
      for (const clock of [this.#object, edge]) clock.clockMs += 20;
      edge.endDue();
      edge.check(1, LEASE_MS);
    }
    return edge.admittedHere - before;
  }

  /** Held by isolates, or lent and on its way to one. What is kept while it is asked for again is held. */
  #leased(): number {
    const held = this.#edges.reduce((sum, edge) => sum + edge.holding().unspent(edge.clockMs), 0);
    const coming = this.#answered.reduce((sum, { call }) => sum + (call.answer?.view?.grant?.tokens ?? 0), 0);
    return held + coming;
  }
}
