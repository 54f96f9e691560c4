import type { CommandView } from "../core/command.ts";
import type { EngineHealth } from "../core/depth-gate.ts";
import { type Intent, isCritical } from "../core/intents.ts";
import { queueRetryAfterSeconds } from "../core/pace.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";
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
  /** Names this call while it waits for room, so that its caller can leave the line. */
  readonly token: string;
}

export type Submitted =
  | { readonly kind: "accepted"; readonly command: CommandView; readonly health: EngineHealth }
  | { readonly kind: "refused"; readonly problem: Problem; readonly health: EngineHealth };

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
    const refusing = critical ? null : this.#refusing();
    if (refusing === "engine_paused") return this.#refuse(refusing);
    if (refusing === null && (critical || this.#room.size === 0)) return this.#offer(submission);
    return this.#parts.enqueueWaitMs === 0 ? this.#refuse("queue_full") : await this.#waitForRoom(submission);
  }

  /** Takes a caller out of the line: it has gone, or its time is over. */
  leave(token: string): void {
    const waiter = this.#room.leave(token);
    if (waiter === undefined) return;
    clearTimeout(waiter.what.deadline);
    waiter.what.answer(this.#refuse("queue_full"));
  }

  /** Gives room that has come free to those who wait for it, in their order. */
  admitWaiting(): void {
    for (;;) {
      const waiter = this.#room.next((bytes) => this.#parts.queue.hasRoom(bytes));
      if (waiter === undefined) return;
      clearTimeout(waiter.what.deadline);
      waiter.what.answer(this.#offer(waiter.what.submission));
    }
  }

  /** Sends everyone away who waits for room: the engine takes nothing now. */
  turnAway(): void {
    for (;;) {
      const waiter = this.#room.next(() => true);
      if (waiter === undefined) return;
      clearTimeout(waiter.what.deadline);
      waiter.what.answer(this.#refuse("engine_paused"));
    }
  }

  /** Refusals by code since the object started, those of the edge included as far as it has told. */
  get refused(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#refused);
  }

  countRefusals(byCode: Readonly<Record<string, number>>): void {
    for (const [code, n] of Object.entries(byCode)) this.#refused.set(code, (this.#refused.get(code) ?? 0) + n);
  }

  #offer(submission: Submission): Submitted {
    const { queue, ledger, keys } = this.#parts;
    const { tenant, intent, payload, bytes } = submission;
    const acceptedAtMs = Date.now();
    const entry = queue.offer({ tenant, bytes, critical: isCritical(intent), acceptedAtMs }, keys.next);
    if (entry === "full") return this.#refuse("queue_full");
    ledger.accept({ sequence: entry.sequence, tenant, intent, payload, bytes, acceptedAtMs });
    return { kind: "accepted", command: this.#accepted(entry.sequence), health: this.#health() };
  }

  #waitForRoom(submission: Submission): Promise<Submitted> {
    return new Promise((answer) => {
      const deadline = setTimeout(() => this.leave(submission.token), this.#parts.enqueueWaitMs);
      const what = { submission, answer, deadline };
      if (this.#room.enter({ token: submission.token, bytes: submission.bytes, what })) return;
      clearTimeout(deadline);
      answer(this.#refuse("queue_full"));
    });
  }

  #refusing(): OverloadCode | null {
    const { settings, queue } = this.#parts;
    if (settings.paused && !settings.accepting) return "engine_paused";
    return queue.hasRoom(1) ? null : "queue_full";
  }

  #refuse(code: OverloadCode): Submitted {
    this.countRefusals({ [code]: 1 });
    const health = { ...this.#health(), refusing: code };
    const { retryAfterSeconds } = health;
    return { kind: "refused", problem: { code, detail: this.#detail(code), retryAfterSeconds }, health };
  }

  #detail(code: OverloadCode): string {
    if (code === "engine_paused") return "An operator has paused the engine, and it takes no commands.";
    const { count, bytes } = this.#parts.queue.bounds;
    return `The command queue is full (at most ${count} commands, ${bytes} bytes). Everyone has to wait.`;
  }

  #health(): EngineHealth {
    const { settings, pace, waiting } = this.#parts;
    const pacePerSecond = settings.paused ? null : pace.perSecond(Date.now());
    const retryAfterSeconds = queueRetryAfterSeconds(waiting, pacePerSecond, Math.random());
    return { refusing: this.#refusing(), retryAfterSeconds };
  }
}
