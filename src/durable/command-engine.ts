import { DurableObject } from "cloudflare:workers";
import type { CommandView } from "../core/command.ts";
import type { EdgeTold } from "../core/edge-told.ts";
import type { FlowChange, FlowChecked, FlowSettings } from "../core/flow-control/settings.ts";
import type { EngineReport } from "../core/queue-status.ts";
import { Admission } from "./admission.ts";
import { Alarms } from "./alarms.ts";
import { backfill } from "./backfill.ts";
import { worksOf } from "./behind-queue.ts";
import { EngineParts } from "./engine-parts.ts";
import { EngineReads, type Found, type InstanceView, type SearchKind, type SearchQuery } from "./engine-reads.ts";
import { type DiskReadiness, readinessOf, reportOf } from "./engine-status.ts";
import { Expiry } from "./expiry.ts";
import { ForgottenTenants } from "./forgotten-tenants.ts";
import { Intake } from "./intake.ts";
import { KeyedDoor } from "./keyed-door.ts";
import { type Polled, Polling, type PollRequest } from "./polling.ts";
import type { Submission, Submitted } from "./submission.ts";
import { type DeadLetter, Views } from "./views.ts";
import type { Works } from "./works.ts";

/**
 * Layer 3's object: the durable bounded queue with its one writer. Each method is one event: load, decide in core,
 * write, reply. Who may call which method, and what HTTP makes of an answer, is not its business.
 */

/** The limits in force, and how many commands they let be in flight now; null where nothing limits them. */
export interface FlowReport extends FlowSettings {
  readonly limit: number | null;
  readonly inFlight: number;
}

export type Cancelled = "cancelled" | "not_found" | "not_queued";

export class CommandEngine extends DurableObject<Env> {
  readonly #parts: EngineParts;
  readonly #admission: Admission;
  readonly #door: KeyedDoor;
  readonly #intake: Intake;
  readonly #works: Works;
  readonly #expiry: Expiry;
  readonly #forgotten: ForgottenTenants;
  readonly #alarms: Alarms;
  readonly #views: Views;
  readonly #reads: EngineReads;
  readonly #polling: Polling;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#parts = new EngineParts(ctx, env, Date.now());
    this.#admission = new Admission(this.#parts, (sequence, submission, deferred) =>
      this.#intake.accepted(sequence, submission, deferred),
    );
    this.#views = new Views(this.#parts);
    this.#reads = new EngineReads(this.#parts);
    this.#polling = new Polling(this.#parts.embedded, this.#admission, this);
    this.#door = new KeyedDoor(this.#parts, this.#admission, this.#views);
    this.#expiry = new Expiry(this.#parts, () => this.#goOn());
    const hooks = { expire: (nowMs: number) => this.#expiry.run(nowMs), madeRoom: () => this.#madeRoom() };
    this.#works = worksOf(this.#parts, hooks);
    this.#forgotten = new ForgottenTenants(this.#parts, this.#expiry);
    this.#alarms = new Alarms(this.#parts, this.#forgotten);
    this.#intake = new Intake(this.#parts, this.#admission, this.#door, this.#views, {
      work: () => this.#works.start(),
      plan: () => this.#planToGoOn(),
      planSweep: () => this.#alarms.planSweep(),
      expire: () => this.#expiry.run(Date.now()),
    });
    void ctx.blockConcurrencyWhile(async () => {
      await this.#alarms.load();
      this.#goOn();
    });
  }

  /**
   * Takes a command, lets it wait for room, saves it for later, or refuses it. What it takes is on disk first; what comes
   * while others are being written is written together.
   */
  async submit(submission: Submission): Promise<Submitted> {
    return await this.#intake.submit(submission);
  }

  /** The caller of whatever waits under this token has gone: nothing is left of it. */
  abandon(token: string): void {
    // A poll first: it must not take the end of its wait for the end of its command.
    this.#polling.leave(token);
    this.#intake.leave(token);
    this.#admission.leave(token);
    this.#parts.waits.leave(token);
    this.#reads.leave(token);
  }

  /** Activates jobs, or holds the poll until there are some. */
  async poll(request: PollRequest): Promise<Polled> {
    return await this.#polling.poll(request);
  }

  /** How an instance of a tenant stands, after at most `waitMs` for its end; null for what is not its own. */
  async instance(tenant: string, key: string, waitMs: number, token: string): Promise<InstanceView | null> {
    return await this.#reads.instance(tenant, key, waitMs, token);
  }

  async search(tenant: string, kind: SearchKind, query: SearchQuery): Promise<Found> {
    return await this.#reads.search(tenant, kind, query);
  }

  /**
   * A tenant's command, after at most `waitMs` for its end; null for what is not its own.
   *
   * @param token names the wait, so that its caller can leave it
   */
  async command(tenant: string, commandId: string, waitMs: number, token: string): Promise<CommandView | null> {
    this.#expiry.run(Date.now());
    const row = this.#views.ownRow(tenant, commandId);
    if (row === null || row.finishedAtMs !== null || waitMs <= 0) return row && this.#views.of(row);
    await this.#parts.waits.wait(tenant, row.sequence, waitMs, token);
    const after = this.#views.ownRow(tenant, commandId);
    return after && this.#views.of(after);
  }

  /** As {@link command} for the first request of a key, which is then answered: with the command, if it has ended. */
  async firstAnswer(
    tenant: string,
    commandId: string,
    waitMs: number,
    token: string,
    key: string,
  ): Promise<CommandView | null> {
    const view = await this.command(tenant, commandId, waitMs, token);
    this.#door.answered(tenant, key, view);
    return view;
  }

  /** Takes a queued command out. One that runs or has ended is left alone. */
  cancel(tenant: string, commandId: string): Cancelled {
    const row = this.#views.ownRow(tenant, commandId);
    if (row === null) return "not_found";
    const cancelled = this.#expiry.endUnbegun(row.sequence, { state: "cancelled" }, Date.now());
    if (cancelled) this.#goOn();
    return cancelled ? "cancelled" : "not_queued";
  }

  /** @param told what an isolate did without asking, since it last said so */
  status(told: EdgeTold): EngineReport {
    this.#parts.hear(told);
    const nowMs = Date.now();
    this.#expiry.run(nowMs);
    return reportOf(this.#parts, this.#admission.health(nowMs), nowMs);
  }

  /** Whether its disk can be written to, and has room for ordinary commands. @throws when it cannot be written to */
  readiness(): DiskReadiness {
    return readinessOf(this.#parts);
  }

  /** Frees what a deleted tenant has here, in pieces from now on. */
  forgetTenant(tenant: string): void {
    this.#forgotten.add(tenant, Date.now());
    this.#alarms.plan(0);
  }

  /** Stops processing. With `accepting` the queue still takes commands up to its bound; critical ones always. */
  pause(accepting: boolean): void {
    this.#parts.change({ paused: true, accepting });
    this.#parts.pace.setBusy(false, Date.now());
    this.#parts.inFlight.forgetTimes();
    if (!accepting) this.#admission.turnAway();
  }

  resume(): void {
    this.#parts.change({ paused: false, accepting: true });
    this.#parts.inFlight.forgetTimes();
    this.#parts.line?.release(Date.now());
    this.#goOn();
  }

  /** The limits in force, and what the adaptive one stands at now. */
  flowSettings(): FlowReport {
    const { flowSettings, flow, inFlightCount } = this.#parts;
    return { ...flowSettings, limit: flow.limit, inFlight: inFlightCount };
  }

  /** Changes limits for good, over restarts too, or says what is wrong and changes nothing. Holds for the next command. */
  changeFlow(change: FlowChange): FlowChecked {
    const checked = this.#parts.changeFlow(change, Date.now());
    if (checked.ok) this.#goOn();
    return checked;
  }

  /** Dead letters, oldest first, after the one given, with whose they are. */
  deadLetters(limit: number, after: string | null): DeadLetter[] {
    return this.#views.deadLetters(limit, after);
  }

  /** One dead letter; or whether there is a command of this id at all. */
  deadLetter(commandId: string): DeadLetter | "not_dead" | "not_found" {
    return this.#views.deadLetter(commandId);
  }

  /** Takes a dead letter off the list; its command stays dead. False when there is none of this id. */
  dropDeadLetter(commandId: string): boolean {
    const row = this.#views.deadRow(commandId);
    if (row !== null) this.#parts.dead.drop(row);
    return row !== null;
  }

  /** Lets a dead command wait again, under the same id, if there is room for it. */
  redrive(commandId: string): CommandView | "not_found" | "full" {
    const row = this.#views.deadRow(commandId);
    if (row === null || !this.#parts.revive(row)) return row === null ? "not_found" : "full";
    this.#goOn();
    return this.#views.of(this.#views.written(row.sequence));
  }

  /** Goes on after a restart, and clears what is old. At least once, so it does nothing that must not happen twice. */
  override async alarm(): Promise<void> {
    this.#alarms.rang();
    this.#goOn();
    await this.#alarms.sweep();
    this.#planToGoOn();
  }

  /** Commands have run. Places may have come free: they go to who waits for them, and then to what was deferred. */
  #madeRoom(): void {
    const { endedInstances, availableJobs } = this.#parts.embedded.takeNotices();
    this.#reads.ended(endedInstances);
    this.#polling.available(availableJobs);
    this.#admission.admitWaiting();
    backfill(this.#parts);
    this.#expiry.plan(Date.now());
  }

  /** Goes on with all that may go on now, and sees to it that the rest does later, also after a restart. */
  #goOn(): void {
    this.#expiry.run(Date.now());
    this.#madeRoom();
    this.#works.start();
    this.#planToGoOn();
  }

  #planToGoOn(): void {
    const nowMs = Date.now();
    this.#expiry.plan(nowMs);
    const deadlineMs = this.#parts.deadlines.nextMs();
    const wakeInMs = this.#works.wakeInMs(nowMs);
    if (wakeInMs !== null) this.#alarms.plan(wakeInMs);
    if (deadlineMs !== null) this.#alarms.plan(Math.max(0, deadlineMs - nowMs));
  }
}
