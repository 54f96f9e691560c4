import type { OverloadCode } from "../core/problem.ts";
import type { QueueRefusal } from "../core/queue.ts";
import type { Life } from "./life.ts";

/** Why an ordinary command may not come in now, by the core's flow control and queue; null: it may. */

export type Refusal = OverloadCode | Exclude<QueueRefusal, "full">;
export type Refusing =
  | { readonly code: "queue_full" | "request_limit"; readonly ahead: number }
  | { readonly code: "write_limit"; readonly waitMs: number };

/** @returns what everyone is refused for, and what has to happen before one may come in */
export function refusing(life: Life, nowMs: number): Refusing | null {
  const { flow, inFlight, queue } = life;
  const weighed = flow.weigh(inFlight, false, nowMs);
  switch (weighed.verdict) {
    case "request_limit":
      return { code: "request_limit", ahead: inFlight };
    case "write_limit":
      return { code: "write_limit", waitMs: weighed.waitMs };
    case "pass":
      return queue.hasRoom(1) ? null : { code: "queue_full", ahead: life.waiting };
  }
}
