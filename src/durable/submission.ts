import type { CommandView } from "../core/command.ts";
import type { EngineHealth } from "../core/depth-gate.ts";
import type { Asker } from "../core/fair-share.ts";
import type { Intent } from "../core/intents.ts";
import type { Problem } from "../core/problem.ts";

/** What passes between the edge and the engine's door: a command, and what became of it. */

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
  /** Tenants that the same isolate has refused since it last called: they want places, and have not been seen here. */
  readonly wanting?: readonly Asker[];
}

export type Submitted =
  | {
      readonly kind: "accepted";
      readonly command: CommandView;
      readonly health: EngineHealth;
      /** How long commands of this tenant took that ended before, for its limiter; mostly empty. */
      readonly latenciesMs: readonly number[];
    }
  | {
      readonly kind: "refused";
      readonly problem: Problem;
      readonly health: EngineHealth;
      /** Others may come in; this tenant has its share. */
      readonly overShare: boolean;
    };
