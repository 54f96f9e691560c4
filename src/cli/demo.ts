import { progressLine } from "./burst-report.ts";
import { judge } from "./demo-judge.ts";
import { introduction, outcomeLines, verdictLines } from "./demo-report.ts";
import { type DemoView, runDemo } from "./demo-run.ts";
import { DEMO_USAGE, type DemoPlan, readDemoArguments } from "./demo-settings.ts";
import { liveOutput } from "./live.ts";
import { runTool } from "./tool.ts";
import { watchLine, watchTable } from "./watch-view.ts";

/** `npm run demo`: a burst through a gateway and a backend that it starts itself, shown while it runs, and judged. */

/** What a shell says of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

async function demo(plan: DemoPlan, interrupted: AbortSignal): Promise<number> {
  console.log(introduction(plan));
  const live = liveOutput(process.stdout);
  const view: DemoView = {
    say: (line) => console.log(`${line}\n`),
    show: (seconds, look, progress) => {
      const sent = progress === null ? "" : progressLine(progress);
      const at = `${seconds.toFixed(0).padStart(4)} s`;
      live.show([...watchTable(at, look), "", sent], `${at}  ${watchLine(look)}`);
    },
  };
  const outcome = await runDemo(plan, view, interrupted);
  live.end();
  if (outcome === null) {
    console.log("interrupted; everything that was started has ended");
    return INTERRUPTED;
  }
  const checks = judge(outcome.facts);
  console.log(["", ...outcomeLines(outcome), "", ...verdictLines(checks)].join("\n"));
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

await runTool(DEMO_USAGE, readDemoArguments, demo);
