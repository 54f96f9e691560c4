import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** What the kernel says of this machine and of processes on it (Linux), and which core they are kept on. */

/** The server's core, and that of everything else that a measurement starts. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** In units of 1/100 s on every Linux that runs Node. */
const TICKS_PER_SECOND = 100;

/** @returns processes that a process has started and that are still there, with their command lines */
export function childrenOf(pid: number): { readonly pid: number; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (statOf(Number(name)).parent !== pid) return [];
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ") }];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
}

function statOf(pid: number): { parent: number; ticks: number } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain anything; what follows it is counted from its end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** Seconds of processor time that a process has used until now, all its threads together. */
export function cpuSecondsOf(pid: number): number {
  return statOf(pid).ticks / TICKS_PER_SECOND;
}

/** Resident memory of a process, in MiB. */
export function residentMiBOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/**
 * Keeps a process, with all its threads, on one core.
 *
 * @returns whether it is kept there: not without `taskset`, nor on a machine with one core
 */
export function pin(pid: number, core: number): boolean {
  if (cpus().length < 2) return false;
  try {
    execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The machine, in a few lines for people. */
export function describeMachine(): string[] {
  const [cpu] = cpus();
  return [
    `${cpu?.model.trim() ?? "unknown processor"}, ${cpus().length} cores`,
    `${Math.round(totalmem() / 1024 ** 3)} GiB of memory`,
    `Linux ${release()}`,
  ];
}
