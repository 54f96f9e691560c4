import { DurableObject } from "cloudflare:workers";
import type { CommandView } from "../core/command.ts";
import type { FlowChange, FlowChecked, FlowSettings } from "../core/flow-control/settings.ts";
import { estimatedWaitSeconds, RETRY_AFTER_UNKNOWN_SECONDS } from "../core/pace.ts";
import { Admission } from "./admission.ts";
import type { CommandRow } from "./command-row.ts";
import { viewOf } from "./command-view.ts";
import { EngineParts, entryOf } from "./engine-parts.ts";
import { type EngineStatus, statusOf } from "./engine-status.ts";
import type { Submission, Submitted } from "./submission.ts";
import { Writer } from "./writer.ts";

/**
 * Layer 3's object: the durable bounded queue with its one writer. Each method is one event: load, decide in core,
 * write, reply. Who may call which method, and what HTTP makes of an answer, is not its business.
 */

/** The limits in force, with what they come to at this moment. */
export interface FlowReport extends FlowSettings {
  /** Commands that may be in flight now; null where nothing limits them. */
  readonly limit: number | null;
  readonly inFlight: number;
}

export type Cancelled = "cancelled" | "not_found" | "not_queued";

/** How soon an object that was restarted with work left goes on by itself. */
const CONTINUE_ALARM_MS = 5_000;
const SWEEP_ALARM_MS = 3_600_000;
/** Pieces of clearing per alarm. */
const SWEEP_PIECES_MAX = 200;

export class CommandEngine extends DurableObject<Env> {
  readonly #parts: EngineParts;
  readonly #admission: Admission;
  readonly #writer: Writer;
  #alarmAtMs: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#parts = new EngineParts(ctx, env, Date.now());
    this.#admission = new Admission(this.#parts, (sequence) => this.#accepted(sequence));
    this.#writer = new Writer(this.#parts, () => this.#admission.admitWaiting());
    // An alarm that an earlier life set must not be moved to later by the first command of this one.
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = await ctx.storage.getAlarm();
    });
    void this.#writer.start();
  }

  /** Takes a command, lets it wait for room, or refuses it. An acceptance is on disk before it is answered. */
  async submit(submission: Submission): Promise<Submitted> {
    return await this.#admission.submit(submission);
  }

  /** The caller of a submission that waits for room has gone: it takes no place. */
  abandon(token: string): void {
    this.#admission.leave(token);
  }

  /** A tenant's command, after at most `waitMs` for its end; null for what is not its own. */
  async command(tenant: string, commandId: string, waitMs: number): Promise<CommandView | null> {
    const row = this.#own(tenant, commandId);
    if (row === null || row.finishedAtMs !== null || waitMs <= 0) return row && this.#view(row);
    await this.#parts.waits.wait(tenant, row.sequence, waitMs);
    const after = this.#own(tenant, commandId);
    return after && this.#view(after);
  }

  /** Takes a queued command out. One that runs or has ended is left alone. */
  cancel(tenant: string, commandId: string): Cancelled {
    const row = this.#own(tenant, commandId);
    if (row === null) return "not_found";
    const { queue, ledger, inFlight, waits } = this.#parts;
    if (!queue.has(row.sequence)) return "not_queued";
    const nowMs = Date.now();
    ledger.end(
      row.sequence,
      { state: "cancelled" },
      { attempts: row.attempts, startedAtMs: null, finishedAtMs: nowMs },
    );
    queue.remove(row.sequence);
    ledger.settle(nowMs);
    inFlight.end(row.sequence);
    waits.ended(row.sequence);
    this.#admission.admitWaiting();
    return "cancelled";
  }

  /** @param edgeRefusals what an isolate refused without asking, since it last said so; by code */
  status(edgeRefusals: Readonly<Record<string, number>>): EngineStatus {
    this.#admission.countRefusals(edgeRefusals);
    return statusOf(this.#parts, this.#admission.refused, Date.now());
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
    void this.#writer.start();
    if (this.#writer.hasWork) this.#planAlarm(CONTINUE_ALARM_MS);
  }

  /** The limits in force, and what the adaptive one stands at now. */
  flowSettings(): FlowReport {
    const { flowSettings, flow, waiting } = this.#parts;
    return { ...flowSettings, limit: flow.limit, inFlight: waiting };
  }

  /** Changes limits for good, over restarts too, or says what is wrong and changes nothing. Holds for the next command. */
  changeFlow(change: FlowChange): FlowChecked {
    const checked = this.#parts.changeFlow(change, Date.now());
    if (checked.ok) this.#admission.admitWaiting();
    return checked;
  }

  /** Dead letters, oldest first, after the one given. */
  deadLetters(limit: number, after: string | null): CommandView[] {
    const from = after === null ? 0 : (this.#parts.keys.parse(after) ?? 0);
    return this.#parts.dead.list(limit, from).map((row) => this.#view(row));
  }

  deadLetter(commandId: string): CommandView | null {
    const row = this.#deadRow(commandId);
    return row && this.#view(row);
  }

  /** Takes a dead letter off the list; its command stays dead. False when there is none of this id. */
  dropDeadLetter(commandId: string): boolean {
    const row = this.#deadRow(commandId);
    if (row !== null) this.#parts.dead.drop(row.sequence);
    return row !== null;
  }

  /** Lets a dead command wait again, under the same id, if there is room for it. */
  redrive(commandId: string): CommandView | "not_found" | "full" {
    const row = this.#deadRow(commandId);
    if (row === null) return "not_found";
    const { queue, ledger } = this.#parts;
    const entry = entryOf(row);
    if (!entry.critical && !queue.hasRoom(entry.bytes)) return "full";
    ledger.revive(row);
    queue.restore(entry);
    return this.#accepted(row.sequence);
  }

  /** Goes on after a restart, and clears what is old. At least once, so it does nothing that must not happen twice. */
  override async alarm(): Promise<void> {
    this.#alarmAtMs = null;
    void this.#writer.start();
    const { ledger, executor } = this.#parts;
    const nowMs = Date.now();
    let cursor: number | null = 0;
    let more = true;
    for (let piece = 0; more && piece < SWEEP_PIECES_MAX; piece++) {
      const effectsLeft = executor.sweep(nowMs);
      if (cursor !== null) cursor = ledger.sweep(cursor, nowMs);
      more = effectsLeft || cursor !== null;
      // Each piece is a turn of its own: commands do not wait for the broom.
      await scheduler.wait(0);
    }
    if (more || this.#writer.hasWork) this.#planAlarm(CONTINUE_ALARM_MS);
    else if (ledger.kept > 0) this.#planAlarm(SWEEP_ALARM_MS);
  }

  /** A command is queued and on disk: work on it, see to it that work goes on after a restart, and tell its state. */
  #accepted(sequence: number): CommandView {
    void this.#writer.start();
    const row = this.#parts.store.get(sequence);
    if (row === null) throw new Error(`accepted command ${sequence} has no row`);
    this.#planAlarm(row.finishedAtMs === null ? CONTINUE_ALARM_MS : SWEEP_ALARM_MS);
    return this.#view(row);
  }

  #deadRow(commandId: string): CommandRow | null {
    const sequence = this.#parts.keys.parse(commandId);
    return sequence !== null && this.#parts.dead.has(sequence) ? this.#parts.store.get(sequence) : null;
  }

  #own(tenant: string, commandId: string): CommandRow | null {
    const sequence = this.#parts.keys.parse(commandId);
    const row = sequence === null ? null : this.#parts.store.get(sequence);
    return row?.tenant === tenant ? row : null;
  }

  #view(row: CommandRow): CommandView {
    const { queue, pace, settings, keys } = this.#parts;
    const commandId = keys.format(row.sequence);
    const ahead = row.finishedAtMs === null ? queue.aheadOf(row.sequence) : null;
    if (ahead === null) return viewOf(row, commandId, null);
    const waitSeconds = settings.paused
      ? RETRY_AFTER_UNKNOWN_SECONDS
      : estimatedWaitSeconds(ahead, pace.perSecond(Date.now()));
    return viewOf(row, commandId, { ahead, waitSeconds });
  }

  /** Sets the alarm unless one comes as soon. Each is a row, so a backlog sets one and not one per command. */
  #planAlarm(inMs: number): void {
    const atMs = Date.now() + inMs;
    if (this.#alarmAtMs !== null && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    // When it cannot be set the object is at its end, and the next one plans its own.
    this.ctx.storage.setAlarm(atMs).catch(() => undefined);
  }
}
