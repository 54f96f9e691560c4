import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What other processes of this machine are. */

/** The command line of a process; empty: there is none of this id, or it has ended and was not collected yet. */
export function commandOf(pid: number): string {
  if (process.platform !== "linux") {
    return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/**
 * Calls back once this process's parent has ended; its children are then given to another. Nothing tells a process of
 * that, so it is looked at now and then. It keeps no process from ending.
 */
export function onParentEnd(ended: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended();
  }, PARENT_LOOK_MS);
  timer.unref();
}

const PARENT_LOOK_MS = 250;
