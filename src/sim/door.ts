import { type EngineHealth, fullForMs, HEALTHY, scarceRoom } from "../core/depth-gate.ts";
import type { OverloadCode } from "../core/problem.ts";
import type { QueueEntry } from "../core/queue.ts";
import { codeOf } from "../core/queue.ts";
import { type Waiter, WaitingRoom } from "../core/waiting-room.ts";
import { claimKey, releaseKey, useKey } from "./keys.ts";
import type { Life } from "./life.ts";
import { type Refusal, refusing } from "./refusing.ts";
import type { Row } from "./rows.ts";
import type { Answer, Submission } from "./submission.ts";

/**
 * The engine's door, thinly: what `durable/admission.ts` does around the core. It takes a
 * command, lets its caller wait for room, or refuses it; the check of the bound and the place are one step.
 */

interface Waiting {
  readonly submission: Submission;
  readonly answer: Answer;
}

export class Door {
  readonly #life: Life;
  readonly #accepted: () => void;
  readonly #room: WaitingRoom<Waiting>;

  /** @param accepted called with each command that has its place */
  constructor(life: Life, accepted: () => void) {
    this.#life = life;
    this.#accepted = accepted;
    this.#room = new WaitingRoom(life.world.spec.waitersMax);
  }

  submit(submission: Submission, answer: Answer): void {
    const { key, tenant } = submission;
    if (key === null) {
      this.#submit(submission, answer);
      return;
    }
    const nowMs = this.#life.world.clock();
    const health = this.#health(nowMs);
    const known = claimKey(this.#life, tenant, key, nowMs);
    if (known !== null) {
      this.#life.outbox.send(() => answer({ ...known, health }));
      return;
    }
    this.#submit(submission, (submitted) => {
      releaseKey(this.#life, tenant, key);
      answer(submitted);
    });
  }

  #submit(submission: Submission, answer: Answer): void {
    const nowMs = this.#life.world.clock();
    this.#hearWanting(submission, nowMs);
    if (submission.critical) {
      this.#offer(submission, answer);
      return;
    }
    this.admitWaiting();
    const refusal = this.#refusalOf(submission, nowMs);
    if (refusal === null && !this.#room.has(submission.tenant)) {
      this.#offer(submission, answer);
      return;
    }
    if (refusal !== null && this.#defers(refusal)) {
      this.#defer(submission, answer);
      return;
    }
    const forRoom = refusal === null || refusal === "queue_full";
    if (forRoom && this.#life.world.spec.enqueueWaitMs > 0) this.#waitForRoom(submission, answer);
    else this.#refuse(submission, refusal ?? "queue_full", answer);
  }

  /** Takes a caller out of the line: it has gone, or its time is over. */
  leave(token: string): void {
    const nowMs = this.#life.world.clock();
    this.#settle(this.#room.leave(token), (submission) => this.#refusalOf(submission, nowMs) ?? "queue_full");
  }

  /** Gives room that has come free to those who wait for it. */
  admitWaiting(): void {
    if (this.#room.size === 0) return;
    const nowMs = this.#life.world.clock();
    for (const { what } of this.#room.waiters()) this.#life.queue.wants(what.submission, nowMs);
    const refusalOf = (submission: Submission) => this.#refusalOf(submission, nowMs);
    while (refusing(this.#life, nowMs) === null) {
      const next = this.#room.next(({ submission }) => refusalOf(submission) !== "queue_full");
      if (!this.#settle(next, refusalOf)) return;
    }
  }

  #settle(waiter: Waiter<Waiting> | undefined, refusalOf: (submission: Submission) => Refusal | null): boolean {
    if (waiter === undefined) return false;
    const { submission, answer } = waiter.what;
    const refusal = refusalOf(submission);
    const { outbox, world } = this.#life;
    outbox.booked(() => world.checks.waited(submission.token, refusal === null));
    if (refusal === null) this.#offer(submission, answer);
    else this.#refuse(submission, refusal, answer);
    return true;
  }

  #hearWanting({ wanting }: Submission, nowMs: number): void {
    if (wanting.length === 0) return;
    const full = refusing(this.#life, nowMs);
    const ahead = full === null || full.code === "write_limit" ? this.#life.waiting : full.ahead;
    for (const asker of wanting) {
      this.#life.queue.wants(asker, nowMs, asker.agoMs);
      this.#life.estimates.toldElsewhere(asker, asker.refused, ahead, nowMs);
    }
  }

  #offer(submission: Submission, answer: Answer): void {
    const { world, outbox, queue, places } = this.#life;
    const acceptedAtMs = world.clock();
    const { tenant, weight, critical, bytes, deadlineMs } = submission;
    const deadlineAtMs = deadlineMs === null ? null : acceptedAtMs + deadlineMs;
    const candidate = { tenant, weight, critical, bytes, acceptedAtMs, deadlineAtMs };
    if (world.sabotage === "two-step-queue" && !critical) {
      // The row first, and the place once that is done: between the two others are let in, too.
      outbox.later(1, () => this.#take(candidate, submission.key, answer));
      return;
    }
    const refusal = queue.refusalOf(candidate, acceptedAtMs, places);
    if (refusal === null) this.#take(candidate, submission.key, answer);
    else this.#refuse(submission, refusal === "full" ? "queue_full" : refusal, answer);
  }

  /** Whether what is refused for this reason is saved for later instead. */
  #defers(refusal: Refusal): boolean {
    const { world, deferred } = this.#life;
    return world.spec.overflow === "defer" && refusal !== "write_limit" && deferred.size < world.spec.deferredMax;
  }

  /** Saves a command with no work planned. */
  #defer({ tenant, weight, critical, bytes, deadlineMs, key }: Submission, answer: Answer): void {
    const { world, disk, deferred, flow } = this.#life;
    const acceptedAtMs = world.clock();
    const sequence = disk.nextSequence();
    const deadlineAtMs = deadlineMs === null ? null : acceptedAtMs + deadlineMs;
    const place = { sequence, tenant, weight, critical, bytes, acceptedAtMs, deadlineAtMs };
    const row: Row = { ...place, id: `c${sequence}`, state: "deferred", attempts: 0, notBeforeMs: null };
    disk.accept(row);
    deferred.set(sequence, row);
    flow.written(critical, acceptedAtMs);
    this.#saved(row, key, answer, acceptedAtMs);
  }

  #take(
    candidate: Omit<Row, "sequence" | "id" | "state" | "attempts" | "notBeforeMs">,
    key: string | null,
    answer: Answer,
  ): void {
    const { world, queue, disk, flow } = this.#life;
    const nowMs = world.clock();
    const write = () => {
      const sequence = disk.nextSequence();
      disk.accept({ ...candidate, sequence, id: `c${sequence}`, state: "queued", attempts: 0, notBeforeMs: null });
      return sequence;
    };
    const broken = world.sabotage === "two-step-queue";
    const offered = broken
      ? { ...candidate, sequence: write() }
      : queue.offer(candidate, write, nowMs, this.#life.places);
    if (typeof offered === "string") throw new Error("a place that was there a moment ago is gone");
    if (broken) queue.restore(offered);
    flow.written(candidate.critical, nowMs);
    this.#life.inFlightThen.set(offered.sequence, this.#life.inFlight);
    this.#saved(offered, key, answer, nowMs);
  }

  /** A command is on disk: its caller hears of it, and whoever works may begin. */
  #saved(entry: QueueEntry, key: string | null, answer: Answer, nowMs: number): void {
    const { world, outbox } = this.#life;
    const { sequence, tenant } = entry;
    this.#life.expect(entry);
    if (key !== null) useKey(this.#life, tenant, key, sequence);
    outbox.booked(() => world.checks.took(sequence, `c${sequence}`, key));
    this.#accepted();
    const health = this.#health(nowMs);
    const lastTold = this.#life.estimates.lastToldSeconds(tenant, nowMs);
    outbox.send(() => answer({ kind: "accepted", sequence, health, lastTold }));
  }

  #waitForRoom(submission: Submission, answer: Answer): void {
    const { world, outbox, queue } = this.#life;
    const { token, tenant } = submission;
    const nowMs = world.clock();
    if (!this.#room.enter({ token, tenant, what: { submission, answer } })) {
      this.#refuse(submission, this.#refusalOf(submission, nowMs) ?? "queue_full", answer);
      return;
    }
    queue.wants(submission, nowMs);
    world.checks.waits(token, world.loop.nowMs + world.spec.enqueueWaitMs);
    if (world.sabotage !== "waits-without-end") outbox.later(world.spec.enqueueWaitMs, () => this.leave(token));
  }

  #refusalOf({ tenant, bytes, weight }: Submission, nowMs: number): Refusal | null {
    const full = refusing(this.#life, nowMs);
    if (full !== null) return full.code;
    const candidate = { tenant, bytes, weight, critical: false };
    const refusal = this.#life.queue.refusalOf(candidate, nowMs, this.#life.places);
    return refusal === "full" ? "queue_full" : refusal;
  }

  #refuse(submission: Submission, refusal: Refusal, answer: Answer): void {
    const { world, outbox, queue, disk } = this.#life;
    const nowMs = world.clock();
    const code = codeOf(refusal);
    const before = disk.writes;
    if (world.sabotage === "refusal-writes") disk.save({});
    if (!submission.critical) queue.wants(submission, nowMs);
    const told = this.#retryAfterSeconds(submission, code, nowMs);
    const health = this.#health(nowMs);
    world.checks.refused(submission.critical, told, disk.writes > before);
    const overShare = refusal === "over_share";
    outbox.send(() => answer({ kind: "refused", code, retryAfterSeconds: told, overShare, health }));
  }

  #retryAfterSeconds(submission: Submission, code: OverloadCode, nowMs: number): number {
    const full = refusing(this.#life, nowMs);
    if (full?.code === "write_limit" && code === full.code) {
      return Math.max(1, Math.ceil(full.waitMs / 1000));
    }
    const ahead = full?.code === code && "ahead" in full ? full.ahead : this.#life.waiting;
    return this.#life.estimates.retryAfterSeconds(submission, ahead, nowMs, this.#life.world.random());
  }

  #health(nowMs: number): EngineHealth {
    const full = refusing(this.#life, nowMs);
    if (full?.code === "write_limit") return HEALTHY;
    const next = full === null ? this.#scarceRoom() : { ...full, room: 0 };
    if (next === null || this.#defers(next.code)) return HEALTHY;
    const lastsMs = fullForMs(this.#life.places, this.#life.estimates.speed(nowMs).perSecond);
    return { limit: next.code, room: next.room, lastsMs, ...this.#life.estimates.forEdge(next.ahead, nowMs) };
  }

  #scarceRoom() {
    const { queue, waiting, flow, inFlight, places, world } = this.#life;
    const seats = world.spec.enqueueWaitMs > 0 ? this.#room.free : 0;
    return scarceRoom({ queueRoom: queue.room, seats, waiting, limit: flow.limit, inFlight, places });
  }
}
