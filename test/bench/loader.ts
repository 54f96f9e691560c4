import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, LoadResult } from "./load-job.ts";
import { LOAD_CORE, pin } from "./machine.ts";

/** The process that makes the load, as the benchmark uses it. It ends with the benchmark, however that ends. */

export interface Loader {
  /** @throws Error when the run has a fault, or is broken off */
  run(job: LoadJob): Promise<LoadResult>;
  /** Several kinds of load at the same time. @returns their results in the same order; throws as `run` does */
  runTogether(jobs: readonly LoadJob[]): Promise<readonly LoadResult[]>;
  readonly pinned: boolean;
  stop(): void;
}

type Told = { readonly results: readonly LoadResult[] } | { readonly error: string };

/** @param interrupted breaks off the run that is under way */
export function startLoader(interrupted: AbortSignal): Loader {
  const child = fork(fileURLToPath(new URL("load-process.ts", import.meta.url)));
  const pinned = child.pid !== undefined && pin(child.pid, LOAD_CORE);
  const stop = () => {
    if (child.connected) child.disconnect();
    child.kill("SIGKILL");
  };
  const runTogether = (jobs: readonly LoadJob[]) =>
    new Promise<readonly LoadResult[]>((resolve, reject) => {
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
        resolve(told.results);
      };
      const gone = () => fail("the process that makes the load has ended");
      const abort = () => fail("interrupted");
      if (interrupted.aborted) return fail("interrupted");
      child.on("message", take);
      child.once("exit", gone);
      interrupted.addEventListener("abort", abort);
      child.send(jobs);
    });
  const run = async (job: LoadJob) => {
    const [result] = await runTogether([job]);
    if (result === undefined) throw new Error("the load has told nothing");
    return result;
  };
  return { run, runTogether, pinned, stop };
}
