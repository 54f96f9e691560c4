import type { Backoff } from "../core/backoff.ts";
import type { CommandError } from "../core/command.ts";
import { type AttemptResult, type DeliveryVerdict, judgeAnswer, judgeWhole } from "../core/delivery/answer.ts";
import { afterSpent } from "../core/delivery/retries.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { DeliveringExecutor } from "../executor/port.ts";
import { wholeOf } from "../executor/upstream/whole.ts";
import type { CommandEnd, CommandRow } from "./command-row.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { UpstreamLine } from "./upstream-line.ts";
import { CONTINUE_MS, restartFromDisk, tellEnded, type Works } from "./works.ts";

/**
 * Delivery to an upstream: so many commands at a time, when the line to it lets them pass. Every step is on disk before
 * the next one is taken, so that a restart in the middle of an attempt makes it again with the same id; such an attempt
 * was not answered, and is not counted.
 */

/** An attempt that is under way. */
interface Attempt {
  readonly entry: QueueEntry;
  /** The command as it was before. */
  readonly row: CommandRow;
  readonly beganMs: number;
  /** For a request that is handed on whole: whether it may be delivered again when nobody knows. */
  readonly whole: { readonly repeatable: boolean } | null;
}

/** The longest a timer is set for: what lies further ahead is looked at again. */
const TIMER_MS_MAX = 60_000;

export class Dispatcher implements Works {
  readonly #parts: EngineParts;
  readonly #line: UpstreamLine;
  readonly #executor: DeliveringExecutor;
  readonly #backoff: Backoff;
  readonly #madeRoom: () => void;
  #timer: number | null = null;
  /** When the next command may begin, as far as it is known; null: when something else happens. */
  #nextMs: number | null = null;

  /** @param madeRoom called when places in the queue may have come free */
  constructor(
    parts: EngineParts,
    line: UpstreamLine,
    executor: DeliveringExecutor,
    backoff: Backoff,
    madeRoom: () => void,
  ) {
    this.#parts = parts;
    this.#line = line;
    this.#executor = executor;
    this.#backoff = backoff;
    this.#madeRoom = madeRoom;
  }

  start(): void {
    try {
      this.#begin(Date.now());
    } catch (error) {
      restartFromDisk(this.#parts, error);
    }
  }

  wakeInMs(nowMs: number): number | null {
    const { running, retries, waiting, settings } = this.#parts;
    if (running.size > 0) return CONTINUE_MS;
    if (settings.paused || waiting + retries.size === 0) return null;
    return this.#nextMs === null ? CONTINUE_MS : Math.max(CONTINUE_MS, this.#nextMs - nowMs);
  }

  /** Begins all that may begin now, and sets the timer for what may begin later. */
  #begin(nowMs: number): void {
    const { pace, settings } = this.#parts;
    clearTimeout(this.#timer);
    const inQueue = this.#parts.waiting;
    this.#nextMs = settings.paused ? null : this.#beginAll(nowMs);
    pace.setBusy(!settings.paused && this.#parts.waiting > 0, nowMs);
    if (this.#nextMs !== null) {
      this.#timer = setTimeout(() => this.start(), Math.min(TIMER_MS_MAX, Math.max(1, this.#nextMs - nowMs)));
    }
    if (this.#parts.waiting < inQueue) this.#madeRoom();
  }

  /** @returns when to look again; null: when an attempt ends or a command comes */
  #beginAll(nowMs: number): number | null {
    const { running, retries, config } = this.#parts;
    while (running.size < config.UPSTREAM_CONCURRENCY && this.#parts.waiting + retries.size > 0) {
      const atMs = this.#line.beginsAtMs(running.size, nowMs);
      if (atMs === null || atMs > nowMs) return atMs;
      const entry = this.#next(nowMs);
      if (entry === undefined) return retries.nextDueMs();
      this.#start(entry, nowMs);
    }
    return null;
  }

  /** Critical ones first; then those that wait for another attempt; then fresh ones, in turn. */
  #next(nowMs: number): QueueEntry | undefined {
    const { queue, retries } = this.#parts;
    if (retries.isFull) return retries.takeDue(nowMs);
    // A probe may well fail: each one spends an attempt of another command.
    if (this.#line.probing || queue.criticalDepth > 0) return queue.take() ?? retries.takeDue(nowMs);
    return retries.takeDue(nowMs) ?? queue.take();
  }

  #start(entry: QueueEntry, nowMs: number): void {
    const { store, running, deadlines, pace } = this.#parts;
    const row = store.get(entry.sequence);
    if (row === null) throw new Error(`queued command ${entry.sequence} has no row`);
    store.begin(entry.sequence, nowMs);
    this.#line.begin(nowMs);
    running.set(entry.sequence, entry);
    deadlines.remove(entry.sequence);
    pace.began(nowMs);
    void this.#attempt({ entry, row, beganMs: nowMs, whole: wholeOf(store.headers(entry.sequence)) });
  }

  /** Makes an attempt. The runtime holds the request back until what was written before is on disk. */
  async #attempt(attempt: Attempt): Promise<void> {
    try {
      const { sequence, tenant, intent, attempts } = attempt.row;
      const { keys, store } = this.#parts;
      const result = await this.#executor.deliver({
        id: keys.format(sequence),
        tenant,
        intent,
        attempt: attempts + 1,
        payload: store.payload(sequence),
        headers: store.headers(sequence),
      });
      this.#settle(attempt, result, Date.now());
    } catch (error) {
      restartFromDisk(this.#parts, error);
    }
  }

  /** Writes what came of an attempt, and goes on. */
  #settle(attempt: Attempt, result: AttemptResult, nowMs: number): void {
    const { running, pace, ledger } = this.#parts;
    const { whole } = attempt;
    const verdict = whole === null ? judgeAnswer(result, nowMs) : judgeWhole(result, whole.repeatable, nowMs);
    this.#line.after(verdict, attempt.beganMs, nowMs, Math.random());
    const end = this.#endOf(attempt, verdict, nowMs);
    running.delete(attempt.entry.sequence);
    pace.stopped(nowMs - attempt.beganMs, nowMs);
    if (end !== null) {
      const { row, beganMs } = attempt;
      const times = { attempts: row.attempts + 1, startedAtMs: row.startedAtMs ?? beganMs, finishedAtMs: nowMs };
      ledger.end(row.sequence, end, times);
      ledger.settle(nowMs);
      pace.finished(1, nowMs);
      tellEnded(this.#parts, attempt.entry, end.state === "dead" ? "dropped" : "success", nowMs);
    }
    this.#begin(nowMs);
    this.#madeRoom();
  }

  /** How the verdict ends the command; null when it waits for another attempt, which is then written. */
  #endOf({ entry, row }: Attempt, verdict: DeliveryVerdict, nowMs: number): CommandEnd | null {
    switch (verdict.verdict) {
      case "succeeded":
        return { state: "succeeded", result: verdict.result };
      case "failed":
        return { state: "failed", error: verdict.error, ...(verdict.result && { result: verdict.result }) };
      case "hold":
        this.#again(entry, row.attempts, nowMs, null);
        return null;
      case "again": {
        const attempts = row.attempts + 1;
        const after = afterSpent(attempts, this.#parts.config.MAX_ATTEMPTS, this.#backoff, nowMs, Math.random());
        if (after.next === "dead") return { state: "dead", error: verdict.error };
        this.#again(entry, attempts, after.dueMs, verdict.error);
        return null;
      }
    }
  }

  #again(entry: QueueEntry, attempts: number, dueMs: number, error: CommandError | null): void {
    this.#parts.store.again(entry.sequence, attempts, dueMs, error);
    this.#parts.retries.add(entry, dueMs);
    this.#parts.expect(entry);
  }
}
