import type { CommandEnd, CommandRow, EndTimes, NewCommand } from "./command-row.ts";

/**
 * Commands that were accepted in this event and are not on disk yet: most of them end in it too, and are then written
 * once, as they ended. Whoever accepts one sees to it that what is left is written before the event is over; nothing is
 * answered before the event's commit.
 */
export class FreshCommands {
  readonly #waiting = new Map<number, NewCommand>();
  readonly #ended = new Map<number, { readonly row: CommandRow; readonly command: NewCommand }>();

  add(command: NewCommand): void {
    this.#waiting.set(command.sequence, command);
  }

  /** One that has not ended. */
  waiting(sequence: number): NewCommand | undefined {
    return this.#waiting.get(sequence);
  }

  /** Takes one out that is written as it waits. */
  take(sequence: number): NewCommand | undefined {
    const command = this.#waiting.get(sequence);
    this.#waiting.delete(sequence);
    return command;
  }

  /** Takes all out that are left, in order; what has ended is read from disk from now on. */
  takeAll(): NewCommand[] {
    if (this.#waiting.size === 0 && this.#ended.size === 0) return [];
    const left = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#ended.clear();
    return left;
  }

  /** One has ended and is written so, as long as the transaction holds. */
  ended(command: NewCommand, end: CommandEnd, times: EndTimes, keptBytes: number): void {
    this.#waiting.delete(command.sequence);
    const kept = { keptBytes, result: end.result ?? null, error: end.error ?? null };
    const row: CommandRow = { ...rowOf(command), ...kept, ...times, state: end.state };
    this.#ended.set(command.sequence, { row, command });
  }

  /** The transaction was undone in which it ended. */
  undone(sequence: number): void {
    const ended = this.#ended.get(sequence);
    if (ended === undefined) return;
    this.#ended.delete(sequence);
    this.#waiting.set(sequence, ended.command);
  }

  /** Its row, as it is or will be written; null for one that is not fresh. */
  row(sequence: number): CommandRow | null {
    const ended = this.#ended.get(sequence);
    if (ended !== undefined) return ended.row;
    const command = this.#waiting.get(sequence);
    return command === undefined ? null : rowOf(command);
  }
}

function rowOf({ sequence, tenant, intent, bytes, weight, acceptedAtMs }: NewCommand): CommandRow {
  return {
    sequence,
    tenant,
    intent,
    state: "queued",
    bytes,
    weight,
    keptBytes: 0,
    attempts: 0,
    result: null,
    error: null,
    acceptedAtMs,
    startedAtMs: null,
    finishedAtMs: null,
  };
}
