import type { Problem } from "../core/problem.ts";
import { diskFaultIn, type ObjectUnreachable } from "./stubs.ts";

/** What a caller is told whose engine has not answered: it restarts, is overloaded, or its disk has failed. */

/** An engine that restarts is back within seconds; a disk that is locked is looked at again as soon. */
const RETRY_SECONDS = 5;
const DISK_FULL = "SQLITE_FULL";

/** With these SQLite has refused before it wrote: what was asked has not been done. */
const REFUSED_BEFORE = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|CANTOPEN|NOTADB|PERM|AUTH)$/;

/** Whether what the engine was asked may have been done all the same. */
export function mayHaveActed({ message }: ObjectUnreachable): boolean {
  return !REFUSED_BEFORE.test(diskFaultIn(message) ?? "");
}

export function silenceOf({ message }: ObjectUnreachable): Problem {
  const fault = diskFaultIn(message);
  if (fault === null) {
    const detail = "The command engine does not answer: it restarts or is overloaded. Everyone has to wait.";
    return { code: "unavailable", detail, retryAfterSeconds: RETRY_SECONDS };
  }
  if (fault === DISK_FULL) {
    const detail = "The disk under the command engine is full. It goes on by itself when space is freed.";
    return { code: "storage_full", detail, retryAfterSeconds: RETRY_SECONDS };
  }
  const detail = `The command engine's disk cannot be used now (${fault}). Nothing was changed.`;
  return { code: "unavailable", detail, retryAfterSeconds: RETRY_SECONDS };
}
