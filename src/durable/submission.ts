import type { CommandView } from "../core/command.ts";
import type { EngineHealth } from "../core/depth-gate.ts";
import type { Wanting } from "../core/edge-memory.ts";
import type { Problem } from "../core/problem.ts";

/** What passes between the edge and the engine's door: a command, and what became of it. */

export interface Submission {
  readonly tenant: string;
  readonly intent: string;
  /** The payload as JSON text, already checked. */
  readonly payload: string;
  /** Its size in UTF-8. */
  readonly bytes: number;
  /** The tenant's weight in the queue: that of its tier. */
  readonly weight: number;
  /** Names this call while it waits for room, so that its caller can leave the line. */
  readonly token: string;
  /** After so many milliseconds it need not begin any more; null: it may always. */
  readonly deadlineMs: number | null;
  /** Those of the caller's headers that go with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's own name for it; null: it has none. */
  readonly idempotency: KeyUse | null;
  /** How long the caller would wait for its end, in milliseconds. */
  readonly waitMs: number;
  /** Tenants that the same isolate has refused since it last called: they want places, and have not been seen here. */
  readonly wanting?: readonly Wanting[];
}

/** A caller's own name for a command, as it comes with it (`Idempotency-Key`). */
export interface KeyUse {
  readonly key: string;
  /** Of the whole body. */
  readonly fingerprint: string;
}

/** What the first request of a key was told: enough to say the same again, word for word. */
export type FirstAnswer =
  | ({ readonly told: "accepted" | "deferred" } & Acceptance)
  /** It had ended within the caller's wait. */
  | { readonly told: "ended"; readonly command: CommandView };

/** What a command's caller is told of it as it stands: its end, or that it is accepted. */
export function answerFor(command: CommandView): FirstAnswer {
  if (command.finishedAt !== undefined) return { told: "ended", command };
  const { commandId, state, queuedAhead = 0, estimatedWaitSeconds = 0 } = command;
  const told = command.deferred ? "deferred" : "accepted";
  return { told, commandId, state, queuedAhead, estimatedWaitSeconds };
}

/** As it is kept: an end is read from its command again. */
export type KeptAnswer =
  | Exclude<FirstAnswer, { readonly told: "ended" }>
  | ({ readonly told: "ended_as_kept" } & Acceptance);

/** What an accepted command's caller is told at once. */
export type Acceptance = Pick<CommandView, "commandId" | "state" | "queuedAhead" | "estimatedWaitSeconds">;

export type Submitted =
  | {
      readonly kind: "accepted";
      readonly command: CommandView;
      /** Saved with no work planned: there was no room. */
      readonly deferred: boolean;
      readonly health: EngineHealth;
      /** The time that callers of this tenant were last told to come back at, in seconds from now; null: none is due. */
      readonly lastToldSeconds: number | null;
      /** How long commands of this tenant took that ended before, for its limiter; mostly empty. */
      readonly latenciesMs: readonly number[];
    }
  /** The caller has sent this before. */
  | { readonly kind: "repeated"; readonly answer: FirstAnswer; readonly health: EngineHealth }
  | {
      readonly kind: "refused";
      readonly problem: Problem;
      readonly health: EngineHealth;
      /** Others may come in; this tenant has its share. */
      readonly overShare: boolean;
    };

/** After this the command need not begin; null: it always may. In Unix milliseconds. */
export function deadlineOf({ deadlineMs }: Submission, acceptedAtMs: number): number | null {
  return deadlineMs === null ? null : acceptedAtMs + deadlineMs;
}
