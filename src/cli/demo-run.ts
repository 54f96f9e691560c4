import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BurstProgress, type BurstResult, runBurst } from "./burst-run.ts";
import { acceptedIds, type DemoFacts } from "./demo-judge.ts";
import { type DemoPlan, expectedSeconds } from "./demo-settings.ts";
import { type QueueRecord, QueueWatch } from "./demo-watch.ts";
import type { Gateway } from "./gateway.ts";
import { connect, jsonObject } from "./http-client.ts";
import type { ProviderStats } from "./provider-book.ts";
import { type Provider, startProvider } from "./provider-server.ts";
import type { QueueLook } from "./queue-status.ts";
import { messageOf, pause } from "./tool.ts";

/**
 * The demo's parts put together: a gateway and a backend of its own on free ports, over a folder of its own, a burst
 * through them, and the facts of what became of it. Whatever happens, all of it is gone in the end.
 */

export interface DemoOutcome {
  readonly facts: DemoFacts;
  readonly burst: BurstResult;
  readonly queue: QueueRecord;
  readonly backend: ProviderStats;
}

export interface DemoView {
  /** @param seconds since the burst began */
  readonly show: (seconds: number, look: QueueLook, progress: BurstProgress | null) => void;
  readonly say: (line: string) => void;
}

const KEY = "hg_dev_premium";
const TENANT = "demo-premium";
/** No limit that a demo meets: what it shows is the queue. */
const UNLIMITED = { requestsPerSecond: 100_000, burstSize: 1_000_000 };
/** After so many times the expected time what is not done is taken to be lost. */
const PATIENCE = 1.5;
const PATIENCE_SECONDS = 60;
const CALL_MS_MAX = 30_000;
const READERS = 16;

/**
 * @param interrupted ends it early
 * @returns null when it was interrupted
 * @throws Error with one line for people, when a part does not start
 */
export async function runDemo(plan: DemoPlan, view: DemoView, interrupted: AbortSignal): Promise<DemoOutcome | null> {
  const folder = await mkdtemp(path.join(tmpdir(), "headgate-demo-"));
  const started: { stop(): Promise<unknown> }[] = [];
  try {
    const { jobMs, quota } = plan;
    const provider = await startProvider({ jobMs, quota });
    started.push(provider);
    // Loaded only now: a misspelt option is answered at once, without a bundler and a runtime.
    const { startGateway } = await import("./gateway.ts");
    const gateway = await startGateway(
      { port: 0, persistTo: folder, vars: variables(plan, provider.url) },
      interrupted,
    );
    started.push(gateway);
    view.say(`gateway ${gateway.url}, backend ${provider.url}, state in ${folder}`);
    await liftLimits(gateway);
    const outcome = await sendAndDrain(plan, gateway, provider, view, interrupted);
    return interrupted.aborted ? null : outcome;
  } catch (error) {
    if (interrupted.aborted) return null;
    throw error;
  } finally {
    // One that does not stop must not keep the other, or the folder, from going.
    await Promise.allSettled(started.map((part) => part.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** The gateway's variables: a plain queue in front of the backend, told of the backend's quota. */
function variables({ bound, concurrency, quota }: DemoPlan, upstream: string): Record<string, string> {
  return {
    UPSTREAM_URL: upstream,
    UPSTREAM_ROUTES: '{"*":{}}',
    UPSTREAM_CONCURRENCY: String(concurrency),
    UPSTREAM_QUOTA_BURST: String(quota.burst),
    UPSTREAM_QUOTA_PER_MINUTE: String(quota.perMinute),
    QUEUE_MAX: String(bound),
    ENQUEUE_WAIT_MS: "0",
    RETRY_AFTER: "plain",
    // Its log would stand in the middle of what the demo shows.
    LOG_REQUESTS: "off",
    // A limit in flight that learns from slow answers would refuse before the queue is full.
    FLOW_ALGORITHM: "none",
  };
}

async function liftLimits({ url, adminToken }: Gateway): Promise<void> {
  const client = connect(url, 1);
  const { status, text } = await client.send({
    method: "PUT",
    path: `/admin/tenants/${TENANT}/limits`,
    headers: { Authorization: `Bearer ${adminToken}` },
    body: JSON.stringify(UNLIMITED),
    timeoutMs: CALL_MS_MAX,
  });
  client.close();
  if (status !== 200) throw new Error(`the tenant's limits could not be lifted: ${status} ${text}`);
}

async function sendAndDrain(
  plan: DemoPlan,
  { url }: Gateway,
  provider: Provider,
  view: DemoView,
  interrupted: AbortSignal,
): Promise<DemoOutcome> {
  const watch = new QueueWatch(url, KEY);
  const tooLate = new AbortController();
  let progress: BurstProgress | null = null;
  const watching = watch.untilDone(
    (look) => view.show(watch.seconds(), look, progress),
    AbortSignal.any([interrupted, tooLate.signal]),
  );
  const { rate, seconds } = plan;
  const command = { intent: "PROCESS_INSTANCE:CREATE", payload: '{"order":{n}}', idempotency: false, wait: 0 };
  const burst = await runBurst(
    { url, key: KEY, rate, seconds, ...command },
    (latest) => {
      progress = latest;
    },
    interrupted,
  );
  watch.sendingEnded();
  const patienceMs = 1000 * (PATIENCE * expectedSeconds(plan) + PATIENCE_SECONDS);
  void pause(patienceMs, interrupted).then(() => tooLate.abort());
  await watching;
  const backend = provider.stats(true);
  const { peakDepth, deepestSeen } = watch.record;
  const facts: DemoFacts = {
    plan,
    planned: burst.planned,
    answers: burst.answers,
    peakDepth,
    deepestSeen,
    states: await readBack(url, acceptedIds(burst.answers)),
    backend: { ...backend, doneIds: backend.doneIds ?? [] },
  };
  return { facts, burst, queue: watch.record, backend };
}

/** What each command says of itself. */
async function readBack(url: string, ids: readonly string[]): Promise<Map<string, string>> {
  const client = connect(url, READERS);
  const headers = { Authorization: `Bearer ${KEY}` };
  const states = ids.map(async (id): Promise<[string, string]> => {
    try {
      const call = { method: "GET", path: `/v1/commands/${id}`, headers, timeoutMs: CALL_MS_MAX } as const;
      return [id, String(jsonObject((await client.send(call)).text).state)];
    } catch (error) {
      return [id, `unknown (${messageOf(error)})`];
    }
  });
  const read = new Map(await Promise.all(states));
  client.close();
  return read;
}
