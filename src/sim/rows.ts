import { type CommandState, END_STATES, type EndCounts, type EndState, NO_ENDS } from "../core/command.ts";
import type { LineState } from "../core/delivery/line.ts";
import type { UsedKey } from "../core/idempotency.ts";
import type { QueueEntry } from "../core/queue.ts";
import { Disk, Table } from "./disk.ts";

/**
 * What the engine's object keeps, thinly: its commands, its counts, and what it knows of the upstream. In production the
 * counts follow from the rows (`durable/ledger.ts`); here a command that has ended is a count and no row, so that a run
 * of any length stays small.
 */

export interface Row extends QueueEntry {
  /** Given with the acceptance, and with every attempt. */
  readonly id: string;
  /** `running` while an attempt is made; `deferred` while no work is planned for it. */
  readonly state: Exclude<CommandState, EndState> | "deferred";
  readonly attempts: number;
  /** Not before this is it tried again, Unix milliseconds; null: it was never tried. */
  readonly notBeforeMs: number | null;
}

/** Everything that is one number or one value. */
export interface Saved {
  readonly nextSequence: number;
  readonly accepted: number;
  readonly ends: EndCounts;
  readonly line: LineState | null;
}

const FIRST: Saved = { nextSequence: 1, accepted: 0, ends: NO_ENDS, line: null };

export class EngineDisk extends Disk {
  readonly rows = new Table<number, Row>(this);
  /** Keys of callers that were used, oldest first. */
  readonly keys = new Table<string, UsedKey<number>>(this);
  readonly #saved = new Table<"saved", Saved>(this);
  /** The number of a command that must never be given again, also not by one that was rolled back. */
  #reserved = 1;

  get saved(): Saved {
    return this.#saved.get("saved") ?? FIRST;
  }

  /** A sequence number that no command has had. */
  nextSequence(): number {
    this.#reserved = Math.max(this.#reserved, this.saved.nextSequence) + 1;
    return this.#reserved - 1;
  }

  accept(row: Row): void {
    this.rows.put(row.sequence, row);
    this.save({ nextSequence: row.sequence + 1, accepted: this.saved.accepted + 1 });
  }

  end(sequence: number, state: EndState): void {
    this.rows.delete(sequence);
    this.save({ ends: { ...this.saved.ends, [state]: this.saved.ends[state] + 1 } });
  }

  save(change: Partial<Saved>): void {
    this.#saved.put("saved", { ...this.saved, ...change });
  }
}

/** How many have ended, in whatever way. */
export function endedOf(ends: EndCounts): number {
  return END_STATES.reduce((sum, state) => sum + ends[state], 0);
}
