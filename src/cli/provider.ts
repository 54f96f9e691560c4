import type { ProviderStats } from "./provider-book.ts";
import { startProvider } from "./provider-server.ts";
import { PROVIDER_USAGE, type ProviderOptions, readProviderArguments } from "./provider-settings.ts";
import { aborted, runTool } from "./tool.ts";

/** `npm run provider`: a simulated backend on this machine, until it is interrupted. */

function greeting(url: string, { jobMs, quota }: ProviderOptions): string {
  const limit = quota === null ? "no quota" : `a quota of ${quota.burst} at once and ${quota.perMinute} a minute`;
  return `Backend listens on ${url}   (a job takes ${jobMs} ms; ${limit}; stop with Ctrl-C)`;
}

function summary(stats: ProviderStats): string {
  return [
    `received ${stats.received}`,
    `started ${stats.started}`,
    `done ${stats.done}`,
    `failed ${stats.failed}`,
    `refused ${stats.refused429} (429) and ${stats.refused503} (503)`,
    `unanswered ${stats.unanswered}`,
    `faults ${stats.faulted}`,
    `repeated ${stats.repeatedDeliveries}`,
    `done twice ${stats.doneTwice}`,
    `at once ${stats.runningPeak}`,
  ].join(", ");
}

async function provide(options: ProviderOptions, interrupted: AbortSignal): Promise<number> {
  const provider = await startProvider(options);
  console.log(greeting(provider.url, options));
  await aborted(interrupted);
  console.log(summary(await provider.stop()));
  return 0;
}

await runTool(PROVIDER_USAGE, readProviderArguments, provide);
