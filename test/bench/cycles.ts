import path from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { startGateway } from "../../src/cli/gateway.ts";
import { type Client, connect } from "../../src/cli/http-client.ts";
import { spreadOf } from "../../src/cli/statistics.ts";
import { runTool } from "../../src/cli/tool.ts";
import { temporaryFolder } from "../support/node/process.ts";

// How much of what the platform can write the engine makes into work: cycles (create an instance of one task, activate
// its job, complete it) a second over HTTP, against requests a second that write one row each in a bare object. Both in
// turn, on the same machine, disk and number of connections, since only the ratio says something about the engine: the
// rates are the machine's. `npm run cycles -- 3` takes three seconds a round, about half a minute in all.

const USAGE = `npm run cycles -- [SECONDS]

  SECONDS   of each round, 1 to 60 (3); there are 5 rounds of each kind`;

const ROUNDS = 5;
const WARM_UP_SECONDS = 1;
const CONNECTIONS = 32;
const COMMANDS_PER_CYCLE = 3;
const ANSWER_MS_MAX = 15_000;
const KEY = { Authorization: "Bearer hg_dev_premium", Prefer: "wait=10" };

/** One row a request, and nothing else. */
const BARE = `
import { DurableObject } from "cloudflare:workers";
export class Rows extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS written (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
  }
  write(body) {
    return this.ctx.storage.sql.exec("INSERT INTO written (body) VALUES (?) RETURNING seq", body).one().seq;
  }
}
export default {
  async fetch(request, env) {
    const rows = env.ROWS.get(env.ROWS.idFromName("rows"));
    return Response.json({ seq: await rows.write(await request.text()) });
  },
};
`;

interface Side {
  /** One cycle, or one write. */
  readonly once: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Nothing interrupts a bench from within. */
const NEVER = new AbortController().signal;

async function startEngine(folder: string): Promise<Side> {
  const gateway = await startGateway({ port: 0, persistTo: path.join(folder, "engine"), vars: {} }, NEVER);
  const client = connect(gateway.url, CONNECTIONS);
  const stop = async () => {
    client.close();
    await gateway.stop();
  };
  try {
    const limits = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
    const headers = { Authorization: `Bearer ${gateway.adminToken}` };
    await send(client, "PUT", "/admin/tenants/demo-premium/limits", headers, limits);
    await run(client, "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "t" }] });
  } catch (error) {
    await stop();
    throw error;
  }
  const once = async () => {
    await run(client, "PROCESS_INSTANCE:CREATE", { processId: "p" });
    // Perhaps another's: as many jobs are there as cycles have come so far.
    const { jobs = [] } = await run(client, "JOB:ACTIVATE", { type: "t" });
    const [job] = jobs;
    if (job === undefined) throw new Error("there was no job to activate");
    await run(client, "JOB:COMPLETE", { jobKey: job.jobKey });
  };
  return { once, stop };
}

async function startBare(folder: string): Promise<Side> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      resourcePersistencePath: path.join(folder, "bare"),
      log: new Log(LogLevel.WARN),
      cf: false,
      workers: [
        {
          name: "bare",
          compatibilityDate: "2026-10-01",
          modules: [{ type: "ESModule", path: "index.js", contents: BARE }],
          durableObjects: { ROWS: { className: "Rows", useSQLite: true } },
        },
      ],
    }),
  );
  const client = connect((await miniflare.ready).origin, CONNECTIONS);
  const stop = async () => {
    client.close();
    await miniflare.dispose();
  };
  const body = { intent: "PROCESS_INSTANCE:CREATE", payload: { processId: "p" } };
  return { once: () => send(client, "POST", "/", KEY, body).then(() => undefined), stop };
}

async function send(
  client: Client,
  method: "POST" | "PUT",
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): Promise<string> {
  const call = { method, path, headers, body: JSON.stringify(body), timeoutMs: ANSWER_MS_MAX };
  const { status, text } = await client.send(call);
  if (status !== 200) throw new Error(`${method} ${path} was answered with ${status}: ${text}`);
  return text;
}

interface Ended {
  readonly state: string;
  readonly result: { readonly jobs?: readonly { readonly jobKey: string }[] };
}

async function run(client: Client, intent: string, payload: object): Promise<Ended["result"]> {
  const ended: Ended = JSON.parse(await send(client, "POST", "/v1/commands", KEY, { intent, payload }));
  if (ended.state !== "succeeded") throw new Error(`${intent} has ${ended.state}`);
  return ended.result;
}

/** @returns how many a second, by as many callers as there are connections */
async function rateOf({ once }: Side, seconds: number, interrupted: AbortSignal): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1000;
  let count = 0;
  let failed = false;
  const caller = async () => {
    while (performance.now() < until && !failed) {
      interrupted.throwIfAborted();
      await once();
      count += 1;
    }
  };
  const stopOthers = (error: unknown) => {
    failed = true;
    throw error;
  };
  const callers = Array.from({ length: CONNECTIONS }, () => caller().catch(stopOthers));
  await Promise.allSettled(callers);
  await Promise.all(callers);
  return (count * 1000) / (performance.now() - began);
}

async function measure(seconds: number, engine: Side, bare: Side, interrupted: AbortSignal): Promise<void> {
  await rateOf(bare, WARM_UP_SECONDS, interrupted);
  await rateOf(engine, WARM_UP_SECONDS, interrupted);
  const rounds: { writes: number; cycles: number }[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    // In turn each goes first, so that what changes on the machine meanwhile favours neither.
    const first = n % 2 === 0 ? await rateOf(bare, seconds, interrupted) : null;
    const cycles = await rateOf(engine, seconds, interrupted);
    rounds.push({ writes: first ?? (await rateOf(bare, seconds, interrupted)), cycles });
  }
  console.log(`${ROUNDS} rounds of ${seconds} s each, ${CONNECTIONS} connections: median (lowest to highest)`);
  const show = (label: string, values: readonly number[], digits: number) => {
    const { median = 0, min = 0, max = 0 } = spreadOf(values) ?? {};
    const [middle, low, high] = [median, min, max].map((value) => value.toFixed(digits));
    console.log(`${label.padEnd(28)}${middle} (${low} to ${high})`);
  };
  const ratios = rounds.map(({ writes, cycles }) => cycles / writes);
  show(
    "bare writes/s",
    rounds.map(({ writes }) => writes),
    0,
  );
  show(
    "cycles/s",
    rounds.map(({ cycles }) => cycles),
    0,
  );
  show("cycles/s ÷ writes/s", ratios, 3);
  show(
    "commands/s ÷ writes/s",
    ratios.map((ratio) => ratio * COMMANDS_PER_CYCLE),
    3,
  );
}

function readSeconds(argv: readonly string[]): { seconds: number } | "help" {
  if (argv.includes("--help")) return "help";
  const seconds = Number(argv[0] ?? 3);
  if (argv.length > 1 || !(seconds >= 1 && seconds <= 60)) throw new Error(`takes 1 to 60 seconds\n\n${USAGE}`);
  return { seconds };
}

async function bench({ seconds }: { seconds: number }, interrupted: AbortSignal): Promise<number> {
  const { folder, remove } = await temporaryFolder();
  const started: Side[] = [];
  try {
    const engine = await startEngine(folder);
    started.push(engine);
    const bare = await startBare(folder);
    started.push(bare);
    await measure(seconds, engine, bare, interrupted);
    return 0;
  } finally {
    await Promise.allSettled(started.map(({ stop }) => stop()));
    await remove();
  }
}

await runTool(USAGE, readSeconds, bench);
