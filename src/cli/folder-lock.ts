import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { commandOf } from "./process-table.ts";
import { messageOf, pause } from "./tool.ts";

/**
 * One gateway per state folder: two would each hold the queue in memory over the same disk, and there would be two
 * writers where everything else relies on one.
 *
 * The lock is the exclusive lock of an empty SQLite file. The kernel takes it in one step and gives it back when the
 * process ends, however that ends; so no lock is ever stale, and two simultaneous starts cannot both have it.
 * A runtime that outlives its gateway holds no such lock: its process id is in a file of its own (`workerd.sh`).
 */

const LOCK_FILE = "gateway.lock.sqlite";
/** Who holds the lock, for the words of a refusal only. */
const HOLDER_FILE = "gateway.pid";
const RUNTIME_FILE = "workerd.pid";
/** A runtime ends within milliseconds of its gateway. One that is still there after so long, in milliseconds, stays. */
const RUNTIME_END_MS_MAX = 5_000;
const LOOK_MS = 50;

/** Where a runtime over this folder writes its process id, before it opens any file. */
export function runtimeFileOf(folder: string): string {
  return path.resolve(folder, RUNTIME_FILE);
}

/**
 * Makes the folder if it is not there, and takes its lock for this process.
 *
 * @param signal ends the wait for a runtime that is about to end
 * @returns what gives the lock back
 * @throws Error with one line for people: a gateway or its runtime runs on the folder, or it cannot be written to
 */
export async function lockFolder(folder: string, signal: AbortSignal): Promise<() => void> {
  assertWritable(folder);
  const lock = takeLock(folder);
  try {
    await assertNoRuntime(folder, signal);
    writeFileSync(path.join(folder, HOLDER_FILE), String(process.pid));
  } catch (error) {
    lock.close();
    throw error;
  }
  locks.add(lock);
  return () => {
    if (locks.delete(lock)) lock.close();
  };
}

/** A lock that nothing refers to would be closed with the garbage. */
const locks = new Set<DatabaseSync>();

function assertWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`cannot write to ${folder} (${messageOf(error)}); make it writable, or ${CHOOSE_ANOTHER}`);
  }
}

function takeLock(folder: string): DatabaseSync {
  const file = path.join(folder, LOCK_FILE);
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    // Nothing is ever written to it, so there is nothing to undo, and no journal.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (!isLocked(error)) throw new Error(`${file}: ${messageOf(error)}; remove this file, or ${CHOOSE_ANOTHER}`);
    const holder = processIn(path.join(folder, HOLDER_FILE));
    throw new Error(`a gateway${holder === null ? "" : ` (process ${holder})`} runs on ${folder}; ${CHOOSE_ANOTHER}`);
  }
}

/** The runtime of a gateway that was killed ends by itself in a moment. */
async function assertNoRuntime(folder: string, signal: AbortSignal): Promise<void> {
  const pid = processIn(runtimeFileOf(folder));
  if (pid === null) return;
  for (let waitedMs = 0; waitedMs <= RUNTIME_END_MS_MAX && !signal.aborted; waitedMs += LOOK_MS) {
    if (!/workerd/.test(commandOf(pid))) return;
    await pause(LOOK_MS, signal);
  }
  throw new Error(
    `workerd (process ${pid}) of a gateway that has ended still serves ${folder}; end it (kill ${pid}), or ${CHOOSE_ANOTHER}`,
  );
}

const CHOOSE_ANOTHER = "choose another folder with --persist-to DIR";

function isLocked(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && (error.errcode === SQLITE_BUSY || error.errcode === SQLITE_LOCKED)
  );
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** The process id that a file holds; null: it holds none, or is not there. */
function processIn(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
