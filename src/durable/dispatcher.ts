import { type Backoff, backoffCeilingMs } from "../core/backoff.ts";
import type { CommandError } from "../core/command.ts";
import { type AttemptResult, type DeliveryVerdict, judgeAnswer, judgeWhole } from "../core/delivery/answer.ts";
import { HOLD_MS_MAX } from "../core/delivery/circuit.ts";
import { afterSpent } from "../core/delivery/retries.ts";
import type { JsonObject } from "../core/json.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { DeliveringExecutor } from "../executor/port.ts";
import { wholeOf } from "../executor/upstream/whole.ts";
import type { CommandEnd, CommandRow } from "./command-row.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { UpstreamLine } from "./upstream-line.ts";
import { CONTINUE_MS, restartFromDisk, tellEnded, type WorkHooks, type Works } from "./works.ts";

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
  readonly #hooks: WorkHooks;
  /** Commands to which the upstream said "not now": when last, and how often in a row. */
  readonly #held = new Map<number, { readonly atMs: number; readonly times: number }>();
  #timer: number | null = null;
  /** Whether a command that waits for another attempt goes before a fresh one this time. */
  #isRepeatsTurn = false;
  /** When the next command may begin, as far as it is known; null: when something else happens. */
  #nextMs: number | null = null;

  constructor(
    parts: EngineParts,
    line: UpstreamLine,
    executor: DeliveringExecutor,
    backoff: Backoff,
    hooks: WorkHooks,
  ) {
    this.#parts = parts;
    this.#line = line;
    this.#executor = executor;
    this.#backoff = backoff;
    this.#hooks = hooks;
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
    this.#hooks.expire(nowMs);
    this.#nextMs = settings.paused ? null : this.#beginAndRefill(nowMs);
    pace.setBusy(!settings.paused && this.#parts.waiting > 0, nowMs);
    if (this.#nextMs !== null) {
      this.#timer = setTimeout(() => this.start(), Math.min(TIMER_MS_MAX, Math.max(1, this.#nextMs - nowMs)));
    }
  }

  /** Begins what waits, and what comes into the queue because places came free by that. @returns as {@link #beginAll} */
  #beginAndRefill(nowMs: number): number | null {
    for (;;) {
      const before = this.#parts.waiting;
      const nextMs = this.#beginAll(nowMs);
      const left = this.#parts.waiting;
      if (left < before) this.#hooks.madeRoom();
      if (this.#parts.waiting === left) return nextMs;
    }
  }

  /** @returns when to look again; null: when an attempt ends or a command comes */
  #beginAll(nowMs: number): number | null {
    const { running, retries, config } = this.#parts;
    while (running.size < config.UPSTREAM_CONCURRENCY && this.#parts.waiting + retries.size > 0) {
      const atMs = this.#line.beginsAtMs(running.values(), nowMs);
      if (atMs === null || atMs > nowMs) return atMs;
      const entry = this.#next(nowMs);
      if (entry === undefined) return retries.nextDueMs();
      this.#start(entry, nowMs);
    }
    return null;
  }

  /** Critical ones first; then fresh ones, in turn, and those that wait for another attempt, one after the other. */
  #next(nowMs: number): QueueEntry | undefined {
    const { queue, retries } = this.#parts;
    if (queue.criticalDepth > 0) return queue.take();
    // A probe may well fail: each one spends an attempt of another command.
    if (this.#line.probing) return queue.take() ?? retries.takeDue(nowMs);
    this.#isRepeatsTurn = !this.#isRepeatsTurn;
    if (this.#isRepeatsTurn) return retries.takeDue(nowMs) ?? queue.take();
    return queue.take() ?? retries.takeDue(nowMs);
  }

  #start(entry: QueueEntry, nowMs: number): void {
    const { store, running, deadlines, pace } = this.#parts;
    const row = store.get(entry.sequence);
    if (row === null) throw new Error(`queued command ${entry.sequence} has no row`);
    store.begin(entry.sequence, nowMs);
    this.#line.begin(nowMs);
    running.set(entry.sequence, nowMs);
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
    const { row, entry, beganMs, whole } = attempt;
    const verdict = whole === null ? judgeAnswer(result, nowMs) : judgeWhole(result, whole.repeatable, nowMs);
    const heldMs = verdict.verdict === "hold" ? this.#ownHoldMs(row.sequence, verdict.waitMs, nowMs) : null;
    // What the upstream says to this one alone is not for the others.
    if (heldMs === null) this.#line.after(verdict, row.attempts > 0, beganMs, nowMs, Math.random());
    const end = this.#endOf(attempt, verdict, heldMs ?? 0, nowMs);
    running.delete(row.sequence);
    pace.stopped(nowMs - beganMs, nowMs);
    if (end !== null) {
      const times = { attempts: row.attempts + 1, startedAtMs: row.startedAtMs ?? beganMs, finishedAtMs: nowMs };
      ledger.end(row.sequence, end, times);
      ledger.settle(nowMs);
      pace.finished(1, nowMs);
      this.#held.delete(row.sequence);
      if (end.state === "dead") this.#logDead(row, end);
      tellEnded(this.#parts, entry, end.state === "dead" ? "dropped" : "success", nowMs);
    }
    this.#hooks.madeRoom();
    this.#begin(nowMs);
  }

  /**
   * How long a command waits by itself that the upstream does not take now, though it has taken others since it said so
   * before; null: it is not about this command, and all wait.
   */
  #ownHoldMs(sequence: number, toldMs: number | null, nowMs: number): number | null {
    if (this.#held.size >= HELD_MAX) this.#forgetGone();
    const before = this.#held.get(sequence);
    const times = (before?.times ?? 0) + 1;
    this.#held.set(sequence, { atMs: nowMs, times });
    if (before === undefined || !this.#line.hasAnsweredSince(before.atMs)) return null;
    return Math.max(Math.min(toldMs ?? 0, HOLD_MS_MAX), backoffCeilingMs(times, this.#backoff));
  }

  /** What was cancelled or has expired between two attempts says nothing when it goes. */
  #forgetGone(): void {
    const { retries, running } = this.#parts;
    for (const sequence of this.#held.keys()) {
      if (!retries.has(sequence) && !running.has(sequence)) this.#held.delete(sequence);
    }
  }

  /** How the verdict ends the command; null when it waits for another attempt, which is then written. */
  #endOf({ entry, row }: Attempt, verdict: DeliveryVerdict, heldMs: number, nowMs: number): CommandEnd | null {
    switch (verdict.verdict) {
      case "succeeded":
        return { state: "succeeded", result: keepable(verdict.result) };
      case "failed":
        return { state: "failed", error: verdict.error, ...(verdict.result && { result: keepable(verdict.result) }) };
      case "undeliverable":
        return { state: "dead", error: verdict.error };
      case "hold":
        this.#again(entry, row.attempts, nowMs + heldMs, nowMs, null);
        return null;
      case "again": {
        const attempts = row.attempts + 1;
        const after = afterSpent(attempts, this.#parts.config.MAX_ATTEMPTS, this.#backoff, nowMs, Math.random());
        if (after.next === "dead") return { state: "dead", error: verdict.error };
        this.#again(entry, attempts, after.dueMs, nowMs, verdict.error);
        return null;
      }
    }
  }

  #again(entry: QueueEntry, attempts: number, dueMs: number, nowMs: number, error: CommandError | null): void {
    this.#parts.store.again(entry.sequence, attempts, dueMs, error);
    this.#parts.retries.add(entry, dueMs, nowMs);
    this.#parts.expect(entry);
  }

  #logDead(row: CommandRow, { error }: CommandEnd): void {
    const commandId = this.#parts.keys.format(row.sequence);
    console.warn(JSON.stringify({ event: "command_dead", commandId, tenant: row.tenant, error }));
  }
}

/** Commands remembered as held, before those are looked for that have gone. */
const HELD_MAX = 1_000;
/** A row has 2 MB, and text grows when it is written as JSON. */
const RESULT_LENGTH_MAX = 600_000;

/** What an upstream said, unless it is more than a row holds. */
function keepable(result: JsonObject): JsonObject {
  if (JSON.stringify(result).length <= RESULT_LENGTH_MAX) return result;
  return { omitted: `the answer has more than ${RESULT_LENGTH_MAX} characters as JSON` };
}
