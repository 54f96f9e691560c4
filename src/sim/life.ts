import { backfillRoom } from "../core/backfill.ts";
import { Deadlines } from "../core/deadlines.ts";
import { HOLD_MS_MAX } from "../core/delivery/circuit.ts";
import { type LineState, UpstreamLine } from "../core/delivery/line.ts";
import { Retries } from "../core/delivery/retries.ts";
import { Estimates } from "../core/estimates.ts";
import { FlowControl } from "../core/flow-control/flow-control.ts";
import type { ClaimedKey, UsedKey } from "../core/idempotency.ts";
import { Pace } from "../core/pace.ts";
import { CommandQueue, type QueueEntry } from "../core/queue.ts";
import { ReturnTimes } from "../core/return-times.ts";
import type { Backend } from "./backend.ts";
import type { EngineChecks } from "./engine-checks.ts";
import type { Loop } from "./loop.ts";
import type { EngineDisk, Row } from "./rows.ts";
import type { Sabotage } from "./sabotage.ts";
import type { EngineSpec } from "./spec.ts";

/** What an engine object lives in. */
export interface EngineWorld {
  readonly loop: Loop;
  /** The object's clock, Unix milliseconds. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly spec: EngineSpec;
  readonly backend: Backend;
  readonly checks: EngineChecks;
  readonly sabotage: Sabotage | null;
  /** A command is about to begin: it was accepted so long ago. */
  readonly began: (waitedMs: number) => void;
  readonly ended: (entry: QueueEntry) => void;
}

/** What an event of the object wants to happen once it is committed. */
export interface Outbox {
  /** Bookkeeping of the checks: it holds as soon as the commit does. */
  booked(entry: () => void): void;
  /** Leaves the object: nothing of it happens when the object dies first. */
  send(message: () => void): void;
  /** As an event of this life, so many milliseconds from now; never, when the life is over by then. */
  later(ms: number, act: () => void): void;
}

/** There is one. */
const BACKEND = "backend";

/**
 * One life of the engine's object: what it keeps in memory, made from what is on disk and from nothing else, as
 * `durable/engine-parts.ts` does.
 */
export class Life {
  readonly world: EngineWorld;
  readonly disk: EngineDisk;
  readonly outbox: Outbox;
  readonly queue: CommandQueue;
  /** Attempts under way: when each began, by the command's sequence. */
  readonly running = new Map<number, number>();
  readonly retries = new Retries();
  /** Commands that were saved with no work planned, oldest first. */
  readonly deferred = new Map<number, Row>();
  readonly deadlines = new Deadlines();
  readonly pace: Pace;
  readonly flow: FlowControl;
  /** What was in flight when each command was accepted, itself included. */
  readonly inFlightThen = new Map<number, number>();
  /** Keys of callers whose first request is not answered yet. */
  readonly claims = new Map<string, ClaimedKey>();
  /** Of a gateway that is broken on purpose. */
  readonly usedInMemory = new Map<string, UsedKey<number>>();
  readonly line: UpstreamLine;
  readonly estimates: Estimates;

  constructor(world: EngineWorld, disk: EngineDisk, outbox: Outbox) {
    const nowMs = world.clock();
    this.world = world;
    this.disk = disk;
    this.outbox = outbox;
    const bounds = { count: world.spec.bound ?? Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
    this.queue = new CommandQueue(bounds, this.retries);
    this.pace = new Pace(nowMs);
    this.flow = new FlowControl(world.spec.flow, nowMs, world.random());
    const { quota, breakerFailures: failuresMax, backoff, retryAfter } = world.spec;
    const save = (line: LineState) => disk.save({ line });
    this.line = new UpstreamLine(disk.saved.line, { url: BACKEND, quota, failuresMax, backoff }, { save }, nowMs);
    this.estimates = new Estimates(retryAfter, this.pace, this.line, new ReturnTimes(), () => false);
    for (const row of disk.rows.values()) this.#recover(row, nowMs);
  }

  get waiting(): number {
    return this.queue.depth + this.queue.criticalDepth;
  }

  get inFlight(): number {
    return this.waiting + this.running.size + this.retries.size;
  }

  /** Takes up deferred commands once the queue is short again, thinly: `durable/backfill.ts`. */
  backfill(): void {
    if (this.deferred.size === 0) return;
    const limit = this.flow.limit ?? Number.POSITIVE_INFINITY;
    const inUse = this.queue.depth + this.retries.ordinary;
    let room = Math.min(backfillRoom(inUse, this.places), limit - this.inFlight);
    for (const [sequence, row] of this.deferred) {
      if (room-- <= 0 || !this.queue.hasRoom(row.bytes)) return;
      const planned: Row = { ...row, state: "queued" };
      this.deferred.delete(sequence);
      this.disk.rows.put(sequence, planned);
      this.queue.restore(planned);
    }
  }

  get places(): number {
    return Math.min(this.queue.bounds.count, this.flow.limit ?? Number.POSITIVE_INFINITY);
  }

  expect({ sequence, deadlineAtMs }: Pick<QueueEntry, "sequence" | "deadlineAtMs">): void {
    if (deadlineAtMs !== null) this.deadlines.add(sequence, deadlineAtMs);
  }

  row(sequence: number): Row {
    const row = this.disk.rows.get(sequence);
    if (row === undefined) throw new Error(`command ${sequence} has no row`);
    return row;
  }

  /** A command of an earlier life: one that was tried goes on where it was, and takes no place in the queue. */
  #recover(row: Row, nowMs: number): void {
    if (row.state === "running" && this.world.sabotage === "forgets-running") return;
    if (row.state === "deferred") this.deferred.set(row.sequence, row);
    else if (row.state === "running" || row.notBeforeMs !== null) {
      // A clock that has stepped back since must not lock it until the old time comes again.
      this.retries.add(row, Math.min(row.notBeforeMs ?? nowMs, nowMs + HOLD_MS_MAX), nowMs);
    } else this.queue.restore(row);
    this.expect(row);
  }
}
