import { type LoadJob, runLoad } from "./load.ts";

// The process that makes the load: takes a job, runs it, tells the result, until whoever started it is gone.

process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => undefined);
process.on("message", (job: LoadJob) => {
  runLoad(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
