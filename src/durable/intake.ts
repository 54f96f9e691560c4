import type { EngineHealth } from "../core/depth-gate.ts";
import type { Admission } from "./admission.ts";
import type { EngineParts } from "./engine-parts.ts";
import { GroupCommit } from "./group-commit.ts";
import type { KeyedDoor } from "./keyed-door.ts";
import type { Submission, Submitted } from "./submission.ts";
import type { Views } from "./views.ts";
import { restartFromDisk } from "./works.ts";

/**
 * What becomes of accepted commands in the event that accepts them: the engine works on all of them, what is left is
 * written as it waits, and each caller is told how its command stands by then.
 */

export interface IntakeHooks {
  /** What nobody waits for any more is expired, before anything is taken in. */
  readonly expire: () => void;
  /** Works on what waits: an idle engine ends it before this returns. */
  readonly work: () => void;
  /** Sees to it that work goes on after a restart. */
  readonly plan: () => void;
  /** Sees to it that what has ended is cleared in time. */
  readonly planSweep: () => void;
}

interface Accepted {
  readonly sequence: number;
  readonly submission: Submission;
  readonly deferred: boolean;
  readonly tell: (submitted: Submitted) => void;
}

export class Intake {
  readonly #parts: EngineParts;
  readonly #admission: Admission;
  readonly #door: KeyedDoor;
  readonly #views: Views;
  readonly #hooks: IntakeHooks;
  readonly #accepted: Accepted[] = [];
  #gathers = false;
  readonly #commits = new GroupCommit({
    together: (steps) => this.#together(steps),
    committed: () => this.#parts.storage.sync(),
    failed: (error) => restartFromDisk(this.#parts, error),
  });

  constructor(parts: EngineParts, admission: Admission, door: KeyedDoor, views: Views, hooks: IntakeHooks) {
    this.#parts = parts;
    this.#admission = admission;
    this.#door = door;
    this.#views = views;
    this.#hooks = hooks;
  }

  /** As the engine's own `submit`: at once, or with others in the next commit. */
  async submit(submission: Submission): Promise<Submitted> {
    const submitted = await this.#commits.run(submission.token, () => this.#enter(submission));
    return submitted ?? this.#admission.gone();
  }

  /** A caller has gone whose command waits for its commit. */
  leave(token: string): void {
    this.#commits.leave(token);
  }

  #enter(submission: Submission): Promise<Submitted> {
    // The first request of its key may be of this very commit: the repeat must get its answer.
    if (this.#door.isClaimed(submission)) this.#finish();
    return this.#door.submit(submission);
  }

  #together(steps: readonly (() => void)[]): void {
    this.#hooks.expire();
    this.#gathers = true;
    for (const step of steps) step();
    this.#gathers = false;
    this.#finish();
  }

  /** A command has its place. Resolves with what its caller is told, at the end of this event. */
  accepted(sequence: number, submission: Submission, deferred: boolean): Promise<Submitted> {
    const told = new Promise<Submitted>((tell) => {
      this.#accepted.push({ sequence, submission, deferred, tell });
    });
    if (!this.#gathers) this.#finish();
    return told;
  }

  /** Works on what was accepted, writes it, and tells its callers. */
  #finish(): void {
    if (this.#accepted.length === 0) return;
    try {
      this.#hooks.work();
      const nowMs = Date.now();
      const health = this.#admission.health(nowMs);
      // Room that this has made may have let others in, who are among them now.
      const answers = this.#accepted.splice(0).map((one) => ({ tell: one.tell, told: this.#told(one, health, nowMs) }));
      this.#parts.store.flush();
      this.#hooks.plan();
      for (const { tell, told } of answers) tell(told);
    } catch (error) {
      restartFromDisk(this.#parts, error);
    }
  }

  #told({ sequence, submission, deferred }: Accepted, health: EngineHealth, nowMs: number): Submitted {
    const row = this.#views.written(sequence);
    if (row.finishedAtMs !== null) this.#hooks.planSweep();
    const command = this.#views.of(row);
    this.#door.accepted(submission, command, deferred);
    const { estimates, latencies } = this.#parts;
    return {
      kind: "accepted",
      command,
      deferred,
      health,
      lastToldSeconds: estimates.lastToldSeconds(row.tenant, nowMs),
      latenciesMs: latencies.take(row.tenant),
    };
  }
}
