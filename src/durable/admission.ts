import { ceilDiv } from "../core/arithmetic.ts";
import type { CommandView } from "../core/command.ts";
import { type EngineHealth, fullForMs, GATE_INTERVAL_MS } from "../core/depth-gate.ts";
import { isCritical } from "../core/intents.ts";
import { queueRetryAfterSeconds } from "../core/pace.ts";
import type { OverloadCode, Problem } from "../core/problem.ts";
import { type Waiter, WaitingRoom } from "../core/waiting-room.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { Submission, Submitted } from "./submission.ts";

/**
 * The door of the engine: takes a command, lets its caller wait for room, or refuses it. Between the check of the
 * bound and the row on disk there is no await, which is what makes the bound exact.
 */

/** Why a command may not come in: what everyone has to wait for, or others who hold less. */
type Refusal = OverloadCode | "over_share";

interface Waiting {
  readonly submission: Submission;
  readonly answer: (answer: Submitted) => void;
  readonly deadline: ReturnType<typeof setTimeout>;
}

/** An object may have 10 GB. Past this it takes only what ends work, so that ending work stays possible. */
const STORAGE_BYTES_MAX = 8 * 1024 ** 3;

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
    const nowMs = Date.now();
    for (const asker of submission.wanting ?? []) this.#parts.queue.wants(asker, nowMs);
    if (submission.bytes > this.#parts.queue.bounds.bytes) return this.#tooLarge(submission.bytes);
    if (critical) return this.#offer(submission);
    // Time alone may have opened a place; it belongs to those who were here first.
    this.admitWaiting();
    const refusal = this.#refusalOf(submission, nowMs);
    if (refusal === null && !this.#room.has(submission.tenant)) return this.#offer(submission);
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
    while (this.#refusing(nowMs) === null) {
      const next = this.#room.next(({ submission }) => refusalOf(submission) !== "queue_full");
      if (!this.#settle(next, refusalOf)) return;
    }
  }

  /** Sends everyone away who waits for room: the engine takes nothing now. */
  turnAway(): void {
    while (
      this.#settle(
        this.#room.next(() => true),
        () => "engine_paused",
      )
    );
  }

  /** Answers one who waited: takes its command, or refuses it. False when there is nobody. */
  #settle(waiter: Waiter<Waiting> | undefined, refusalOf: (submission: Submission) => Refusal | null): boolean {
    if (waiter === undefined) return false;
    const { submission, answer, deadline } = waiter.what;
    clearTimeout(deadline);
    const refusal = refusalOf(submission);
    answer(refusal === null ? this.#offer(submission) : this.#refuse(submission, refusal));
    return true;
  }

  /** Refusals by code since the object started, those of the edge included as far as it has told. */
  get refused(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#refused);
  }

  countRefusals(byCode: Readonly<Record<string, number>>): void {
    for (const [code, n] of Object.entries(byCode)) this.#refused.set(code, (this.#refused.get(code) ?? 0) + n);
  }

  #offer(submission: Submission): Submitted {
    const { queue, ledger, keys, flow, inFlight } = this.#parts;
    const { tenant, intent, payload, bytes, weight } = submission;
    const critical = isCritical(intent);
    const acceptedAtMs = Date.now();
    // The row is written in the middle of the offer: after the bound was checked, before the place is taken.
    const write = () => {
      const sequence = keys.next();
      ledger.accept({ sequence, tenant, intent, payload, bytes, weight, acceptedAtMs });
      return sequence;
    };
    const candidate = { tenant, bytes, weight, critical, acceptedAtMs };
    const entry = queue.offer(candidate, write, acceptedAtMs, this.#parts.places);
    if (typeof entry === "string") return this.#refuse(submission, entry === "full" ? "queue_full" : entry);
    flow.written(critical, acceptedAtMs);
    inFlight.begin(entry.sequence, this.#parts.waiting);
    const command = this.#accepted(entry.sequence);
    const latenciesMs = this.#parts.latencies.take(tenant);
    return { kind: "accepted", command, health: this.#health(acceptedAtMs), latenciesMs };
  }

  #waitForRoom(submission: Submission, waitMs: number): Promise<Submitted> {
    return new Promise((answer) => {
      const deadline = setTimeout(() => this.leave(submission.token), waitMs);
      const what = { submission, answer, deadline };
      this.#parts.queue.wants(submission, Date.now());
      if (this.#room.enter({ token: submission.token, tenant: submission.tenant, what })) return;
      clearTimeout(deadline);
      answer(this.#refuse(submission, this.#refusalOf(submission, Date.now()) ?? "queue_full"));
    });
  }

  /** Why an ordinary command of so many bytes may not come in now, and for how long; null when it may. */
  #refusing(nowMs: number, bytes = 1): { code: OverloadCode; retryAfterSeconds: number } | null {
    const { settings, queue, flow, waiting, storage } = this.#parts;
    const told = (code: OverloadCode, ahead: number) => ({ code, retryAfterSeconds: this.#waitFor(ahead, nowMs) });
    if (settings.paused && !settings.accepting) return told("engine_paused", waiting);
    if (storage.sql.databaseSize > STORAGE_BYTES_MAX) return told("queue_full", waiting);
    const weighed = flow.weigh(waiting, false, nowMs);
    switch (weighed.verdict) {
      case "request_limit":
        return told("request_limit", waiting - weighed.limit + 1);
      case "write_limit":
        return { code: "write_limit", retryAfterSeconds: Math.max(1, ceilDiv(weighed.waitMs, 1000)) };
      case "pass":
        return queue.hasRoom(bytes) ? null : told("queue_full", waiting);
    }
  }

  /** As above for this very submission: its tenant may also have its share. */
  #refusalOf({ tenant, bytes, weight }: Submission, nowMs: number): Refusal | null {
    const refusing = this.#refusing(nowMs, bytes);
    if (refusing !== null) return refusing.code;
    const candidate = { tenant, bytes, weight, critical: false };
    const refusal = this.#parts.queue.refusalOf(candidate, nowMs, this.#parts.places);
    return refusal === "full" ? "queue_full" : refusal;
  }

  #refuse(submission: Submission, refusal: Refusal): Submitted {
    const nowMs = Date.now();
    const code = refusal === "over_share" ? "queue_full" : refusal;
    this.countRefusals({ [code]: 1 });
    if (code !== "engine_paused" && !isCritical(submission.intent)) this.#parts.queue.wants(submission, nowMs);
    const refusing = this.#refusing(nowMs);
    // A caller whose wait is over, or whose tenant has its share, is refused though there may be room for others.
    const retryAfterSeconds =
      refusing?.code === code ? refusing.retryAfterSeconds : this.#waitFor(this.#parts.waiting, nowMs);
    const problem: Problem = { code, detail: this.#detail(refusal), retryAfterSeconds };
    return { kind: "refused", problem, health: this.#health(nowMs), overShare: refusal === "over_share" };
  }

  /** What no queue of these bounds can ever hold. */
  #tooLarge(bytes: number): Submitted {
    const detail = `The command has ${bytes} bytes as it is stored; the queue holds ${this.#parts.queue.bounds.bytes}.`;
    return {
      kind: "refused",
      problem: { code: "payload_too_large", detail },
      health: this.#health(Date.now()),
      overShare: false,
    };
  }

  #detail(refusal: Refusal): string {
    const { queue, flow } = this.#parts;
    switch (refusal) {
      case "over_share":
        return "You have your share of the command queue; what is left of it is for others who wait for theirs.";
      case "engine_paused":
        return "An operator has paused the engine, and it takes no commands.";
      case "request_limit":
        return `The engine works on as many commands as it bears (limit ${flow.limit}). Everyone has to wait.`;
      case "write_limit":
        return `The engine takes ${flow.config.writeRate?.perSecond} commands a second. Everyone has to wait.`;
      case "queue_full": {
        const { count, bytes } = queue.bounds;
        return `The command queue is full (at most ${count} commands, ${bytes} bytes). Everyone has to wait.`;
      }
    }
  }

  /** What the edge may go by for a moment: a state that lasts, and not the second of a write rate. */
  #health(nowMs: number): EngineHealth {
    const refusing = this.#refusing(nowMs);
    if (refusing === null || refusing.code === "write_limit") {
      return { refusing: null, retryAfterSeconds: 1, lastsMs: 0 };
    }
    const { code, retryAfterSeconds } = refusing;
    const { settings, pace, places } = this.#parts;
    const lastsMs = settings.paused ? GATE_INTERVAL_MS : fullForMs(places, pace.perSecond(nowMs));
    return { refusing: code, retryAfterSeconds, lastsMs };
  }

  /** Seconds until so many commands have been worked on, by the pace that was measured. */
  #waitFor(commands: number, nowMs: number): number {
    const pacePerSecond = this.#parts.settings.paused ? null : this.#parts.pace.perSecond(nowMs);
    return queueRetryAfterSeconds(commands, pacePerSecond, Math.random());
  }
}
