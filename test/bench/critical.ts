import type { LoadResult } from "./load-job.ts";
import type { Measuring } from "./measure.ts";
import { deployProcess, execute, withClient } from "./prepare.ts";
import { create, request } from "./sides.ts";
import { type Figures, figuresOf, UNKNOWN } from "./tables.ts";

/**
 * How long a critical command takes, executed and answered, alone and while ordinary ones come at five times what the
 * engine can do. Both at the same rate, in turn, each job completed once.
 */

const WORKER = "slow";
/** ENGINE_RATE_MAX of that Worker. */
const ENGINE_PER_SECOND = 250;
const OVERLOAD = 5;
const CRITICAL_PER_SECOND = 100;
/** Critical commands have connections of their own: what ordinary ones wait for is not theirs. */
const CRITICAL_CONNECTIONS = 64;
/** Waiting callers, and those who are refused, at the same time. */
const CONNECTIONS = 400;
/** So long the overload runs before anything is watched. */
const BEFORE_SECONDS = 2;
const JOBS_AT_ONCE = 100;

export interface CriticalFigures {
  /** Milliseconds, over the rounds. */
  readonly unloadedP50: Figures;
  readonly unloadedP99: Figures;
  readonly overloadedP50: Figures;
  readonly overloadedP99: Figures;
  /** p99 under overload over p99 without, round by round. */
  readonly ratio: Figures;
  /** Watched commands, and how many of them were executed. */
  readonly sent: number;
  readonly executed: number;
  /** Ordinary commands under overload by status. */
  readonly ordinary: Readonly<Record<string, number>>;
}

export async function measureCritical(measuring: Measuring): Promise<CriticalFigures> {
  const { loader, rounds, seconds, say } = measuring;
  const perRun = CRITICAL_PER_SECOND * seconds;
  say(`preparing ${perRun * 2 * rounds} jobs`);
  const jobs = await prepareJobs(measuring, perRun * 2 * rounds);
  const ports = [await measuring.server.port(WORKER)];
  const critical = { ports, connections: CRITICAL_CONNECTIONS, match: '"state":"succeeded"' };
  const overload = { ports, connections: CONNECTIONS, requests: [create("t0")] };
  const open = (perSecond: number) => ({ kind: "open", seconds, perSecond }) as const;
  const ordinary: Record<string, number> = {};
  const pairs: { unloaded: LoadResult; overloaded: LoadResult }[] = [];
  for (let round = 0; round < rounds; round++) {
    say(`critical commands, round ${round + 1} of ${rounds}`);
    const watched = () => ({ ...critical, requests: jobs.splice(0, perRun), pace: open(CRITICAL_PER_SECOND) });
    const unloaded = await loader.run(watched());
    const load = { ...overload, pace: open(ENGINE_PER_SECOND * OVERLOAD) };
    await loader.run({ ...load, pace: { ...load.pace, seconds: BEFORE_SECONDS } });
    const [overloaded, others] = await loader.runTogether([watched(), load]);
    if (overloaded === undefined || others === undefined) throw new Error("the load has not told all");
    for (const [status, count] of Object.entries(others.byStatus)) ordinary[status] = (ordinary[status] ?? 0) + count;
    pairs.push({ unloaded, overloaded });
  }
  return { ...figuresFrom(pairs), ordinary };
}

type Pair = { readonly unloaded: LoadResult; readonly overloaded: LoadResult };

function figuresFrom(pairs: readonly Pair[]): Omit<CriticalFigures, "ordinary"> {
  const of = (figure: (pair: Pair) => number) => figuresOf(pairs.map(figure)) ?? UNKNOWN;
  const sum = (figure: "answered" | "matched") =>
    pairs.reduce((total, { unloaded, overloaded }) => total + unloaded[figure] + overloaded[figure], 0);
  return {
    unloadedP50: of(({ unloaded }) => unloaded.p50),
    unloadedP99: of(({ unloaded }) => unloaded.p99),
    overloadedP50: of(({ overloaded }) => overloaded.p50),
    overloadedP99: of(({ overloaded }) => overloaded.p99),
    ratio: of(({ unloaded, overloaded }) => overloaded.p99 / unloaded.p99),
    sent: sum("answered"),
    executed: sum("matched"),
  };
}

/** @returns a request for each of so many jobs that completes it */
async function prepareJobs({ server }: Measuring, count: number): Promise<string[]> {
  await deployProcess(server, WORKER);
  return await withClient(server, WORKER, async (client) => {
    const keys: string[] = [];
    while (keys.length < count) {
      const batch = Math.min(JOBS_AT_ONCE, count - keys.length);
      await Promise.all(
        Array.from({ length: batch }, () => execute(client, "PROCESS_INSTANCE:CREATE", { processId: "p" })),
      );
      const wanted = { type: "t", maxJobs: batch, timeoutSeconds: 3_600 };
      const { jobs } = await execute(client, "JOB:ACTIVATE", wanted);
      if (!Array.isArray(jobs) || jobs.length === 0) throw new Error("there were no jobs to activate");
      keys.push(...jobs.map(({ jobKey }: { jobKey: string }) => jobKey));
    }
    return keys.map((jobKey) =>
      request("/v1/commands", "t0", { intent: "JOB:COMPLETE", payload: { jobKey } }, ["Prefer: wait=10"]),
    );
  });
}
