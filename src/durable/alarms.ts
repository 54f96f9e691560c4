import { AlarmSetting } from "./alarm-setting.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { ForgottenTenants } from "./forgotten-tenants.ts";
import { CONTINUE_MS } from "./works.ts";

/**
 * When the engine is woken if nobody calls it, and what it clears then. An object that has lost its memory has only its
 * alarm; each setting of it is a row, so a backlog sets one, and not one per command.
 */

const SWEEP_MS = 3_600_000;
/** Pieces of clearing per alarm. */
const SWEEP_PIECES_MAX = 200;

export class Alarms {
  readonly #storage: DurableObjectStorage;
  readonly #setting: AlarmSetting;
  readonly #parts: EngineParts;
  readonly #forgotten: Pick<ForgottenTenants, "piece">;
  #atMs: number | null = null;

  constructor(parts: EngineParts, forgotten: Pick<ForgottenTenants, "piece">) {
    this.#forgotten = forgotten;
    this.#storage = parts.storage;
    this.#setting = new AlarmSetting(parts.storage, "engine");
    this.#parts = parts;
  }

  /** Learns of an alarm that an earlier life has set: it must not be moved to later. */
  async load(): Promise<void> {
    this.#atMs = await this.#storage.getAlarm();
  }

  /** It has rung. */
  rang(): void {
    this.#atMs = null;
  }

  /** Sets the alarm unless one comes as soon. */
  plan(inMs: number): void {
    const atMs = Date.now() + inMs;
    if (this.#atMs !== null && this.#atMs <= atMs) return;
    void this.#set(atMs);
  }

  async #set(atMs: number): Promise<void> {
    this.#atMs = atMs;
    const isSet = await this.#setting.set(atMs);
    if (!isSet && this.#atMs === atMs) this.#atMs = null;
  }

  /** Sees to it that what has ended is cleared in time. */
  planSweep(): void {
    this.plan(SWEEP_MS);
  }

  /** Clears what is old, piece by piece, and plans the rest. */
  async sweep(): Promise<void> {
    const { ledger, embedded, usedKeys } = this.#parts;
    const nowMs = Date.now();
    let commands: number | null = 0;
    let keys: readonly [string, string] | null = usedKeys.sweep(null, nowMs);
    let more = true;
    for (let piece = 0; more && piece < SWEEP_PIECES_MAX; piece++) {
      const effectsLeft = embedded.sweep(nowMs);
      if (commands !== null) commands = ledger.sweep(commands, nowMs);
      if (keys !== null) keys = usedKeys.sweep(keys, nowMs);
      const tenantsLeft = this.#forgotten.piece(nowMs);
      more = tenantsLeft || effectsLeft || commands !== null || keys !== null;
      // Each piece is a turn of its own: commands do not wait for the broom.
      await scheduler.wait(0);
    }
    if (more) this.plan(CONTINUE_MS);
    else if (ledger.kept > 0) this.planSweep();
  }
}
