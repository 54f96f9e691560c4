import type { FlowControl } from "../core/flow-control/flow-control.ts";
import type { OverloadCode } from "../core/problem.ts";
import type { QueueBounds, QueueRefusal } from "../core/queue.ts";
import { QUEUE_BYTES_SHARE, quotaText } from "../core/tenant-quotas.ts";
import type { EngineParts } from "./engine-parts.ts";

/** Refusals of the engine: why, in words, and how many. */

/** Why a command may not come in: what everyone has to wait for, or what its tenant has used up. */
export type Refusal = OverloadCode | Exclude<QueueRefusal, "full"> | "deferred";

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
export function refusalDetail(
  refusal: Refusal,
  bounds: QueueBounds,
  flow: FlowControl,
  storageBytesMax: number,
): string {
  switch (refusal) {
    case "over_bytes":
      return `Your commands fill your part of the command queue (${QUEUE_BYTES_SHARE} of ${bounds.bytes} bytes). Wait until some have run.`;
    case "critical":
    case "criticalBytes":
    case "deferred":
      return `Your commands that wait have reached ${quotaText(refusal)}. Wait until some have run.`;
    case "storage_full":
      return `The engine's disk is short of space (STORAGE_BYTES_MAX of ${storageBytesMax} bytes). Only critical commands are taken.`;
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

/** Why an ordinary command may not come in now, and what has to happen before one may. */
export type Refusing =
  | { readonly code: Exclude<OverloadCode, "write_limit">; readonly ahead: number }
  | { readonly code: "write_limit"; readonly waitMs: number };

/** Why an ordinary command of so many bytes may not come in now; null when it may. */
export function refusing(parts: EngineParts, nowMs: number, bytes = 1): Refusing | null {
  const { settings, queue, flow, waiting, inFlightCount, disk } = parts;
  if (settings.paused && !settings.accepting) return { code: "engine_paused", ahead: waiting };
  if (disk.isShort) return { code: "storage_full", ahead: waiting };
  const weighed = flow.weigh(inFlightCount, false, nowMs);
  switch (weighed.verdict) {
    case "request_limit":
      return { code: "request_limit", ahead: inFlightCount };
    case "write_limit":
      return { code: "write_limit", waitMs: weighed.waitMs };
    case "pass":
      return queue.hasRoom(bytes) ? null : { code: "queue_full", ahead: waiting };
  }
}
