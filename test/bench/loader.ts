import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, LoadResult } from "./load.ts";
import { LOAD_CORE, pin } from "./machine.ts";

/** The process that makes the load, as the benchmark uses it. It ends with the benchmark, however that ends. */

export interface Loader {
  /** One job at a time. @throws Error when the run has a fault, or is broken off */
  run(job: LoadJob): Promise<LoadResult>;
  readonly pinned: boolean;
  stop(): void;
}

type Told = { readonly result: LoadResult } | { readonly error: string };

/** @param interrupted breaks off the run that is under way */
export function startLoader(interrupted: AbortSignal): Loader {
  const child = fork(fileURLToPath(new URL("load-process.ts", import.meta.url)));
  const pinned = child.pid !== undefined && pin(child.pid, LOAD_CORE);
  const stop = () => {
    if (child.connected) child.disconnect();
    child.kill("SIGKILL");
  };
  const run = (job: LoadJob) =>
    new Promise<LoadResult>((resolve, reject) => {
      const done = () => {
        child.off("message", take);
        child.off("exit", gone);
        interrupted.removeEventListener("abort", abort);
      };
      const fail = (why: string) => {
        done();
        reject(new Error(why));
      };
      const take = (told: Told) => {
        if ("error" in told) return fail(told.error);
        done();
        resolve(told.result);
      };
      const gone = () => fail("the process that makes the load has ended");
      const abort = () => fail("interrupted");
      if (interrupted.aborted) return fail("interrupted");
      child.on("message", take);
      child.once("exit", gone);
      interrupted.addEventListener("abort", abort);
      child.send(job);
    });
  return { run, pinned, stop };
}
