import type { Finish } from "../core/flow-control/flow-control.ts";
import type { QueueEntry } from "../core/queue.ts";
import type { EngineParts } from "./engine-parts.ts";

/** What both kinds of work behind the queue have in common: the embedded engine's writer, and delivery to an upstream. */

export interface Works {
  /** Goes on with whatever may go on, unless it is under way. */
  start(): void;
  /** How soon an object that has lost its memory must be woken to go on, in milliseconds; null: there is nothing to do. */
  wakeInMs(nowMs: number): number | null;
}

/** What the work calls, and knows nothing more of. */
export interface WorkHooks {
  /** Before anything is begun: what nobody waits for any more is expired. */
  readonly expire: (nowMs: number) => void;
  /** Places in the queue may have come free. */
  readonly madeRoom: () => void;
}

/** How soon an object that was restarted with work left goes on by itself. */
export const CONTINUE_MS = 5_000;

/** A command has ended, on disk and in the books: everyone who goes by that hears of it. */
export function tellEnded(parts: EngineParts, entry: QueueEntry, how: Finish, nowMs: number): void {
  const { waits, flow, inFlight, config, latencies, deadlines, metrics } = parts;
  const then = inFlight.end(entry.sequence);
  const tookMs = nowMs - entry.acceptedAtMs;
  metrics.processing.observe(Math.max(0, tookMs) / 1000);
  if (then !== null) flow.finished(how, tookMs, then, nowMs, Math.random());
  if (then !== null && config.ADAPTIVE_TENANT_RATE === "on") latencies.add(entry.tenant, tookMs);
  deadlines.remove(entry.sequence);
  waits.ended(entry.sequence);
}

/** Memory may no longer say what the disk says. The disk is right: the object starts again from it. */
export function restartFromDisk(parts: EngineParts, error: unknown): void {
  console.error(JSON.stringify({ event: "writer_failed", error: String(error) }));
  try {
    // The reason is what callers hear whose calls end with it.
    parts.restart(`the writer failed: ${String(error)}`);
  } catch {
    // Ending the object throws in whoever does it, too.
  }
}
