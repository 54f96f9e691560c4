import { type Config, configOf } from "../config.ts";
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
import { EmbeddedExecutor } from "../executor/embedded/executor.ts";
import { EMBEDDED_SCHEMA } from "../executor/embedded/schema.ts";
import type { TransactionalExecutor } from "../executor/port.ts";
import type { CommandRow } from "./command-row.ts";
import { COMMAND_SCHEMA, CommandStore } from "./command-store.ts";
import { DeadLetters } from "./dead-letters.ts";
import { EndWaits } from "./end-waits.ts";
import { type EngineSettings, EngineState, type ReservedKeys } from "./engine-state.ts";
import { InFlight } from "./in-flight.ts";
import { Latencies } from "./latencies.ts";
import { Ledger } from "./ledger.ts";
import { applySchema } from "./schema.ts";

/** What the engine object is made of: built once per life of the object, from its storage alone. */
export class EngineParts {
  readonly storage: DurableObjectStorage;
  /** Ends this life of the object; the next call or alarm starts it again from what is on disk. */
  readonly restart: (why: string) => void;
  readonly config: Config;
  readonly store: CommandStore;
  readonly dead: DeadLetters;
  readonly ledger: Ledger;
  readonly keys: ReservedKeys;
  readonly executor: TransactionalExecutor;
  readonly queue: CommandQueue;
  readonly waits = new EndWaits();
  readonly pace: Pace;
  readonly flow: FlowControl;
  readonly inFlight = new InFlight();
  readonly latencies = new Latencies();
  readonly #state: EngineState;
  #settings: EngineSettings;
  #flowSettings: FlowSettings;

  constructor(ctx: DurableObjectState, env: Env, nowMs: number) {
    const sql = ctx.storage.sql;
    applySchema(ctx.storage, "commands", COMMAND_SCHEMA);
    applySchema(ctx.storage, "embedded", EMBEDDED_SCHEMA);
    this.storage = ctx.storage;
    this.restart = (why) => ctx.abort(why);
    this.config = configOf(env);
    this.#state = new EngineState(sql);
    this.#settings = this.#state.settings();
    const keepMs = this.config.FINISHED_KEEP_HOURS * 3_600_000;
    this.store = new CommandStore(sql);
    this.dead = new DeadLetters(sql);
    const kept = { keepMs, keepCount: this.config.FINISHED_KEEP_MAX, keepBytes: this.config.FINISHED_KEEP_BYTES };
    this.ledger = new Ledger(this.store, this.dead, this.#state, kept, (from, count) =>
      this.queue.oldestSequences(from, count),
    );
    this.keys = this.#state.keySource(partitionOf(ctx.id.name));
    this.executor = new EmbeddedExecutor(sql, this.keys, keepMs);
    this.#flowSettings = flowInForce(this.config.flow, this.#settings.flow);
    this.queue = new CommandQueue(this.#bounds());
    this.flow = new FlowControl(flowConfigOf(this.#flowSettings), nowMs, Math.random());
    this.pace = new Pace(nowMs);
    for (const row of this.ledger.recover()) this.queue.restore(entryOf(row));
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

  /** Commands that wait, in both lanes. */
  get waiting(): number {
    return this.queue.depth + this.queue.criticalDepth;
  }

  /** How many ordinary commands may be waiting at all: what is in flight is limited too, and waits here for the most. */
  get places(): number {
    return Math.min(this.queue.bounds.count, this.flow.limit ?? Number.POSITIVE_INFINITY);
  }

  #saveSettings(settings: EngineSettings): void {
    this.#state.saveSettings(settings);
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

/** A command's row as the queue holds it. */
export function entryOf(row: CommandRow): QueueEntry {
  const { sequence, tenant, bytes, weight, acceptedAtMs } = row;
  return { sequence, tenant, bytes, weight, critical: isCritical(row.intent), acceptedAtMs };
}

/** Objects are named `engine:<partition>` in stubs.ts. */
function partitionOf(name: string | undefined): number {
  return Number(name?.split(":")[1] ?? 0);
}
