import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * One gateway per state folder. Two would each hold the queue in memory over the same disk, and there would be two
 * writers where everything else relies on one. The lock is a file with a process id; that of a dead process is taken over.
 */

const LOCK_FILE = "gateway.lock";

/**
 * @returns what gives the lock back
 * @throws Error with one line for people, when a gateway runs on the folder
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = path.join(folder, LOCK_FILE);
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: "wx" });
      return () => rm(file, { force: true });
    } catch (error) {
      if (!isExisting(error)) throw error;
    }
    const holder = Number(await readFile(file, "utf8").catch(() => ""));
    if (holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new Error(`a gateway (process ${holder}) runs on ${folder}; choose another folder with --persist-to DIR`);
    }
    await rm(file, { force: true });
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
