import type { EngineHealth } from "../core/depth-gate.ts";
import type { Wanting } from "../core/edge-memory.ts";
import type { OverloadCode } from "../core/problem.ts";

/** What passes between the edge and the engine's door, as in `durable/submission.ts`. */

export interface Submission {
  readonly tenant: string;
  readonly weight: number;
  readonly critical: boolean;
  readonly bytes: number;
  /** So long after its acceptance it need not begin, in milliseconds; null: it always may. */
  readonly deadlineMs: number | null;
  /** The caller's own name for the command; null: none. */
  readonly key: string | null;
  /** Names this call while it waits for room. */
  readonly token: string;
  /** Whom the same isolate has refused since it last called, and how often. */
  readonly wanting: readonly Wanting[];
}

export type Submitted =
  | {
      readonly kind: "accepted";
      readonly sequence: number;
      readonly health: EngineHealth;
      /** In how many seconds the last one of this tenant that was refused was told to come back; null: none. */
      readonly lastTold: number | null;
    }
  | {
      readonly kind: "refused";
      readonly code: OverloadCode;
      readonly retryAfterSeconds: number;
      readonly overShare: boolean;
      readonly health: EngineHealth;
    }

  /** Its key was used before: nothing is done a second time. */
  | { readonly kind: "repeated"; readonly sequence: number; readonly health: EngineHealth }
  /** Its key's first request has not been answered yet. */
  | { readonly kind: "in_flight"; readonly retryAfterSeconds: number; readonly health: EngineHealth };

export type Answer = (submitted: Submitted) => void;
