import { runLoad } from "./load.ts";
import type { LoadJob } from "./load-job.ts";

// The process that makes the load: takes jobs, runs them together, tells the results, until whoever started it is gone.

process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => undefined);
process.on("message", (jobs: readonly LoadJob[]) => {
  Promise.all(jobs.map(runLoad)).then(
    (results) => process.send?.({ results }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
