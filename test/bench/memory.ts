import { existsSync } from "node:fs";
import type { LoadJob } from "./load-job.ts";
import type { Loader } from "./loader.ts";
import { residentMiBOf } from "./machine.ts";
import { ask, deployProcess, withClient } from "./prepare.ts";
import { keyOf, type Server, startServer, TENANTS, tenants } from "./server.ts";
import { check, create } from "./sides.ts";

/**
 * Whether memory stays flat: a million checks over ten thousand tenants, and commands on a queue that is full all the
 * time, each in a workerd of its own. What is read is the resident memory of the whole process.
 */

const CONNECTIONS = 32;
/** More callers than the queue has places (`busy` has 100), and fewer than would be refused at once. */
const COMMAND_CONNECTIONS = 192;
const COMMAND_SECONDS = 30;
/** State is kept in memory where that can be: opening ten thousand files is the disk's business, not this one's. */
const IN_MEMORY = "/dev/shm";

export interface MemoryRow {
  readonly what: string;
  /** How much it was: "1 000 000 checks, 10 000 tenants" */
  readonly amount: string;
  /** Resident, in MiB: before it, after the first half, after the second. */
  readonly start: number;
  readonly middle: number;
  readonly end: number;
}

export async function measureMemory(
  { root, checks: count }: { readonly root: string; readonly checks: number },
  loader: Loader,
  say: (line: string) => void,
): Promise<MemoryRow[]> {
  return [
    await alone(root, "leased", (server) => checks(server, loader, say, count)),
    await alone(root, "busy", (server) => commands(server, loader, say)),
  ];
}

async function alone<T>(root: string, worker: string, use: (server: Server) => Promise<T>): Promise<T> {
  const server = await startServer(root, { only: [worker], ...(existsSync(IN_MEMORY) ? { parent: IN_MEMORY } : {}) });
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** @param count of checks, in two halves; all tenants come in each */
async function checks(server: Server, loader: Loader, say: (line: string) => void, count: number): Promise<MemoryRow> {
  const requests = tenants("t", 0, TENANTS).map(check);
  const job: LoadJob = {
    ports: [await server.port("leased")],
    requests,
    repeat: Math.ceil(count / 2 / TENANTS),
    connections: CONNECTIONS,
    match: '"allowed":true',
    pace: { kind: "once" },
  };
  await loader.run({ ...job, requests: requests.slice(0, CONNECTIONS), pace: { kind: "closed", seconds: 2 } });
  const start = residentMiBOf(server.pid);
  const halves: number[] = [];
  let admitted = 0;
  for (const half of [1, 2]) {
    say(`memory: half ${half} of 2 of the checks`);
    admitted += (await loader.run(job)).matched;
    halves.push(residentMiBOf(server.pid));
  }
  const [middle = Number.NaN, end = Number.NaN] = halves;
  const amount = `${admitted.toLocaleString("en")} checks, ${TENANTS.toLocaleString("en")} tenants`;
  return { what: "checks, leased", amount, start, middle, end };
}

async function commands(server: Server, loader: Loader, say: (line: string) => void): Promise<MemoryRow> {
  await deployProcess(server, "busy");
  const job: LoadJob = {
    ports: [await server.port("busy")],
    requests: [create("t0")],
    connections: COMMAND_CONNECTIONS,
    pace: { kind: "closed", seconds: COMMAND_SECONDS },
  };
  await loader.run({ ...job, pace: { kind: "closed", seconds: 2 } });
  const start = residentMiBOf(server.pid);
  const halves: number[] = [];
  const counts = { accepted: 0, refused: 0, seconds: 0 };
  for (const half of [1, 2]) {
    say(`memory: half ${half} of 2 of the commands`);
    const { byStatus, seconds } = await loader.run(job);
    counts.accepted += byStatus[202] ?? 0;
    counts.refused += byStatus[503] ?? 0;
    counts.seconds += seconds;
    halves.push(residentMiBOf(server.pid));
  }
  const peak = await peakDepth(server);
  const [middle = Number.NaN, end = Number.NaN] = halves;
  const hourly = Math.round(counts.accepted / 3_600);
  const amount =
    `${counts.accepted.toLocaleString("en")} commands executed and ${counts.refused.toLocaleString("en")} refused in ` +
    `${counts.seconds.toFixed(0)} s, as many as an engine of ${hourly}/s executes in an hour; deepest queue ${peak} of 100`;
  return { what: "commands on a full queue", amount, start, middle, end };
}

async function peakDepth(server: Server): Promise<number> {
  return await withClient(server, "busy", async (client) => {
    const headers = { Authorization: `Bearer ${keyOf("t0")}` };
    const { text } = await ask(client, "GET", "/v1/queue", headers);
    const { peakDepth: peak }: { peakDepth?: number } = JSON.parse(text);
    if (peak === undefined) throw new Error(`no depth: ${text}`);
    return peak;
  });
}
