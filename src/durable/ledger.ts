import { addEnd, type EndCounts, type EndState, totalEnds } from "../core/command.ts";
import type { CommandEnd, CommandRow, EndTimes, NewCommand, WaitingRow } from "./command-row.ts";
import type { CommandStore } from "./command-store.ts";
import type { DeadLetters } from "./dead-letters.ts";
import { addTallies, type EngineState, type Mark, type Tally } from "./engine-state.ts";
import type { FinishedCommands } from "./finished-commands.ts";

/**
 * The books of the engine: what was accepted, how each command ended, what is kept. Exact over restarts without a row
 * per count: the mark carries the counts of everything below it, and a start counts what lies above.
 *
 * Every change is written before memory knows of it, so that a write that fails leaves both as they were.
 */

/** So many ends may lie above the mark before it moves: what a restart has to read again. */
const MARK_EVERY = 1000;
/** So many bytes of results may lie above it, too: only what lies below goes when there is too much of it. */
const MARK_EVERY_BYTES = 8 * 1024 * 1024;
/** How many commands that still wait are listed as stragglers per move, so that the mark can pass them. */
const STRAGGLERS_PER_MOVE = 100;
/** Rows looked at per piece of clearing, so that no piece holds up the commands for long. */
const CLEAR_PIECE = 500;

export interface LedgerBounds {
  /** How long an ended command can be read, in milliseconds. */
  readonly keepMs: number;
  /** How many ended commands are kept at most, and how many bytes of their results: past that the oldest go early. */
  readonly keepCount: number;
  readonly keepBytes: number;
}

/** The lowest sequences at or above `from` that have not ended and are not deferred, at most `count`, in order. */
export type Waiting = (from: number, count: number) => readonly number[];

/** Where it is all written. */
export interface Books {
  readonly store: CommandStore;
  readonly dead: DeadLetters;
  readonly finished: FinishedCommands;
  readonly state: EngineState;
}

export class Ledger {
  readonly #store: CommandStore;
  readonly #dead: DeadLetters;
  readonly #finished: FinishedCommands;
  readonly #state: EngineState;
  readonly #bounds: LedgerBounds;
  readonly #waiting: Waiting;
  #mark: Mark;
  #total: Tally;
  #accepted: number;
  #revived: number;
  /** The first sequence that no command has had. */
  #nextSequence: number;
  #earlyCursor = 0;

  constructor({ store, dead, finished, state }: Books, bounds: LedgerBounds, waiting: Waiting) {
    this.#store = store;
    this.#dead = dead;
    this.#finished = finished;
    this.#state = state;
    this.#bounds = bounds;
    this.#waiting = waiting;
    this.#mark = state.mark();
    this.#total = addTallies(this.#mark.below, store.tally(this.#mark.sequence, Number.MAX_SAFE_INTEGER));
    this.#accepted = totalEnds(this.#total.ends);
    this.#revived = state.revived();
    this.#nextSequence = store.highestSequence() + 1;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get ends(): EndCounts {
    return this.#total.ends;
  }

  /** How often a dead command was sent again: it is no longer counted among the dead, and counters must not go back. */
  get revived(): number {
    return this.#revived;
  }

  /** Ended commands that are still on disk. */
  get kept(): number {
    return totalEnds(this.#total.ends) - this.#mark.cleared;
  }

  /**
   * What was accepted by an earlier life of the object and has not ended; counted as accepted.
   *
   * @param deferred how many more are saved with no work planned
   */
  recover(deferred: number): WaitingRow[] {
    const rows = this.#store.waiting(this.#mark.sequence);
    this.#accepted += rows.length + deferred;
    return rows;
  }

  accept(command: NewCommand): void {
    this.#store.insert(command);
    this.#accepted += 1;
    this.#nextSequence = command.sequence + 1;
  }

  end(sequence: number, end: CommandEnd, times: EndTimes): void {
    const { tenant, bytes, keptBytes } = this.#store.end(sequence, end, times);
    this.#count(sequence, end.state, { by: 1, bytes: keptBytes });
    this.#finished.added(tenant, keptBytes);
    if (end.state === "dead") this.#dead.added(tenant, bytes);
    if (sequence < this.#mark.sequence) this.#store.removeStraggler(sequence);
  }

  /** A deferred command waits for its turn from now on: the mark may have passed it. */
  plan(sequence: number): void {
    if (sequence < this.#mark.sequence) this.#store.addStraggler(sequence);
  }

  /** A dead command waits again. */
  revive(row: CommandRow): void {
    this.#dead.revive(row);
    this.#finished.revived(row.tenant, row.keptBytes);
    this.#state.saveRevived(this.#revived + 1);
    this.#revived += 1;
    this.#count(row.sequence, "dead", { by: -1, bytes: -row.keptBytes });
    if (row.sequence < this.#mark.sequence) this.#store.addStraggler(row.sequence);
  }

  /** Moves the mark up once enough has ended above it, and clears early what is more than may be kept. */
  settle(nowMs: number): void {
    if (this.#isMarkBehind) this.#moveMark(nowMs);
    this.#countCleared(this.#finished.clearOver(this.#mark.sequence));
  }

  #moveMark(nowMs: number): void {
    const waiting = this.#waiting(this.#mark.sequence, STRAGGLERS_PER_MOVE + 1);
    this.#advance(waiting[0] ?? this.#nextSequence);
    // Something old still waits in the way: it is listed, and passed.
    if (this.#isMarkBehind) this.#pass(waiting);
    const { keepCount, keepBytes } = this.#bounds;
    const keptBytes = this.#total.bytes - this.#mark.clearedBytes;
    // Where the last piece ended: rows that stay (dead letters, say) must not be all that is ever looked at.
    if (this.kept > keepCount || keptBytes > keepBytes) {
      this.#earlyCursor = this.#clear(this.#earlyCursor, nowMs, 4 * CLEAR_PIECE) ?? 0;
    }
  }

  /**
   * Clears a piece of what ended long enough ago.
   *
   * @returns where to go on, or null when nothing more is old enough
   */
  sweep(cursor: number, nowMs: number): number | null {
    this.#advance(this.#waiting(this.#mark.sequence, 1)[0] ?? this.#nextSequence);
    return this.#clear(cursor, nowMs - this.#bounds.keepMs, CLEAR_PIECE);
  }

  /** Clears these if they have ended and are no dead letters, whatever their age. */
  forget(sequences: readonly number[]): void {
    if (sequences.length === 0) return;
    this.#advance(this.#waiting(this.#mark.sequence, 1)[0] ?? this.#nextSequence);
    this.#countCleared(this.#finished.clearThese(sequences, this.#mark.sequence));
  }

  #count(sequence: number, state: EndState, change: { by: number; bytes: number }): void {
    const counted = ({ ends, bytes }: Tally): Tally => ({
      ends: addEnd(ends, state, change.by),
      bytes: bytes + change.bytes,
    });
    if (sequence < this.#mark.sequence) this.#saveMark({ ...this.#mark, below: counted(this.#mark.below) });
    this.#total = counted(this.#total);
  }

  get #endedAboveMark(): number {
    return totalEnds(this.#total.ends) - totalEnds(this.#mark.below.ends);
  }

  get #isMarkBehind(): boolean {
    const bytes = this.#total.bytes - this.#mark.below.bytes;
    return this.#endedAboveMark >= MARK_EVERY || bytes >= MARK_EVERY_BYTES;
  }

  #pass(waiting: readonly number[]): void {
    const sequence = waiting[STRAGGLERS_PER_MOVE] ?? this.#nextSequence;
    for (const passed of waiting) if (passed < sequence) this.#store.addStraggler(passed);
    this.#advance(sequence);
  }

  /** Below `sequence` everything has ended, except what is listed. */
  #advance(sequence: number): void {
    if (sequence <= this.#mark.sequence) return;
    const below = addTallies(this.#mark.below, this.#store.tally(this.#mark.sequence, sequence));
    this.#saveMark({ ...this.#mark, sequence, below });
  }

  #clear(cursor: number, cutoffMs: number, limit: number): number | null {
    const { next, ...gone } = this.#finished.clear(cursor, this.#mark.sequence, cutoffMs, limit);
    this.#countCleared(gone);
    return next;
  }

  #countCleared({ cleared, bytes }: { readonly cleared: number; readonly bytes: number }): void {
    if (cleared === 0) return;
    const { cleared: before, clearedBytes } = this.#mark;
    this.#saveMark({ ...this.#mark, cleared: before + cleared, clearedBytes: clearedBytes + bytes });
  }

  #saveMark(mark: Mark): void {
    this.#state.saveMark(mark);
    this.#mark = mark;
  }
}
