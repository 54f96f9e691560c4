import { connect } from "./http-client.ts";
import { liveOutput } from "./live.ts";
import { lookAtQueue, type QueueLook } from "./queue-status.ts";
import { pause, runTool } from "./tool.ts";
import { readWatchArguments, WATCH_USAGE, type WatchOptions } from "./watch-settings.ts";
import { watchLine, watchTable } from "./watch-view.ts";

/** `npm run watch`: how the queue of a gateway stands, once a second. One that goes away is waited for. */

const EVERY_MS = 1000;

async function watch({ url, key, seconds, json }: WatchOptions, interrupted: AbortSignal): Promise<number> {
  const client = connect(url, 1);
  const live = liveOutput(process.stdout);
  const began = performance.now();
  const ends = seconds === 0 ? Number.POSITIVE_INFINITY : began + seconds * 1000;
  // Each look has its own time, so that slow answers do not add up.
  for (let due = began; due < ends && !interrupted.aborted; due = Math.max(due + EVERY_MS, performance.now())) {
    await pause(due - performance.now(), interrupted);
    if (interrupted.aborted) break;
    const look = await lookAtQueue(client, key);
    if (json) console.log(JSON.stringify({ at: new Date().toISOString(), ...jsonOf(look) }));
    else live.show(watchTable(`Headgate ${url}   ${clock()}`, look), `${clock()}  ${watchLine(look)}`);
  }
  live.end();
  client.close();
  return 0;
}

function jsonOf(look: QueueLook): object {
  return "fault" in look ? { error: look.fault } : look.status;
}

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}

await runTool(WATCH_USAGE, readWatchArguments, watch);
