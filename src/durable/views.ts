import type { CommandView } from "../core/command.ts";
import type { JsonText } from "../core/json.ts";
import { nameOfKey } from "../identity/caller.ts";
import type { CommandRow } from "./command-row.ts";
import { type Position, viewOf } from "./command-view.ts";
import type { EngineParts } from "./engine-parts.ts";

/** Commands as they are shown: found by their public ids, with their place in the line. */

/** A command that could not be run, as an operator sees it. */
export type DeadLetter = CommandView & { readonly tenant: string; readonly payload?: JsonText };

export class Views {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** The row of a public id; null when no command of this partition has it. */
  row(commandId: string): CommandRow | null {
    const sequence = this.#parts.keys.parse(commandId);
    return sequence === null ? null : this.#parts.store.get(sequence);
  }

  /** The row of a command that was written. */
  written(sequence: number): CommandRow {
    const row = this.#parts.store.get(sequence);
    if (row === null) throw new Error(`accepted command ${sequence} has no row`);
    return row;
  }

  /** As {@link row}, of this tenant's commands only. */
  ownRow(tenant: string, commandId: string): CommandRow | null {
    const row = this.row(commandId);
    return row?.tenant === tenant ? row : null;
  }

  /** As {@link row}, of dead letters only. */
  deadRow(commandId: string): CommandRow | null {
    const row = this.row(commandId);
    return row !== null && this.#parts.dead.has(row.sequence) ? row : null;
  }

  of(row: CommandRow): CommandView {
    return viewOf(row, this.#parts.keys.format(row.sequence), this.#position(row));
  }

  /** Dead letters, oldest first, after the one given. */
  deadLetters(limit: number, after: string | null): DeadLetter[] {
    const from = after === null ? 0 : (this.#parts.keys.parse(after) ?? 0);
    return this.#parts.dead.list(limit, from).map((row) => this.#ofDead(row));
  }

  /** One dead letter, with what it would be sent again with; or whether there is a command of this id at all. */
  deadLetter(commandId: string): DeadLetter | "not_dead" | "not_found" {
    const row = this.row(commandId);
    if (row === null) return "not_found";
    if (!this.#parts.dead.has(row.sequence)) return "not_dead";
    return { ...this.#ofDead(row), payload: this.#parts.store.payload(row.sequence) };
  }

  #ofDead(row: CommandRow): DeadLetter {
    return { ...this.of(row), tenant: nameOfKey(row.tenant) };
  }

  /** How many go before a command, and how long that takes; null when it does not wait in line. */
  #position(row: CommandRow): Position | null {
    if (row.finishedAtMs !== null) return null;
    const { queue, retries, deferred, estimates, waiting } = this.#parts;
    const nowMs = Date.now();
    const dueMs = retries.dueMs(row.sequence);
    if (dueMs !== null) {
      const before = retries.aheadOf(row.sequence);
      // Fresh commands go in between, one after each.
      const ahead = before + Math.min(waiting, before + 1);
      const waitSeconds = Math.max(estimates.waitSeconds(ahead, nowMs), (dueMs - nowMs) / 1000);
      return { ahead, waitSeconds: Math.round(10 * waitSeconds) / 10, isDeferred: false };
    }
    const inQueue = queue.aheadOf(row.sequence);
    const isDeferred = inQueue === null && deferred.has(row.sequence);
    // Those that wait for another attempt go in between, one after each.
    const inLine = inQueue === null ? null : inQueue + Math.min(retries.size, inQueue + 1);
    const ahead = isDeferred ? waiting + retries.size + deferred.aheadOf(row.sequence) : inLine;
    return ahead === null ? null : { ahead, waitSeconds: estimates.waitSeconds(ahead, nowMs), isDeferred };
  }
}
