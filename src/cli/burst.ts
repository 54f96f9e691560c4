import { burstJson, burstLines, burstReport, progressLine } from "./burst-report.ts";
import { runBurst } from "./burst-run.ts";
import { BURST_USAGE, type BurstOptions, readBurstArguments } from "./burst-settings.ts";
import { liveOutput } from "./live.ts";
import { runTool } from "./tool.ts";

/** `npm run burst`: a stream of commands at a fixed rate against a gateway that runs, and what it was answered. */

async function burst(options: BurstOptions & { json: boolean }, interrupted: AbortSignal): Promise<number> {
  // Progress goes beside the result, so that the result can be piped on.
  const live = liveOutput(process.stderr);
  const show = (line: string) => live.show([line], line);
  const report = burstReport(await runBurst(options, (progress) => show(progressLine(progress)), interrupted));
  live.end();
  console.log(options.json ? burstJson(report) : `\n${burstLines(report).join("\n")}`);
  return report.all.count > 0 ? 0 : 1;
}

await runTool(BURST_USAGE, readBurstArguments, burst);
