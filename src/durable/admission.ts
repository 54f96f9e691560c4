import {
  type EngineHealth,
  fullForMs,
  GATE_INTERVAL_MS,
  HEALTHY,
  STORAGE_RETRY_SECONDS,
  STORAGE_SHORT,
  scarceRoom,
} from "../core/depth-gate.ts";
import { isCritical } from "../core/intents.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";
import { codeOf } from "../core/queue.ts";
import { wholeSeconds } from "../core/retry-after.ts";
import { type Waiter, WaitingRoom } from "../core/waiting-room.ts";
import type { EngineParts } from "./engine-parts.ts";
import { type Refusal, refusalDetail, refusing } from "./refusals.ts";
import { deadlineOf, type Submission, type Submitted } from "./submission.ts";

/**
 * The door of the engine: takes a command, lets its caller wait for room, saves it for later, or refuses it. Between the
 * check of the bound and the row on disk there is no await, which is what makes the bound exact.
 */

interface Waiting {
  readonly submission: Submission;
  readonly answer: (answer: Submitted | Promise<Submitted>) => void;
  readonly deadline: ReturnType<typeof setTimeout>;
}

export class Admission {
  readonly #parts: EngineParts;
  readonly #accepted: (sequence: number, submission: Submission, deferred: boolean) => Promise<Submitted>;
  readonly #room: WaitingRoom<Waiting>;

  /** @param accepted called with each command that has its place, to be written in this event; gives what its caller is told */
  constructor(
    parts: EngineParts,
    accepted: (sequence: number, submission: Submission, deferred: boolean) => Promise<Submitted>,
  ) {
    this.#parts = parts;
    this.#accepted = accepted;
    this.#room = new WaitingRoom(parts.config.ENQUEUE_WAITERS_MAX);
  }

  /** Resolves when the command is accepted or refused, at the latest at the end of its wait for room. */
  async submit(submission: Submission): Promise<Submitted> {
    const nowMs = Date.now();
    this.#hearWanting(submission, nowMs);
    const { queue, config } = this.#parts;
    if (submission.bytes > queue.bounds.bytes) return this.#tooLarge(submission.bytes, queue.bounds.bytes);
    if (isCritical(config.intents, submission.intent)) return this.#offer(submission);
    // Time alone may have opened a place; it belongs to those who were here first.
    this.admitWaiting();
    const refusal = this.#refusalOf(submission, nowMs);
    if (refusal === null && !this.#room.has(submission.tenant)) return this.#offer(submission);
    if (refusal !== null && this.#defers(refusal)) {
      if (!this.#parts.deferred.hasRoom(submission)) return this.#refuse(submission, "deferred");
      return this.#defer(submission, nowMs);
    }
    const { enqueueWaitMs } = this.#parts.flowSettings;
    const forRoom = refusal === null || refusal === "queue_full";
    if (forRoom && enqueueWaitMs > 0) return await this.#waitForRoom(submission, enqueueWaitMs);
    return this.#refuse(submission, refusal ?? "queue_full");
  }

  /** Takes a caller out of the line: it has gone, or its time is over. */
  leave(token: string): void {
    this.#settle(this.#room.leave(token), (submission) => this.#refusalOf(submission, Date.now()) ?? "queue_full");
  }

  /**
   * Gives room that has come free to those who wait for it: the first in line whose tenant may have it. Those who have
   * their share are told so, and do not stand in line for what is not theirs: their isolate has to hear that there is room.
   */
  admitWaiting(): void {
    if (this.#room.size === 0) return;
    const nowMs = Date.now();
    for (const { what } of this.#room.waiters()) this.#parts.queue.wants(what.submission, nowMs);
    const refusalOf = (submission: Submission) => this.#refusalOf(submission, nowMs);
    while (refusing(this.#parts, nowMs) === null) {
      const next = this.#room.next(({ submission }) => refusalOf(submission) !== "queue_full");
      if (!this.#settle(next, refusalOf)) return;
    }
  }

  /** Sends everyone away who waits for room: the engine takes nothing now. */
  turnAway(): void {
    while (this.#settle(this.#room.next(anyone), () => "engine_paused"));
  }

  /** Answers one who waited: takes its command, or refuses it. False when there is nobody. */
  #settle(waiter: Waiter<Waiting> | undefined, refusalOf: (submission: Submission) => Refusal | null): boolean {
    if (waiter === undefined) return false;
    const { submission, answer, deadline } = waiter.what;
    const refusal = refusalOf(submission);
    clearTimeout(deadline);
    answer(refusal === null ? this.#offer(submission) : this.#refuse(submission, refusal));
    return true;
  }

  /** Who was refused at the edge wants a place here, and was told a time to come back. */
  #hearWanting({ wanting = [] }: Submission, nowMs: number): void {
    if (wanting.length === 0) return;
    const why = refusing(this.#parts, nowMs);
    const ahead = why === null || why.code === "write_limit" ? this.#parts.waiting : why.ahead;
    for (const asker of wanting) {
      this.#parts.queue.wants(asker, nowMs, asker.agoMs);
      this.#parts.estimates.toldElsewhere(asker, asker.refused, ahead, nowMs);
    }
  }

  #offer(submission: Submission): Submitted | Promise<Submitted> {
    const { queue, flow, inFlight, config } = this.#parts;
    const { tenant, intent, bytes, weight } = submission;
    const critical = isCritical(config.intents, intent);
    const acceptedAtMs = Date.now();
    const deadlineAtMs = deadlineOf(submission, acceptedAtMs);
    const candidate = { tenant, bytes, weight, critical, acceptedAtMs, deadlineAtMs };
    // The row is written in the middle of the offer: after the bound was checked, before the place is taken.
    const entry = queue.offer(candidate, () => this.#write(submission, acceptedAtMs), acceptedAtMs, this.#parts.places);
    if (typeof entry === "string") return this.#refuse(submission, entry === "full" ? "queue_full" : entry);
    this.#parts.expect(entry);
    flow.written(critical, acceptedAtMs);
    inFlight.begin(entry.sequence, this.#parts.inFlightCount);
    return this.#accepted(entry.sequence, submission, false);
  }

  /** Saves a command with no work planned. */
  #defer(submission: Submission, nowMs: number): Promise<Submitted> {
    const sequence = this.#write(submission, nowMs);
    this.#parts.deferred.add(sequence, submission);
    this.#parts.expect({ sequence, deadlineAtMs: deadlineOf(submission, nowMs) });
    this.#parts.flow.written(false, nowMs);
    return this.#accepted(sequence, submission, true);
  }

  /** @returns the command's sequence number */
  #write(submission: Submission, acceptedAtMs: number): number {
    const { tenant, intent, payload, bytes, weight, headers } = submission;
    const sequence = this.#parts.keys.next();
    const deadlineAtMs = deadlineOf(submission, acceptedAtMs);
    const command = { sequence, tenant, intent, payload, bytes, weight, headers, acceptedAtMs, deadlineAtMs };
    this.#parts.ledger.accept(command);
    return sequence;
  }

  /** Whether what is refused for this reason is saved for later instead. */
  #defers(refusal: Refusal): boolean {
    const { config, deferred, disk } = this.#parts;
    if (config.OVERFLOW === "refuse" || refusal === "engine_paused" || refusal === "write_limit") return false;
    return deferred.size < config.DEFERRED_MAX && !disk.isShort;
  }

  #waitForRoom(submission: Submission, waitMs: number): Promise<Submitted> {
    return new Promise((answer) => {
      const deadline = setTimeout(() => this.leave(submission.token), waitMs);
      const waiting = { token: submission.token, tenant: submission.tenant, what: { submission, answer, deadline } };
      if (this.#room.enter(waiting)) {
        this.#parts.queue.wants(submission, Date.now());
        return;
      }
      clearTimeout(deadline);
      answer(this.#refuse(submission, this.#refusalOf(submission, Date.now()) ?? "queue_full"));
    });
  }

  /** Why this very submission may not come in now; null when it may. Its tenant may also have its share. */
  #refusalOf({ tenant, bytes, weight }: Submission, nowMs: number): Refusal | null {
    const why = refusing(this.#parts, nowMs, bytes);
    if (why !== null) return why.code;
    const { queue, places } = this.#parts;
    const refusal = queue.refusalOf({ tenant, bytes, weight, critical: false }, nowMs, places);
    return refusal === "full" ? "queue_full" : refusal;
  }

  #refuse(submission: Submission, refusal: Refusal): Submitted {
    const nowMs = Date.now();
    const { queue, config, flow, refusals } = this.#parts;
    const code = codeOf(refusal);
    refusals.add({ [code]: 1 });
    const wants = refusal === code || refusal === "over_share";
    if (wants && code !== "engine_paused" && !isCritical(config.intents, submission.intent))
      queue.wants(submission, nowMs);
    const retryAfterSeconds = this.#retryAfterSeconds(submission, code, nowMs);
    const detail = refusalDetail(refusal, queue.bounds, flow, config.STORAGE_BYTES_MAX);
    return refused({ code, detail, retryAfterSeconds }, this.health(nowMs), refusal === "over_share");
  }

  #retryAfterSeconds(submission: Submission, code: OverloadCode, nowMs: number): number {
    if (code === "storage_full") return STORAGE_RETRY_SECONDS;
    const why = refusing(this.#parts, nowMs);
    if (why?.code === "write_limit" && code === why.code) return wholeSeconds(why.waitMs);
    // A caller whose wait is over, or whose tenant has its share, is refused though there may be room for others.
    const ahead = why?.code === code && "ahead" in why ? why.ahead : this.#parts.waiting;
    return this.#parts.estimates.retryAfterSeconds(submission, ahead, nowMs, Math.random());
  }

  /** What no queue of these bounds can ever hold. */
  #tooLarge(bytes: number, bytesMax: number): Submitted {
    const detail = `The command has ${bytes} bytes as it is stored; the queue holds ${bytesMax}.`;
    return refused({ code: "payload_too_large", detail }, this.health(Date.now()));
  }

  /** What a caller is told that has gone before its command was looked at: nobody hears it. */
  gone(): Submitted {
    return refused({ code: "queue_full", detail: "You have hung up.", retryAfterSeconds: 1 }, this.health(Date.now()));
  }

  /** What the edge may go by for a moment: a state that lasts, and not the second of a write rate. */
  health(nowMs: number): EngineHealth {
    const why = refusing(this.#parts, nowMs);
    if (why?.code === "write_limit") return HEALTHY;
    const next = why === null ? this.#scarceRoom() : { ...why, room: 0 };
    if (next === null || this.#defers(next.code)) return HEALTHY;
    if (next.code === "storage_full") return STORAGE_SHORT;
    const { settings, places, estimates } = this.#parts;
    const lastsMs = settings.paused ? GATE_INTERVAL_MS : fullForMs(places, estimates.speed(nowMs).perSecond);
    return { limit: next.code, room: next.room, lastsMs, ...estimates.forEdge(next.ahead, nowMs) };
  }

  #scarceRoom() {
    const { queue, waiting, flow, flowSettings, inFlightCount: inFlight, places } = this.#parts;
    const bounds = { queueRoom: queue.room, waiting, limit: flow.limit, inFlight, places };
    return scarceRoom({ ...bounds, seats: flowSettings.enqueueWaitMs > 0 ? this.#room.free : 0 });
  }
}

const anyone = () => true;

function refused(problem: Problem, health: EngineHealth, overShare = false): Submitted {
  return { kind: "refused", problem, health, overShare };
}
