import { seeded } from "../core/random.ts";
import { Backend } from "./backend.ts";
import { SimEngine } from "./engine.ts";
import { EngineChecks } from "./engine-checks.ts";
import { Isolate } from "./isolate.ts";
import { SimLimiter } from "./limiter.ts";
import { LimiterChecks } from "./limiter-checks.ts";
import { EPOCH_MS, Loop } from "./loop.ts";
import { Network } from "./network.ts";
import { Path } from "./path.ts";
import { Recorder, type Report } from "./report.ts";
import { endedOf } from "./rows.ts";
import type { Sabotage } from "./sabotage.ts";
import type { FaultSpec, WorldSpec } from "./spec.ts";
import { type Call, type Heard, Traffic } from "./traffic.ts";

/**
 * A whole world: callers, network, isolates, limiters, engine, backend, under one clock and one seed. It runs the
 * production core; the objects around it are thin (`limiter.ts`, `engine.ts`), and the promises of all of them are
 * checked after every event.
 */

const SAMPLE_MS = 1_000;

export interface RunOptions {
  /** Broken on purpose; null or absent: not at all. */
  readonly sabotage?: Sabotage | null;
  /** Hears of what happens, one line each. */
  readonly trace?: (line: string) => void;
  /** Hears of what callers are told and of every command that begins. */
  readonly listener?: WaitListener;
}

/** What a measure of waits needs to know of a run. Times are of the run, in milliseconds. */
export interface WaitListener {
  /** @param waiting commands that wait in the engine as the caller hears its answer */
  answered(call: Call, heard: Heard, nowMs: number, waiting: number): void;
  /** @param waiting commands that still wait */
  began(nowMs: number, waiting: number): void;
}

/**
 * Runs a world to its end.
 *
 * @throws Broken when a promise is not kept
 * @throws Error when the spec cannot be run: a rate that cannot be counted
 */
export function runWorld(spec: WorldSpec, options: RunOptions = {}): Report {
  return new World(spec, options).run();
}

class World {
  readonly #spec: WorldSpec;
  readonly #random: () => number;
  readonly #loop = new Loop();
  readonly #trace: ((line: string) => void) | null;
  readonly #recorder = new Recorder();
  readonly #engineChecks = new EngineChecks();
  readonly #limiterChecks = new LimiterChecks(() => Math.floor(this.#loop.nowMs) + this.#clockLeaptMs);
  readonly #limiters = new Map<string, SimLimiter>();
  readonly #engine: SimEngine;
  readonly #path: Path;
  readonly #traffic: readonly Traffic[];
  /** How far the clock of all objects is off. */
  #clockOffMs = 0;
  /** How far it has leapt ahead in all. */
  #clockLeaptMs = 0;
  #wasWaiting = false;
  #emptyAtMs = 0;
  #oldestWaitMs = 0;

  constructor(spec: WorldSpec, { sabotage = null, trace, listener }: RunOptions) {
    this.#spec = spec;
    this.#random = seeded(spec.seed);
    this.#trace = trace ?? null;
    const [loop, clock, random] = [this.#loop, () => this.#clock(), this.#random];
    const checks = this.#limiterChecks;
    for (const { limit, ...tenant } of spec.tenants) {
      if (limit === null) continue;
      this.#limiters.set(tenant.name, new SimLimiter({ ...tenant, limit }, { loop, clock, checks, sabotage }));
    }
    this.#engine = new SimEngine({
      loop,
      clock,
      random,
      spec: spec.engine,
      backend: new Backend(spec.backend, loop, random),
      checks: this.#engineChecks,
      sabotage,
      began: (waitedMs) => {
        this.#recorder.began(waitedMs);
        listener?.began(loop.nowMs, this.#engine.depth);
      },
      ended: ({ tenant }) => this.#recorder.ended(tenant),
    });
    const isolates = Array.from({ length: spec.engine.isolates }, () => new Isolate());
    this.#path = new Path({
      loop,
      clock,
      random,
      tenants: spec.tenants,
      limiters: this.#limiters,
      isolates,
      engine: this.#engine,
      engineChecks: this.#engineChecks,
      network: new Network(spec.network, loop, random),
      answered: (call, heard) => {
        this.#recorder.answered(call, heard, loop.nowMs);
        listener?.answered(call, heard, loop.nowMs, this.#engine.depth);
      },
      recorder: this.#recorder,
      sabotage,
      trace: this.#trace,
    });
    this.#traffic = spec.loads.map((load, n) => new Traffic(`load${n}`, load, loop, random, this.#path));
    for (const fault of spec.faults) loop.after(fault.atSeconds * 1000, () => this.#fault(fault));
  }

  run(): Report {
    const lastMs = Math.max(0, ...this.#traffic.map(({ endsAtMs }) => endsAtMs));
    this.#loop.after(SAMPLE_MS, () => this.#sample());
    this.#loop.lastAfter(lastMs, () => {
      this.#oldestWaitMs = this.#oldestMs();
    });
    this.#loop.run(this.#spec.seconds * 1000, () => this.#look());
    const { depth, ends } = this.#engine;
    return this.#recorder.report({
      peakDepth: this.#engine.peakDepth,
      oldestWaitSeconds: this.#oldestWaitMs / 1000,
      emptyAtSeconds: depth > 0 ? null : this.#emptyAtMs / 1000,
      ends,
      left: this.#engine.accepted - endedOf(ends),
      deliveries: this.#engineChecks.deliveries,
      lives: this.#engine.lives,
      seconds: this.#loop.nowMs / 1000,
      events: this.#loop.handled,
    });
  }

  #fault({ kind, ms }: FaultSpec): void {
    this.#trace?.(`${this.#at()} fault: ${kind}${kind === "clock" ? ` ${ms} ms` : ""}`);
    switch (kind) {
      case "engine-restart":
        this.#engine.restart();
        return;
      case "engine-crash-before":
        this.#engine.crash("before");
        return;
      case "engine-crash-after":
        this.#engine.crash("after");
        return;
      case "limiter-restart":
        for (const limiter of this.#limiters.values()) limiter.restart();
        return;
      case "isolate-restart":
        this.#path.forget();
        return;
      case "clock":
        this.#clockOffMs += ms;
        if (ms < 0) this.#limiterChecks.clockSteppedBack(-ms);
        this.#clockLeaptMs += Math.max(0, ms);
        return;
    }
  }

  /** After every event: all that has to hold. */
  #look(): void {
    this.#engineChecks.look(this.#engine, this.#loop.nowMs);
    const isWaiting = this.#engine.depth > 0;
    if (this.#wasWaiting && !isWaiting) this.#emptyAtMs = this.#loop.nowMs;
    this.#wasWaiting = isWaiting;
  }

  #sample(): void {
    const { depth, criticalDepth, running, betweenAttempts, deferred } = this.#engine;
    this.#recorder.sample(this.#loop.nowMs / 1000, depth, this.#oldestMs() / 1000);
    const isOver = this.#traffic.every((traffic) => traffic.isOver);
    if (!isOver || depth + criticalDepth + running + betweenAttempts + deferred > 0) {
      this.#loop.after(SAMPLE_MS, () => this.#sample());
    }
  }

  #oldestMs(): number {
    const oldest = this.#engine.oldestAcceptedAtMs;
    return oldest === null ? 0 : this.#clock() - oldest;
  }

  /** The clock that objects and isolates see. */
  #clock(): number {
    return EPOCH_MS + Math.floor(this.#loop.nowMs) + this.#clockOffMs;
  }

  #at(): string {
    return `${(this.#loop.nowMs / 1000).toFixed(3)} s`;
  }
}
