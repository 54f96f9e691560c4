import type { EngineParts } from "./engine-parts.ts";
import { runCommand } from "./runner.ts";

/**
 * The one writer: runs what waits, in batches, until nothing waits or an operator pauses it. An idle engine runs a
 * command in the event that brought it, so that acceptance and end are one commit.
 */

/** Commands per turn: other requests get their turn in between, and a turn's writes are one commit. */
const BATCH_MAX = 64;

export class Writer {
  readonly #parts: EngineParts;
  readonly #madeRoom: () => void;
  #runs = false;

  /** @param madeRoom called after each batch, when places in the queue may have come free */
  constructor(parts: EngineParts, madeRoom: () => void) {
    this.#parts = parts;
    this.#madeRoom = madeRoom;
  }

  /** Starts the work unless it is under way. The first batch runs before this returns. */
  async start(): Promise<void> {
    if (this.#runs) return;
    this.#runs = true;
    try {
      while (this.#batch()) await scheduler.wait(0);
    } finally {
      this.#runs = false;
    }
  }

  /** True while there is work that may go on. */
  get hasWork(): boolean {
    return !this.#parts.settings.paused && this.#parts.waiting > 0;
  }

  #batch(): boolean {
    const { queue, pace, ledger, waits } = this.#parts;
    const nowMs = Date.now();
    pace.setBusy(this.hasWork, nowMs);
    let ended = 0;
    for (let n = 0; n < BATCH_MAX && !this.#parts.settings.paused; n++) {
      const entry = queue.take();
      if (entry === undefined) break;
      if (runCommand(this.#parts, entry, nowMs) === "again") queue.restore(entry);
      else {
        ended += 1;
        waits.ended(entry.sequence);
      }
    }
    pace.finished(ended, nowMs);
    ledger.settle((from) => queue.oldestSequence(from), nowMs);
    this.#madeRoom();
    pace.setBusy(this.hasWork, nowMs);
    return this.hasWork;
  }
}
