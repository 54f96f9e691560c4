import { type Config, configOf } from "../config.ts";
import { isCritical } from "../core/intents.ts";
import { Pace } from "../core/pace.ts";
import { CommandQueue, type QueueBounds, type QueueEntry } from "../core/queue.ts";
import { EmbeddedExecutor } from "../executor/embedded/executor.ts";
import { EMBEDDED_SCHEMA } from "../executor/embedded/schema.ts";
import type { TransactionalExecutor } from "../executor/port.ts";
import { COMMAND_SCHEMA } from "./command-schema.ts";
import { type CommandRow, CommandStore } from "./command-store.ts";
import { EndWaits } from "./end-waits.ts";
import { type EngineSettings, EngineState, type ReservedKeys } from "./engine-state.ts";
import { Ledger } from "./ledger.ts";
import { applySchema } from "./schema.ts";

/** What the engine object is made of: built once per life of the object, from its storage alone. */
export class EngineParts {
  readonly storage: DurableObjectStorage;
  readonly config: Config;
  readonly store: CommandStore;
  readonly ledger: Ledger;
  readonly keys: ReservedKeys;
  readonly executor: TransactionalExecutor;
  readonly queue: CommandQueue;
  readonly waits = new EndWaits();
  readonly pace: Pace;
  readonly #state: EngineState;
  #settings: EngineSettings;

  constructor(ctx: DurableObjectState, env: Env, nowMs: number) {
    const sql = ctx.storage.sql;
    applySchema(sql, "commands", COMMAND_SCHEMA);
    applySchema(sql, "embedded", EMBEDDED_SCHEMA);
    this.storage = ctx.storage;
    this.config = configOf(env);
    this.#state = new EngineState(sql);
    this.#settings = this.#state.settings();
    const keepMs = this.config.FINISHED_KEEP_HOURS * 3_600_000;
    this.store = new CommandStore(sql);
    this.ledger = new Ledger(this.store, this.#state, keepMs, this.config.FINISHED_KEEP_MAX);
    this.keys = this.#state.keySource(partitionOf(ctx.id.name));
    this.executor = new EmbeddedExecutor(sql, this.keys, keepMs);
    this.queue = new CommandQueue(this.#bounds());
    this.pace = new Pace(nowMs);
    for (const row of this.ledger.recover()) this.queue.restore(entryOf(row));
  }

  get settings(): EngineSettings {
    return this.#settings;
  }

  /** Changes settings for good, over restarts too. */
  change(settings: Partial<EngineSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#state.saveSettings(this.#settings);
    this.queue.setBounds(this.#bounds());
  }

  get enqueueWaitMs(): number {
    return this.#settings.enqueueWaitMs ?? this.config.ENQUEUE_WAIT_MS;
  }

  /** Commands that wait, in both lanes. */
  get waiting(): number {
    return this.queue.depth + this.queue.criticalDepth;
  }

  #bounds(): QueueBounds {
    const { bound, boundBytes } = this.#settings;
    return { count: bound ?? this.config.QUEUE_MAX, bytes: boundBytes ?? this.config.QUEUE_BYTES_MAX };
  }
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
