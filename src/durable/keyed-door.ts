import type { CommandView } from "../core/command.ts";
import type { Admission } from "./admission.ts";
import type { EngineParts } from "./engine-parts.ts";
import {
  answerFor,
  type FirstAnswer,
  type KeptAnswer,
  type KeyUse,
  type Submission,
  type Submitted,
} from "./submission.ts";
import type { Views } from "./views.ts";

/**
 * What stands before the door: a command that comes with a key of its caller's is looked up first. A repeat gets the
 * first answer, before any limit is asked; a first one claims the key until it is answered.
 */

/** A caller that has waited is answered by another call, which needs a moment to get here. */
const ANSWER_SLACK_MS = 2_000;

export class KeyedDoor {
  readonly #parts: EngineParts;
  readonly #admission: Admission;
  readonly #views: Views;

  constructor(parts: EngineParts, admission: Admission, views: Views) {
    this.#parts = parts;
    this.#admission = admission;
    this.#views = views;
  }

  async submit(submission: Submission): Promise<Submitted> {
    const { tenant, idempotency: use } = submission;
    if (use === null) return await this.#admission.submit(submission);
    const repeated = this.#repeated(tenant, use, Date.now());
    if (repeated !== null) return repeated;
    const { usedKeys, flowSettings } = this.#parts;
    usedKeys.claim(tenant, use, Date.now() + flowSettings.enqueueWaitMs + submission.waitMs + ANSWER_SLACK_MS);
    let claimed = true;
    try {
      const submitted = await this.#admission.submit(submission);
      // Its caller is held open until the command ends, and is only then answered.
      claimed = submitted.kind === "accepted" && !isAnswered(submission, submitted.command);
      return submitted;
    } catch (error) {
      claimed = false;
      throw error;
    } finally {
      if (!claimed) usedKeys.release(tenant, use.key);
    }
  }

  /** A command was accepted: its key is used, in the same commit. */
  accepted(submission: Submission, command: CommandView, deferred: boolean): void {
    const { tenant, idempotency: use } = submission;
    if (use === null) return;
    const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = command;
    const told = deferred ? "deferred" : "accepted";
    const answer: FirstAnswer =
      submission.waitMs > 0 && command.finishedAt !== undefined
        ? { told: "ended", command }
        : { told, commandId, state, queuedAhead, estimatedWaitSeconds };
    const { usedKeys } = this.#parts;
    usedKeys.use(tenant, use, answer, Date.parse(command.acceptedAt));
    // At once: a repeat may be in the same commit.
    if (isAnswered(submission, command)) usedKeys.release(tenant, use.key);
  }

  /** Whether the first request of this submission's key is on its way. */
  isClaimed({ tenant, idempotency }: Submission): boolean {
    return idempotency !== null && this.#parts.usedKeys.isClaimed(tenant, idempotency.key);
  }

  /** The first request of a key has been held open, and is answered now. */
  answered(tenant: string, key: string, command: CommandView | null): void {
    if (command !== null) this.#parts.usedKeys.amend(tenant, key, answerFor(command));
    this.#parts.usedKeys.release(tenant, key);
  }

  /** The first answer as it was told. A command that is no longer kept is told of as it was accepted. */
  #whole(kept: KeptAnswer): FirstAnswer {
    if (kept.told !== "ended_as_kept") return kept;
    const row = this.#views.row(kept.commandId);
    return row === null ? { ...kept, told: "accepted" } : { told: "ended", command: this.#views.of(row) };
  }

  #repeated(tenant: string, use: KeyUse, nowMs: number): Submitted | null {
    const verdict = this.#parts.usedKeys.judge(tenant, use, nowMs);
    const health = this.#admission.health(nowMs);
    switch (verdict.verdict) {
      case "fresh":
        return null;
      case "repeated":
        return { kind: "repeated", answer: this.#whole(verdict.answer), health };
      case "conflict": {
        const detail = "This Idempotency-Key was used with another body. A new command needs a new key.";
        return { kind: "refused", problem: { code: "idempotency_conflict", detail }, health, overShare: false };
      }
      case "in_flight": {
        const detail = "The first request with this Idempotency-Key has not been answered yet.";
        const { retryAfterSeconds } = verdict;
        const problem = { code: "idempotency_in_flight", detail, retryAfterSeconds } as const;
        return { kind: "refused", problem, health, overShare: false };
      }
    }
  }
}

/** Whether the caller is answered at once: it does not wait, or there is nothing to wait for. */
function isAnswered({ waitMs }: Submission, command: CommandView): boolean {
  return waitMs === 0 || command.finishedAt !== undefined;
}
