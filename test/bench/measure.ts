import type { LoadResult } from "./load.ts";
import type { Loader } from "./loader.ts";
import { cpuSecondsOf } from "./machine.ts";
import type { Server } from "./server.ts";
import { jobOf, type Side } from "./sides.ts";

/** Rounds: in each of them every side is measured once, in an order that moves on by one from round to round. */

export interface Sample {
  readonly side: string;
  /** Answers a second. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Parts of one core that the server and the load took. */
  readonly serverBusy: number;
  readonly loadBusy: number;
  /** The part of the answers that was not what the side must answer. */
  readonly wrong: number;
  readonly answerBytes: number;
}

export interface Measuring {
  readonly server: Server;
  readonly loader: Loader;
  readonly seconds: number;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/** More wrong answers than this and the rate says nothing: one in a thousand may fall into a change of the second. */
const WRONG_MAX = 0.02;
const WARM_UP_SECONDS = 1;

/** @returns the samples of each round; the warm-up is not among them */
export async function measureRounds(measuring: Measuring, sides: readonly Side[]): Promise<Sample[][]> {
  for (const side of sides) {
    if (side.once !== true) await measureOnce({ ...measuring, seconds: WARM_UP_SECONDS }, side, 0);
  }
  const rounds: Sample[][] = [];
  for (let round = 0; round < measuring.rounds; round++) {
    measuring.say(`round ${round + 1} of ${measuring.rounds}`);
    const samples: Sample[] = [];
    for (let n = 0; n < sides.length; n++) {
      const side = sides[(n + round) % sides.length];
      if (side !== undefined) samples.push(await measureOnce(measuring, side, round));
    }
    rounds.push(samples);
  }
  return rounds;
}

async function measureOnce({ server, loader, seconds }: Measuring, side: Side, round: number): Promise<Sample> {
  const job = jobOf(side, await server.port(side.worker), round, seconds);
  // Objects leave memory after ten seconds without a call, and other sides took their time meanwhile.
  if (side.once !== true && job.requests.length > 1) await loader.run({ ...job, pace: { kind: "once" } });
  const before = cpuSecondsOf(server.pid);
  const began = performance.now();
  const result = await loader.run(job);
  const tookSeconds = (performance.now() - began) / 1000;
  const serverBusy = (cpuSecondsOf(server.pid) - before) / tookSeconds;
  const wrong = wrongShare(side, result);
  if (wrong > WRONG_MAX) throw new Error(`${side.id}: ${(wrong * 100).toFixed(1)} % other answers:\n${result.sample}`);
  const { perSecond, p50, p99, busy: loadBusy, answerBytes } = result;
  return { side: side.id, perSecond, p50, p99, serverBusy, loadBusy, wrong, answerBytes };
}

function wrongShare(side: Side, { answered, byStatus, matched }: LoadResult): number {
  const right = Math.min(byStatus[side.status] ?? 0, side.match === undefined ? answered : matched);
  return 1 - right / Math.max(1, answered);
}
