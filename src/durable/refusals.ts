import type { FlowControl } from "../core/flow-control/flow-control.ts";
import type { OverloadCode } from "../core/problem.ts";
import type { QueueBounds } from "../core/queue.ts";

/** Refusals of the engine: why, in words, and how many. */

/** Why a command may not come in: what everyone has to wait for, or others who hold less. */
export type Refusal = OverloadCode | "over_share";

/** Refusals by code since the object started, those of the edge included as far as it has told. */
export class RefusalCounts {
  readonly #byCode = new Map<string, number>();

  add(byCode: Readonly<Record<string, number>>): void {
    for (const [code, n] of Object.entries(byCode)) this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + n);
  }

  all(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#byCode);
  }
}

/** Why a command was refused, in a sentence for whoever reads it. */
export function refusalDetail(refusal: Refusal, bounds: QueueBounds, flow: FlowControl): string {
  switch (refusal) {
    case "over_share":
      return "You have your share of the command queue; what is left of it is for others who wait for theirs.";
    case "engine_paused":
      return "An operator has paused the engine, and it takes no commands.";
    case "request_limit":
      return `The engine works on as many commands as it bears (limit ${flow.limit}). Everyone has to wait.`;
    case "write_limit":
      return `The engine takes ${flow.config.writeRate?.perSecond} commands a second. Everyone has to wait.`;
    case "queue_full":
      return `The command queue is full (at most ${bounds.count} commands, ${bounds.bytes} bytes). Everyone has to wait.`;
  }
}
