import { addEnd, type CommandError, type EndCounts, type EndState, totalEnds } from "../core/command.ts";
import type { JsonObject } from "../core/json.ts";
import type { CommandRow, CommandStore, EndTimes, NewCommand } from "./command-store.ts";
import type { EngineState, Mark } from "./engine-state.ts";

/**
 * The books of the engine: what was accepted, how each command ended, what is kept. Exact over restarts without a row
 * per count: the mark carries the counts of everything below it, and a start counts what lies above.
 */

/** So many ends may lie above the mark: what a restart has to read again. */
const MARK_EVERY = 1000;
/** Rows looked at per piece of clearing, so that no piece holds up the commands for long. */
const CLEAR_PIECE = 500;

export class Ledger {
  readonly #store: CommandStore;
  readonly #state: EngineState;
  readonly #keepMs: number;
  readonly #keepMax: number;
  #mark: Mark;
  #ends: EndCounts;
  #accepted: number;
  #endsSinceMark = 0;
  /** The first sequence that no command has had. */
  #nextSequence: number;

  /**
   * @param keepMs how long an ended command can be read
   * @param keepMax how many ended commands are kept at most: past that the oldest go early, so that disk is bounded
   */
  constructor(store: CommandStore, state: EngineState, keepMs: number, keepMax: number) {
    this.#store = store;
    this.#state = state;
    this.#keepMs = keepMs;
    this.#keepMax = keepMax;
    this.#mark = state.mark();
    const above = store.countEnds(this.#mark.sequence, Number.MAX_SAFE_INTEGER);
    this.#ends = Object.entries(above).reduce((sum, [end, n]) => addEnd(sum, end as EndState, n), this.#mark.ends);
    this.#nextSequence = this.#mark.sequence;
    this.#accepted = totalEnds(this.#ends);
  }

  get accepted(): number {
    return this.#accepted;
  }

  get ends(): EndCounts {
    return this.#ends;
  }

  /** Ended commands that are still on disk. */
  get kept(): number {
    return totalEnds(this.#ends) - this.#mark.cleared;
  }

  /** What was accepted by an earlier life of the object and has not ended; counted as accepted. */
  recover(): CommandRow[] {
    const rows = this.#store.waiting(this.#mark.sequence);
    this.#accepted += rows.length;
    this.#nextSequence = Math.max(this.#nextSequence, ...rows.slice(-1).map((row) => row.sequence + 1));
    return rows;
  }

  accept(command: NewCommand): void {
    this.#store.insert(command);
    this.#accepted += 1;
    this.#nextSequence = command.sequence + 1;
  }

  end(sequence: number, end: { state: EndState; result?: JsonObject; error?: CommandError }, times: EndTimes): void {
    this.#store.end(sequence, end, times);
    this.#ends = addEnd(this.#ends, end.state, 1);
    this.#endsSinceMark += 1;
    if (sequence < this.#mark.sequence) {
      this.#store.removeStraggler(sequence);
      this.#saveMark({ ...this.#mark, ends: addEnd(this.#mark.ends, end.state, 1) });
    }
  }

  /** A dead command waits again. */
  revive(sequence: number): void {
    this.#store.revive(sequence);
    this.#ends = addEnd(this.#ends, "dead", -1);
    if (sequence < this.#mark.sequence) {
      this.#store.addStraggler(sequence);
      this.#saveMark({ ...this.#mark, ends: addEnd(this.#mark.ends, "dead", -1) });
    }
  }

  /**
   * Moves the mark up once enough has ended, and clears early what is more than may be kept.
   *
   * @param oldestWaiting the lowest sequence at or above the mark that has not ended; null when there is none
   */
  settle(oldestWaiting: (from: number) => number | null, nowMs: number): void {
    if (this.#endsSinceMark < MARK_EVERY) return;
    this.#advance(oldestWaiting(this.#mark.sequence) ?? this.#nextSequence);
    if (this.kept > this.#keepMax) this.#clear(0, nowMs, this.kept - this.#keepMax + CLEAR_PIECE);
  }

  /**
   * Clears a piece of what ended long enough ago.
   *
   * @returns where to go on, or null when nothing more is old enough
   */
  sweep(cursor: number, oldestWaiting: (from: number) => number | null, nowMs: number): number | null {
    this.#advance(oldestWaiting(this.#mark.sequence) ?? this.#nextSequence);
    return this.#clear(cursor, nowMs - this.#keepMs, CLEAR_PIECE);
  }

  #advance(sequence: number): void {
    this.#endsSinceMark = 0;
    if (sequence <= this.#mark.sequence) return;
    const passed = this.#store.countEnds(this.#mark.sequence, sequence);
    const ends = Object.entries(passed).reduce((sum, [end, n]) => addEnd(sum, end as EndState, n), this.#mark.ends);
    this.#saveMark({ ...this.#mark, sequence, ends });
  }

  #clear(cursor: number, cutoffMs: number, limit: number): number | null {
    const { cleared, next } = this.#store.clear(cursor, this.#mark.sequence, cutoffMs, limit);
    if (cleared > 0) this.#saveMark({ ...this.#mark, cleared: this.#mark.cleared + cleared });
    return cleared === 0 ? null : next;
  }

  #saveMark(mark: Mark): void {
    this.#mark = mark;
    this.#state.saveMark(mark);
  }
}
