import type { CommandView } from "../core/command.ts";
import { type EngineHealth, OVER_SHARE_DETAIL } from "../core/depth-gate.ts";
import { type Intent, isCritical } from "../core/intents.ts";
import { queueRetryAfterSeconds } from "../core/pace.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";
import type { Candidate, QueueRefusal } from "../core/queue.ts";
import { WaitingRoom } from "../core/waiting-room.ts";
import type { EngineParts } from "./engine-parts.ts";

/**
 * The door of the engine: takes a command, lets its caller wait for room, or refuses it. Between the check of the
 * bound and the row on disk there is no await, which is what makes the bound exact.
 */

export interface Submission {
  readonly tenant: string;
  readonly intent: Intent;
  /** The payload as JSON text, already checked. */
  readonly payload: string;
  /** Its size in UTF-8. */
  readonly bytes: number;
  /** The tenant's weight in the queue: that of its tier. */
  readonly weight: number;
  /** Names this call while it waits for room, so that its caller can leave the line. */
  readonly token: string;
}

export type Submitted =
  | { readonly kind: "accepted"; readonly command: CommandView; readonly health: EngineHealth }
  | { readonly kind: "refused"; readonly problem: Problem; readonly health: EngineHealth };

/** Why a command is not taken: an operator's pause, or the queue. */
type Refusal = "paused" | QueueRefusal;

interface Waiting {
  readonly submission: Submission;
  readonly answer: (answer: Submitted) => void;
  readonly deadline: ReturnType<typeof setTimeout>;
}

export class Admission {
  readonly #parts: EngineParts;
  readonly #accepted: (sequence: number) => CommandView;
  readonly #room: WaitingRoom<Waiting>;
  readonly #refused = new Map<string, number>();

  /** @param accepted called with each command that is queued and on disk; gives what its caller is told */
  constructor(parts: EngineParts, accepted: (sequence: number) => CommandView) {
    this.#parts = parts;
    this.#accepted = accepted;
    this.#room = new WaitingRoom(parts.config.ENQUEUE_WAITERS_MAX);
  }

  /** Resolves when the command is accepted or refused, at the latest at the end of its wait for room. */
  async submit(submission: Submission): Promise<Submitted> {
    const critical = isCritical(submission.intent);
    if (!critical) {
      if (this.#closed) return this.#refuse("paused");
      // Time alone may have opened a place; it belongs to those who were here first.
      this.admitWaiting();
    }
    const inLine = !critical && this.#room.has(submission.tenant);
    const offered = inLine ? this.#refusalOf(submission) : this.#offer(submission);
    if (typeof offered !== "string") return offered;
    if (critical || this.#parts.enqueueWaitMs === 0) return this.#refuse(offered);
    return await this.#waitForRoom(submission, offered);
  }

  /** Takes a caller out of the line: it has gone, or its time is over. */
  leave(token: string): void {
    const waiter = this.#room.leave(token);
    if (waiter === undefined) return;
    clearTimeout(waiter.what.deadline);
    waiter.what.answer(this.#refuse(this.#refusalOf(waiter.what.submission)));
  }

  /** Gives room that has come free to those who wait for it: the first in line whose tenant may have it. */
  admitWaiting(): void {
    if (this.#room.size === 0) return;
    const { queue } = this.#parts;
    const nowMs = Date.now();
    for (const { what } of this.#room.waiters()) queue.keepWanting(candidateOf(what.submission, nowMs), nowMs);
    while (queue.hasRoom(1)) {
      const wouldTake = ({ submission }: Waiting) => queue.refusalOf(candidateOf(submission, nowMs), nowMs) === null;
      const waiter = this.#room.next(wouldTake);
      if (waiter === undefined) return;
      clearTimeout(waiter.what.deadline);
      const offered = this.#offer(waiter.what.submission);
      waiter.what.answer(typeof offered === "string" ? this.#refuse(offered) : offered);
    }
  }

  /** Sends everyone away who waits for room: the engine takes nothing now. */
  turnAway(): void {
    for (;;) {
      const waiter = this.#room.next(() => true);
      if (waiter === undefined) return;
      clearTimeout(waiter.what.deadline);
      waiter.what.answer(this.#refuse("paused"));
    }
  }

  /** Refusals by code since the object started, those of the edge included as far as it has told. */
  get refused(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#refused);
  }

  countRefusals(byCode: Readonly<Record<string, number>>): void {
    for (const [code, n] of Object.entries(byCode)) this.#refused.set(code, (this.#refused.get(code) ?? 0) + n);
  }

  /** An operator has it take nothing. */
  get #closed(): boolean {
    const { paused, accepting } = this.#parts.settings;
    return paused && !accepting;
  }

  #offer(submission: Submission): Submitted | QueueRefusal {
    const { queue, ledger, keys } = this.#parts;
    const { tenant, intent, payload, bytes, weight } = submission;
    const acceptedAtMs = Date.now();
    const entry = queue.offer(candidateOf(submission, acceptedAtMs), keys.next, acceptedAtMs);
    if (typeof entry === "string") return entry;
    ledger.accept({ sequence: entry.sequence, tenant, intent, payload, bytes, weight, acceptedAtMs });
    return { kind: "accepted", command: this.#accepted(entry.sequence), health: this.#health() };
  }

  #waitForRoom(submission: Submission, refusal: QueueRefusal): Promise<Submitted> {
    return new Promise((answer) => {
      const deadline = setTimeout(() => this.leave(submission.token), this.#parts.enqueueWaitMs);
      const { token, tenant } = submission;
      if (this.#room.enter({ token, tenant, what: { submission, answer, deadline } })) return;
      clearTimeout(deadline);
      answer(this.#refuse(refusal));
    });
  }

  /** Why one that waits in line is not taken now. Room that would do for it is somebody else's share. */
  #refusalOf({ bytes }: Submission): QueueRefusal {
    return this.#parts.queue.hasRoom(bytes) ? "over_share" : "full";
  }

  #refusing(): OverloadCode | null {
    if (this.#closed) return "engine_paused";
    return this.#parts.queue.hasRoom(1) ? null : "queue_full";
  }

  #refuse(refusal: Refusal): Submitted {
    const code = refusal === "paused" ? "engine_paused" : "queue_full";
    this.countRefusals({ [code]: 1 });
    const health = this.#health();
    const { retryAfterSeconds } = health;
    return {
      kind: "refused",
      problem: { code, detail: this.#detail(refusal), retryAfterSeconds },
      // One tenant's share says nothing of what the engine takes from the others.
      health: refusal === "over_share" ? { ...health, overShare: true } : { ...health, refusing: code },
    };
  }

  #detail(refusal: Refusal): string {
    switch (refusal) {
      case "paused":
        return "An operator has paused the engine, and it takes no commands.";
      case "over_share":
        return OVER_SHARE_DETAIL;
      case "full": {
        const { count, bytes } = this.#parts.queue.bounds;
        return `The command queue is full (at most ${count} commands, ${bytes} bytes). Everyone has to wait.`;
      }
    }
  }

  #health(): EngineHealth {
    const { settings, pace, waiting } = this.#parts;
    const pacePerSecond = settings.paused ? null : pace.perSecond(Date.now());
    const retryAfterSeconds = queueRetryAfterSeconds(waiting, pacePerSecond, Math.random());
    return { refusing: this.#refusing(), overShare: false, retryAfterSeconds };
  }
}

function candidateOf({ tenant, intent, bytes, weight }: Submission, acceptedAtMs: number): Candidate {
  return { tenant, bytes, weight, critical: isCritical(intent), acceptedAtMs };
}
