import { TIMER_MS_MAX } from "../core/clock.ts";
import type { CommandView } from "../core/command.ts";
import type { EngineHealth } from "../core/depth-gate.ts";
import type { Problem } from "../core/problem.ts";
import type { Admission } from "./admission.ts";
import { type JobKind, JobPolls, nameOf, type Poll } from "./job-polls.ts";
import type { Submission, Submitted } from "./submission.ts";

/**
 * Long polls of the embedded engine. While there is no job a poll costs nothing but a read; when there is one, the
 * oldest poll activates it by a command, which goes the way of every command. What nobody has said (a lease that runs
 * out) is looked at again when it is due.
 */

/** The result of an activation that has found none, as it is kept. */
const NO_JOBS = JSON.stringify({ jobs: [] });

/** What a poll's caller is told: nothing in its time, or what became of its activation. */
export type Polled = Submitted | { readonly kind: "nothing"; readonly health: EngineHealth };

export interface PollRequest {
  /** The activation: used, perhaps more than once, when there is a job. */
  readonly submission: Submission;
  readonly type: string;
  /** How long the poll is held; 0: not at all. */
  readonly holdMs: number;
}

/** A poll of which the caller still waits for an answer. */
interface Open extends Poll {
  readonly untilMs: number;
  gone: boolean;
}

/** Where jobs are. */
export interface JobSource {
  /** When the next job of a tenant and a type is there, Unix milliseconds; null: there is none. */
  nextJobMs(tenant: string, type: string): number | null;
}

/** The way of every command, as polling uses it. */
export interface CommandWay {
  submit(submission: Submission): Promise<Submitted>;
  /** A tenant's command, after at most `waitMs` for its end. */
  command(tenant: string, commandId: string, waitMs: number, token: string): Promise<CommandView | null>;
  cancel(tenant: string, commandId: string): unknown;
}

/**
 * After an activation that found nothing, nobody looks again of their own accord for so long: clocks differ by a little,
 * and where reading and activating differed by a bug, polls would fill the disk with commands.
 */
const REST_MS = 50;
/** How long a poll waits for its own activation in the queue. */
const ACTIVATION_MS_MAX = 60_000;
/** When a tenant with too many polls should come again, in seconds: as long as one is held by default. */
const FULL_RETRY_SECONDS = 10;

export class Polling {
  readonly #jobs: JobSource;
  readonly #admission: Pick<Admission, "health">;
  readonly #way: CommandWay;
  readonly #polls = new JobPolls();
  readonly #open = new Map<string, Open>();
  /** Activations under way, by kind. */
  readonly #trying = new Map<string, number>();
  readonly #timers = new Map<string, number>();
  /** Until when nobody looks, by kind. */
  readonly #resting = new Map<string, number>();

  constructor(jobs: JobSource, admission: Pick<Admission, "health">, way: CommandWay) {
    this.#jobs = jobs;
    this.#admission = admission;
    this.#way = way;
  }

  /** Resolves with jobs, or with nothing when the poll's time is over or its caller has gone. */
  async poll({ submission, type, holdMs }: PollRequest): Promise<Polled> {
    const { tenant, token } = submission;
    const untilMs = Date.now() + holdMs;
    const open: Open = { tenant, type, token, place: this.#polls.newPlace(), untilMs, gone: false };
    this.#open.set(token, open);
    try {
      // Those who came before have the first right to what is there.
      let mayTry = this.#polls.waiting(open) === 0;
      while (!open.gone) {
        const told = mayTry && this.#isDue(open) ? await this.#activate(open, submission) : null;
        if (told !== null) return told;
        const leftMs = untilMs - Date.now();
        if (leftMs <= 0) break;
        const full = this.#polls.fullFor(tenant);
        if (full !== null) return this.#refused(full);
        const held = this.#polls.hold(open, leftMs);
        this.#look(open);
        if ((await held) === "over") break;
        mayTry = true;
      }
      return { kind: "nothing", health: this.#admission.health(Date.now()) };
    } finally {
      this.#open.delete(token);
      this.#look(open);
      if (this.#polls.waiting(open) === 0) this.#resting.delete(nameOf(open));
    }
  }

  /** The caller of a poll has gone: it gets no job any more. */
  leave(token: string): void {
    const open = this.#open.get(token);
    if (open !== undefined) open.gone = true;
    this.#polls.leave(token);
  }

  /** Jobs have become available, one for each of these: each wakes one poll. */
  available(jobs: readonly JobKind[]): void {
    for (const kind of jobs) this.#polls.wake(kind);
  }

  /** Activates jobs. @returns null when there were none after all: the poll takes its place again */
  async #activate(open: Open, submission: Submission): Promise<Polled | null> {
    this.#count(open, 1);
    try {
      const submitted = await this.#way.submit(submission);
      if (submitted.kind !== "accepted") return submitted;
      const { commandId } = submitted.command;
      const ended = submitted.command.finishedAt !== undefined;
      const command = ended
        ? submitted.command
        : await this.#way.command(open.tenant, commandId, ACTIVATION_MS_MAX, open.token);
      if (command?.finishedAt === undefined) {
        // Nobody is there to take the jobs.
        this.#way.cancel(open.tenant, commandId);
        return { kind: "nothing", health: this.#admission.health(Date.now()) };
      }
      const empty = command.state === "succeeded" && command.result === NO_JOBS;
      if (empty) this.#resting.set(nameOf(open), Date.now() + REST_MS);
      return empty ? null : { ...submitted, command };
    } finally {
      this.#count(open, -1);
      this.#look(open);
    }
  }

  /** Lets the oldest poll try when there is a job and nobody tries, or sets the timer for when there may be one. */
  #look(kind: JobKind): void {
    const name = nameOf(kind);
    clearTimeout(this.#timers.get(name) ?? null);
    this.#timers.delete(name);
    if (this.#polls.waiting(kind) === 0) return;
    const dueMs = this.#jobs.nextJobMs(kind.tenant, kind.type);
    if (dueMs === null) return;
    const inMs = Math.max(dueMs, this.#resting.get(name) ?? 0) - Date.now();
    if (inMs > 0) {
      this.#timers.set(
        name,
        setTimeout(() => this.#look(kind), Math.min(TIMER_MS_MAX, inMs)),
      );
    } else if (!this.#trying.has(name)) this.#polls.wake(kind);
  }

  #isDue({ tenant, type }: JobKind): boolean {
    const dueMs = this.#jobs.nextJobMs(tenant, type);
    return dueMs !== null && dueMs <= Date.now();
  }

  #count(kind: JobKind, by: 1 | -1): void {
    const name = nameOf(kind);
    const trying = (this.#trying.get(name) ?? 0) + by;
    if (trying === 0) this.#trying.delete(name);
    else this.#trying.set(name, trying);
  }

  #refused(full: "tenant" | "all"): Polled {
    const problem: Problem =
      full === "tenant"
        ? {
            code: "rate_limited",
            detail: "You hold as many polls open as one tenant may.",
            violated: ["held-polls"],
            retryAfterSeconds: FULL_RETRY_SECONDS,
          }
        : {
            code: "queue_full",
            detail: "The engine holds as many polls as it can. Everyone has to wait.",
            retryAfterSeconds: FULL_RETRY_SECONDS,
          };
    return { kind: "refused", problem, health: this.#admission.health(Date.now()), overShare: false };
  }
}
