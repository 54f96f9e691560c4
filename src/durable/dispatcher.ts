import type { Backoff } from "../core/backoff.ts";
import { TIMER_MS_MAX } from "../core/clock.ts";
import type { CommandError } from "../core/command.ts";
import { type AttemptResult, type DeliveryVerdict, judgeAnswer, judgeWhole } from "../core/delivery/answer.ts";
import type { UpstreamLine } from "../core/delivery/line.ts";
import { OwnHolds } from "../core/delivery/own-holds.ts";
import { afterSpent } from "../core/delivery/retries.ts";
import { Turns } from "../core/delivery/turns.ts";
import type { JsonText } from "../core/json.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { DeliveringExecutor } from "../executor/port.ts";
import { routeOf } from "../executor/upstream/routes.ts";
import { wholeOf } from "../executor/upstream/whole.ts";
import { logFields } from "../identity/caller.ts";
import type { CommandEnd, CommandRow } from "./command-row.ts";
import type { EngineParts } from "./engine-parts.ts";
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

export class Dispatcher implements Works {
  readonly #parts: EngineParts;
  readonly #line: UpstreamLine;
  readonly #executor: DeliveringExecutor;
  readonly #backoff: Backoff;
  readonly #hooks: WorkHooks;
  readonly #holds: OwnHolds;
  readonly #turns: Turns;
  #timer: number | null = null;
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
    this.#holds = new OwnHolds(backoff, (sequence) => parts.retries.has(sequence) || parts.running.has(sequence));
    this.#turns = new Turns(parts.queue, parts.retries);
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
      const entry = this.#turns.next(this.#line.probing, nowMs);
      if (entry === undefined) return retries.nextDueMs();
      this.#start(entry, nowMs);
    }
    return null;
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
    const { running, pace, ledger, config } = this.#parts;
    const { row, entry, beganMs, whole } = attempt;
    const statuses = routeOf(config.routes, row.intent)?.statuses ?? {};
    const verdict = whole === null ? judgeAnswer(result, statuses, nowMs) : judgeWhole(result, whole.repeatable, nowMs);
    const heldMs =
      verdict.verdict === "hold" ? this.#holds.heldMs(row.sequence, verdict.waitMs, this.#line, nowMs) : null;
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
      this.#holds.forget(row.sequence);
      if (end.state === "dead") this.#logDead(row, end);
      tellEnded(this.#parts, entry, end.state === "dead" ? "dropped" : "success", nowMs);
    }
    this.#hooks.madeRoom();
    this.#begin(nowMs);
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
      case "delay": {
        const delayMs = this.#holds.delayMs(row.sequence, verdict.waitMs, nowMs);
        this.#again(entry, row.attempts, nowMs + delayMs, nowMs, verdict.error);
        return null;
      }
      case "again": {
        const attempts = row.attempts + 1;
        const after = afterSpent(
          attempts,
          this.#parts.config.MAX_ATTEMPTS,
          verdict.waitMs,
          this.#backoff,
          nowMs,
          Math.random(),
        );
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
    console.warn(JSON.stringify({ event: "command_dead", commandId, ...logFields(row.tenant), error }));
  }
}

/** A row has 2 MB, and text grows when it is written as JSON. */
const RESULT_LENGTH_MAX = 600_000;

/** What an upstream said, unless it is more than a row holds. */
function keepable(result: JsonText): JsonText {
  if (result.length <= RESULT_LENGTH_MAX) return result;
  return JSON.stringify({ omitted: `the answer has more than ${RESULT_LENGTH_MAX} characters as JSON` });
}
