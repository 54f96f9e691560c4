import { setTimeout as sleep } from "node:timers/promises";
import type { LoadJob, LoadResult } from "./load-job.ts";
import type { Loader } from "./loader.ts";
import { cpuSecondsOf } from "./machine.ts";
import type { Server } from "./server.ts";
import type { Side } from "./sides.ts";
import type { Round, Sample } from "./tables.ts";

/** Rounds: in each of them every side is measured once, in an order that moves on by one from round to round. */

export interface Measuring {
  readonly server: Server;
  readonly loader: Loader;
  /** Of each side in each round. */
  readonly seconds: number;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/** More wrong answers than this and the rate says nothing. Some are right: a refusal's memory ends once a second. */
const WRONG_MAX = 0.02;
/** Before the first round each side has load for so long: the platform goes on making code faster for about that time. */
export const WARM_UP_SECONDS = 3;
/** Objects write what they have counted once nobody has asked for two seconds. */
const FALL_IDLE_MS = 2_500;
/** The server has nothing to do when it takes less of this time than of its core. */
const QUIET_MS = 500;
const QUIET_SHARE = 0.1;
const QUIET_TRIES_MAX = 20;

/** @returns the samples of each round; the warm-up is not among them */
export async function measureRounds(measuring: Measuring, sides: readonly Side[]): Promise<Round[]> {
  for (const side of sides) {
    if (side.once !== true) await runSide(measuring, side, 0, { kind: "closed", seconds: WARM_UP_SECONDS });
  }
  const rounds: Sample[][] = [];
  for (let round = 0; round < measuring.rounds; round++) {
    measuring.say(`round ${round + 1} of ${measuring.rounds}`);
    const samples: Sample[] = [];
    for (let n = 0; n < sides.length; n++) {
      const side = sides[(n + round) % sides.length];
      if (side === undefined) continue;
      samples.push(await measureOnce(measuring, side, round));
      if (side.leavesWork === true) await whenQuiet(measuring.server);
    }
    rounds.push(samples);
  }
  return rounds;
}

/** Waits for what a side's objects do when they fall idle: it must not take the time of the next side. */
async function whenQuiet({ pid }: Pick<Server, "pid">): Promise<void> {
  await sleep(FALL_IDLE_MS);
  for (let n = 0; n < QUIET_TRIES_MAX; n++) {
    const before = cpuSecondsOf(pid);
    await sleep(QUIET_MS);
    if (cpuSecondsOf(pid) - before < (QUIET_SHARE * QUIET_MS) / 1000) return;
  }
}

async function measureOnce(measuring: Measuring, side: Side, round: number): Promise<Sample> {
  const pace = side.once === true ? { kind: "once" as const } : { kind: "closed" as const, seconds: measuring.seconds };
  const { result, serverSeconds, tookSeconds, wrong } = await runSide(measuring, side, round, pace);
  const { perSecond, p50, p99, busy: loadBusy, answerBytes, answered } = result;
  const serverMicros = (serverSeconds * 1e6) / Math.max(1, answered);
  const serverBusy = serverSeconds / tookSeconds;
  return { side: side.id, perSecond, p50, p99, serverBusy, serverMicros, loadBusy, wrong, answerBytes };
}

/**
 * @returns what the load saw, the server's processor time meanwhile, how long it took by the clock, and the part of the
 *   answers that were others than the side must give
 * @throws Error when those are so many that the rest says nothing
 */
export async function runSide(
  { server, loader }: Pick<Measuring, "server" | "loader">,
  side: Side,
  round: number,
  pace: LoadJob["pace"],
): Promise<{ result: LoadResult; serverSeconds: number; tookSeconds: number; wrong: number }> {
  const { match, connections } = side;
  const job = { ports: [await server.port(side.worker)], requests: side.requests(round), connections, match };
  // Objects leave memory after ten seconds without a call, and other sides took their time meanwhile.
  if (pace.kind !== "once" && job.requests.length > 1) await loader.run({ ...job, pace: { kind: "once" } });
  const before = cpuSecondsOf(server.pid);
  const began = performance.now();
  const result = await loader.run({ ...job, pace });
  const tookSeconds = (performance.now() - began) / 1000;
  const serverSeconds = cpuSecondsOf(server.pid) - before;
  const wrong = 1 - Math.min(result.byStatus[side.status] ?? 0, result.matched) / Math.max(1, result.answered);
  if (wrong > WRONG_MAX) throw new Error(`${side.id}: ${(wrong * 100).toFixed(1)} % other answers:\n${result.sample}`);
  return { result, serverSeconds, tookSeconds, wrong };
}
