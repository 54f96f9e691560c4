import { backfillRoom } from "../core/backfill.ts";
import type { EngineParts } from "./engine-parts.ts";

/** Takes up deferred commands, oldest first, once the queue is short again. To be called whenever places have come free. */
export function backfill(parts: EngineParts): void {
  const { deferred, queue, ledger } = parts;
  if (deferred.size === 0 || parts.settings.paused) return;
  const limit = parts.flow.limit ?? Number.POSITIVE_INFINITY;
  const room = Math.min(backfillRoom(queue.depth + parts.retries.ordinary, parts.places), limit - parts.inFlightCount);
  if (room <= 0) return;
  for (const row of deferred.oldest(Math.min(room, PIECE_MAX))) {
    if (!queue.hasRoom(row.bytes)) return;
    deferred.remove(row.sequence, row);
    ledger.plan(row.sequence);
    queue.restore(parts.entryOf(row));
  }
}

/** Rows read at a time: no piece holds up the commands for long. */
const PIECE_MAX = 500;
