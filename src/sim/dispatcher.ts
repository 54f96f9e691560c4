import { TIMER_MS_MAX } from "../core/clock.ts";
import type { EndState } from "../core/command.ts";
import { type AttemptResult, type DeliveryVerdict, judgeAnswer } from "../core/delivery/answer.ts";
import { OwnHolds } from "../core/delivery/own-holds.ts";
import { afterSpent } from "../core/delivery/retries.ts";
import { Turns } from "../core/delivery/turns.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { Life } from "./life.ts";
import type { Row } from "./rows.ts";

/**
 * Delivery to the backend, thinly: what `durable/dispatcher.ts` does around the core, so many attempts at a time. Every
 * step is written before the next one is taken, and an attempt leaves the object only once that is committed.
 */

/** An attempt that is under way. */
interface Attempt {
  readonly row: Row;
  readonly beganMs: number;
}

const NO_ANSWER: AttemptResult = { kind: "broken", code: "timeout", why: "no answer" };

export class Dispatcher {
  readonly #life: Life;
  readonly #madeRoom: () => void;
  /** The timer that counts: one that was set before another is passed over. */
  #timer = 0;
  readonly #holds: OwnHolds;
  readonly #turns: Turns;

  /** @param madeRoom called when places in the queue may have come free */
  constructor(life: Life, madeRoom: () => void) {
    this.#life = life;
    this.#madeRoom = madeRoom;
    const { queue, retries, running, world } = life;
    this.#holds = new OwnHolds(world.spec.backoff, (sequence) => retries.has(sequence) || running.has(sequence));
    this.#turns = new Turns(queue, retries);
  }

  /** Begins all that may begin now, and sets the timer for what may begin later. */
  begin(): void {
    const { world, pace, outbox } = this.#life;
    const nowMs = world.clock();
    const nextMs = this.#beginAndRefill(nowMs);
    pace.setBusy(this.#life.waiting > 0, nowMs);
    this.#timer += 1;
    if (nextMs === null) return;
    const timer = this.#timer;
    outbox.later(Math.min(TIMER_MS_MAX, Math.max(1, nextMs - nowMs)), () => {
      if (timer === this.#timer) this.begin();
    });
  }

  /** Begins what waits, and what comes into the queue because places came free by that. @returns as {@link #beginAll} */
  #beginAndRefill(nowMs: number): number | null {
    for (;;) {
      const before = this.#life.waiting;
      const nextMs = this.#beginAll(nowMs);
      const left = this.#life.waiting;
      if (left < before) this.#madeRoom();
      if (this.#life.waiting === left) return nextMs;
    }
  }

  /** @returns when to look again; null: when an attempt ends or a command comes */
  #beginAll(nowMs: number): number | null {
    const { running, retries, line, world } = this.#life;
    while (running.size < world.spec.concurrency && this.#life.waiting + retries.size > 0) {
      const atMs = line.beginsAtMs(running.values(), nowMs);
      if (atMs === null || atMs > nowMs) return atMs;
      const entry = this.#turns.next(line.probing, nowMs);
      if (entry === undefined) return retries.nextDueMs();
      this.#attempt(entry, nowMs);
    }
    return null;
  }

  #attempt(entry: QueueEntry, nowMs: number): void {
    const { disk, running, deadlines, pace, line, world, outbox } = this.#life;
    const row = this.#life.row(entry.sequence);
    disk.rows.put(row.sequence, { ...row, state: "running" });
    line.begin(nowMs);
    running.set(row.sequence, nowMs);
    deadlines.remove(row.sequence);
    pace.began(nowMs);
    if (row.notBeforeMs === null && row.state !== "running") world.began(nowMs - row.acceptedAtMs);
    const attempt = { row, beganMs: nowMs };
    const id = world.sabotage === "other-id" && row.attempts > 0 ? `${row.id}-${row.attempts}` : row.id;
    outbox.send(() => this.#deliver(attempt, id));
  }

  /** Outside of the object: the backend answers, or the time is over, whichever is first. */
  #deliver(attempt: Attempt, id: string): void {
    const { world, outbox } = this.#life;
    let answered = false;
    const answer = (result: AttemptResult) => {
      if (answered) return;
      answered = true;
      outbox.later(0, () => this.#settle(attempt, result));
    };
    world.checks.delivered(attempt.row.sequence, id);
    world.backend.deliver(() => undefined, answer);
    if (!answered) world.loop.after(world.spec.timeoutMs, () => answer(NO_ANSWER));
  }

  /** Writes what came of an attempt, and goes on. */
  #settle({ row, beganMs }: Attempt, result: AttemptResult): void {
    const { running, pace, line, world } = this.#life;
    const nowMs = world.clock();
    const verdict = judgeAnswer(result, {}, nowMs);
    const heldMs = verdict.verdict === "hold" ? this.#holds.heldMs(row.sequence, verdict.waitMs, line, nowMs) : null;
    if (heldMs === null) line.after(verdict, row.attempts > 0, beganMs, nowMs, world.random());
    const end = this.#endOf(row, verdict, heldMs ?? 0, nowMs);
    if (end !== null || world.sabotage !== "slot-leak") running.delete(row.sequence);
    pace.stopped(Math.max(0, nowMs - beganMs), nowMs);
    if (end !== null) {
      this.#holds.forget(row.sequence);
      this.#end(row, end, nowMs);
      pace.finished(1, nowMs);
    }
    this.#madeRoom();
    this.begin();
  }

  #end(row: Row, state: EndState, nowMs: number): void {
    const { disk, outbox, world, flow, inFlightThen } = this.#life;
    disk.end(row.sequence, state);
    const then = inFlightThen.get(row.sequence);
    inFlightThen.delete(row.sequence);
    const tookMs = Math.max(0, nowMs - row.acceptedAtMs);
    const how = state === "dead" ? "dropped" : "success";
    if (then !== undefined) flow.finished(how, tookMs, then, nowMs, world.random());
    outbox.booked(() => {
      world.checks.ended(row.sequence, state);
      world.ended(row);
    });
  }

  /** How the verdict ends the command; null when it waits for another attempt, which is then written. */
  #endOf(row: Row, verdict: DeliveryVerdict, heldMs: number, nowMs: number): EndState | null {
    switch (verdict.verdict) {
      case "succeeded":
      case "failed":
        return verdict.verdict;
      case "hold":
        this.#again(row, row.attempts, nowMs + heldMs, nowMs);
        return null;
      case "delay":
        this.#again(row, row.attempts, nowMs + this.#holds.delayMs(row.sequence, verdict.waitMs, nowMs), nowMs);
        return null;
      case "again": {
        const { attemptsMax, backoff } = this.#life.world.spec;
        const attempts = row.attempts + 1;
        const after = afterSpent(attempts, attemptsMax, verdict.waitMs, backoff, nowMs, this.#life.world.random());
        if (after.next === "dead") return "dead";
        this.#again(row, attempts, after.dueMs, nowMs);
        return null;
      }
      case "undeliverable":
        return "dead";
    }
  }

  #again(row: Row, attempts: number, dueMs: number, nowMs: number): void {
    const { disk, retries } = this.#life;
    const again: Row = { ...row, state: "queued", attempts, notBeforeMs: dueMs };
    disk.rows.put(row.sequence, again);
    retries.add(again, dueMs, nowMs);
    this.#life.expect(again);
  }
}
