import { type Config, configOf } from "../config.ts";
import type { Backoff } from "../core/backoff.ts";
import { Deadlines } from "../core/deadlines.ts";
import { HOLD_MS_MAX } from "../core/delivery/circuit.ts";
import { type LineState, type LineVerdict, UpstreamLine } from "../core/delivery/line.ts";
import { Retries } from "../core/delivery/retries.ts";
import type { EdgeTold } from "../core/edge-told.ts";
import { Estimates } from "../core/estimates.ts";
import { FlowControl } from "../core/flow-control/flow-control.ts";
import {
  changeFlow,
  type FlowChange,
  type FlowChecked,
  type FlowSettings,
  flowConfigOf,
} from "../core/flow-control/settings.ts";
import { isCritical } from "../core/intents.ts";
import { Pace } from "../core/pace.ts";
import { CommandQueue, type QueueBounds, type QueueEntry } from "../core/queue.ts";
import type { UpstreamStatus } from "../core/queue-status.ts";
import { ReturnTimes } from "../core/return-times.ts";
import type { TenantHoldings } from "../core/tenant-holdings.ts";
import { WorkShares } from "../core/work-shares.ts";
import { EmbeddedExecutor } from "../executor/embedded/executor.ts";
import { EMBEDDED_SCHEMA } from "../executor/embedded/schema.ts";
import type { CommandRow, WaitingRow } from "./command-row.ts";
import { COMMAND_SCHEMA } from "./command-schema.ts";
import { CommandStore } from "./command-store.ts";
import { DeadLetters } from "./dead-letters.ts";
import { Deferred } from "./deferred.ts";
import { DiskSpace } from "./disk-space.ts";
import { EndWaits } from "./end-waits.ts";
import { EngineMetrics } from "./engine-metrics.ts";
import { type EngineSettings, EngineState, type ReservedKeys } from "./engine-state.ts";
import { FinishedCommands } from "./finished-commands.ts";
import { restoreHoldings } from "./holdings.ts";
import { InFlight } from "./in-flight.ts";
import { Latencies } from "./latencies.ts";
import { Ledger } from "./ledger.ts";
import { RefusalCounts } from "./refusals.ts";
import { applySchema } from "./schema.ts";
import { UsedKeys } from "./used-keys.ts";

/** What the engine object is made of: built once per life of the object, from its storage alone. */
export class EngineParts {
  readonly storage: DurableObjectStorage;
  readonly disk: DiskSpace;
  readonly holdings: TenantHoldings;
  /** What tenants owe for work that no command pays for: timers and searches. */
  readonly shares = new WorkShares();
  /** Ends this life of the object; the next call or alarm starts it again from what is on disk. */
  readonly restart: (why: string) => void;
  readonly config: Config;
  readonly store: CommandStore;
  readonly dead: DeadLetters;
  readonly deferred: Deferred;
  readonly ledger: Ledger;
  readonly keys: ReservedKeys;
  readonly usedKeys: UsedKeys;
  readonly embedded: EmbeddedExecutor;
  readonly queue: CommandQueue;
  /** When the attempt began that is being made for a command, by its sequence. */
  readonly running = new Map<number, number>();
  readonly retries = new Retries();
  readonly deadlines = new Deadlines();
  /** Of attempts at the upstream. */
  readonly backoff: Backoff;
  /** The way to the upstream; null: the embedded engine stands behind the queue. */
  readonly line: UpstreamLine | null;
  readonly estimates: Estimates;
  readonly waits = new EndWaits();
  readonly pace: Pace;
  readonly flow: FlowControl;
  readonly inFlight = new InFlight();
  readonly latencies = new Latencies();
  readonly refusals = new RefusalCounts();
  readonly metrics = new EngineMetrics();
  readonly state: EngineState;
  #settings: EngineSettings;
  #flowSettings: FlowSettings;

  constructor(ctx: DurableObjectState, env: Env, nowMs: number) {
    const sql = ctx.storage.sql;
    applySchema(ctx.storage, "commands", COMMAND_SCHEMA);
    applySchema(ctx.storage, "embedded", EMBEDDED_SCHEMA);
    this.storage = ctx.storage;
    this.restart = (why) => ctx.abort(why);
    this.config = configOf(env);
    this.disk = new DiskSpace(sql, this.config.STORAGE_BYTES_MAX);
    this.holdings = restoreHoldings(sql);
    this.state = new EngineState(sql);
    this.#settings = this.state.settings();
    const keepMs = this.config.FINISHED_KEEP_HOURS * 3_600_000;
    this.store = new CommandStore(sql);
    this.dead = new DeadLetters(sql, this.holdings);
    this.deferred = new Deferred(sql, this.holdings);
    this.usedKeys = new UsedKeys(sql, this.config.IDEMPOTENCY_KEEP_HOURS * 3_600_000, this.holdings);
    const kept = { keepMs, keepCount: this.config.FINISHED_KEEP_MAX, keepBytes: this.config.FINISHED_KEEP_BYTES };
    const finished = new FinishedCommands(sql, this.holdings);
    this.ledger = new Ledger({ store: this.store, dead: this.dead, finished, state: this.state }, kept, (from, count) =>
      this.#oldestSequences(from, count),
    );
    this.keys = this.state.keySource(partitionOf(ctx.id.name), nowMs);
    this.embedded = new EmbeddedExecutor(sql, this.keys, keepMs, this.holdings);
    this.#flowSettings = flowInForce(this.config.flow, this.#settings.flow);
    this.queue = new CommandQueue(this.#bounds(), this.retries);
    this.flow = new FlowControl(flowConfigOf(this.#flowSettings), nowMs, Math.random());
    this.backoff = { baseMs: this.config.RETRY_BASE_MS, maxMs: this.config.RETRY_MAX_MS };
    const { executor, RETRY_AFTER: formula, ENGINE_RATE_MAX: mostPerSecond } = this.config;
    this.pace = new Pace(nowMs, executor === "embedded" && mostPerSecond > 0 ? mostPerSecond : null);
    this.line = executor === "embedded" ? null : lineOf(this.config, this.state, this.backoff, nowMs);
    this.estimates = new Estimates(formula, this.pace, this.line, new ReturnTimes(), () => this.#settings.paused);
    for (const row of this.ledger.recover(this.deferred.size)) this.#restore(row, nowMs);
    for (const row of this.deferred.withDeadline()) this.expect(row);
  }

  get settings(): EngineSettings {
    return this.#settings;
  }

  /** Pauses or resumes for good, over restarts too. */
  change(settings: Pick<EngineSettings, "paused" | "accepting">): void {
    this.#saveSettings({ ...this.#settings, ...settings });
  }

  get flowSettings(): FlowSettings {
    return this.#flowSettings;
  }

  /** Changes limits for good, over restarts too, or says what is wrong with the change and changes nothing. */
  changeFlow(change: FlowChange, nowMs: number): FlowChecked {
    const checked = changeFlow(this.#flowSettings, change);
    if (!checked.ok) return checked;
    const flow = { ...this.#settings.flow, ...change };
    const { algorithm, parameters } = checked.settings;
    // Parameters mean something with their algorithm only, so they are kept together and whole.
    const ofLimit = (flow.algorithm ?? flow.parameters) ? { algorithm, parameters } : {};
    this.#saveSettings({ ...this.#settings, flow: { ...flow, ...ofLimit } });
    this.#flowSettings = checked.settings;
    this.queue.setBounds(this.#bounds());
    this.flow.change(flowConfigOf(checked.settings), nowMs, Math.random());
    return checked;
  }

  /** What an isolate did without asking counts here too. */
  hear(told: EdgeTold): void {
    this.refusals.add(told.refused ?? {});
    this.metrics.hear(told);
  }

  /** Commands that wait, in both lanes. */
  get waiting(): number {
    return this.queue.depth + this.queue.criticalDepth;
  }

  /** Commands that are waiting, running, or between two attempts: what a limit on them counts. */
  get inFlightCount(): number {
    return this.waiting + this.running.size + this.retries.size;
  }

  /** A command that has not begun may come too late. */
  expect({ sequence, deadlineAtMs }: Pick<QueueEntry, "sequence" | "deadlineAtMs">): void {
    if (deadlineAtMs !== null) this.deadlines.add(sequence, deadlineAtMs);
  }

  /** A command's row as the queue holds it. */
  entryOf({ sequence, tenant, bytes, weight, intent, acceptedAtMs, deadlineAtMs }: WaitingRow): QueueEntry {
    const critical = isCritical(this.config.intents, intent);
    return { sequence, tenant, bytes, weight, critical, acceptedAtMs, deadlineAtMs };
  }

  /** A dead command waits again, if there is room for it. */
  revive(row: CommandRow): boolean {
    const entry = this.entryOf({ ...row, deadlineAtMs: null, notBeforeMs: null });
    if (!entry.critical && !this.queue.hasRoom(entry.bytes)) return false;
    this.ledger.revive(row);
    this.queue.restore(entry);
    return true;
  }

  /** How many ordinary commands may be waiting at all: what is in flight is limited too, and waits here for the most. */
  get places(): number {
    return Math.min(this.queue.bounds.count, this.flow.limit ?? Number.POSITIVE_INFINITY);
  }

  /** A command of an earlier life: one that was being tried, or was tried before, goes on where it was. */
  #restore(row: WaitingRow, nowMs: number): void {
    const entry = this.entryOf(row);
    const tried = row.state === "running" || row.notBeforeMs !== null;
    if (tried && this.config.executor === "upstream") {
      // A time that lies further ahead than any wait was set by a clock that has stepped back since.
      const dueMs = Math.min(row.notBeforeMs ?? nowMs, nowMs + HOLD_MS_MAX);
      this.retries.add(entry, dueMs, nowMs);
    } else this.queue.restore(entry);
    this.expect(entry);
  }

  #oldestSequences(from: number, count: number): number[] {
    const all = [...this.queue.sequences(), ...this.running.keys(), ...this.retries.sequences()];
    return all
      .filter((sequence) => sequence >= from)
      .sort((a, b) => a - b)
      .slice(0, count);
  }

  #saveSettings(settings: EngineSettings): void {
    this.state.saveSettings(settings);
    this.#settings = settings;
  }

  #bounds(): QueueBounds {
    return { count: this.#flowSettings.bound, bytes: this.#flowSettings.boundBytes };
  }
}

/**
 * The deployment's limits with what an operator changed. A change that no longer fits a new deployment is passed over:
 * an object that cannot start would be worse than one with its deployment's limits.
 */
function flowInForce(deployed: FlowSettings, changed: FlowChange | undefined): FlowSettings {
  const checked = changeFlow(deployed, changed ?? {});
  if (checked.ok) return checked.settings;
  console.warn(JSON.stringify({ event: "flow_change_dropped", faults: checked.faults }));
  return deployed;
}

/** Objects are named `engine:<partition>` in stubs.ts. */
function partitionOf(name: string | undefined): number {
  return Number(name?.split(":")[1] ?? 0);
}

/** The way to the upstream, as an earlier life left it. It logs one line when that changes. */
function lineOf(config: Config, state: EngineState, backoff: Backoff, nowMs: number): UpstreamLine {
  const { UPSTREAM_URL: url, UPSTREAM_BREAKER_FAILURES: failuresMax, quota } = config;
  const changed = (verdict: LineVerdict, status: UpstreamStatus) => {
    const why = verdict.verdict === "again" ? verdict.error : verdict.verdict;
    const event = status.state === "delivering" ? "upstream_back" : "upstream_waits";
    console.warn(JSON.stringify({ event, why, ...status }));
  };
  const hooks = { save: (line: LineState) => state.saveUpstream(line), changed };
  return new UpstreamLine(state.upstream(), { url, quota, failuresMax, backoff }, hooks, nowMs);
}
