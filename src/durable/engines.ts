import type { Config } from "../config.ts";
import type { CommandView } from "../core/command.ts";
import type { EdgeTold } from "../core/edge-told.ts";
import type { JsonObject } from "../core/json.ts";
import { parseKey } from "../core/keys.ts";
import { partitionOf } from "../core/partition.ts";
import type { Problem } from "../core/problem.ts";
import type { EngineReport } from "../core/queue-status.ts";
import type { Cancelled, CommandEngine, FlowReport } from "./command-engine.ts";
import type { Found, InstanceView, SearchKind, SearchQuery } from "./engine-reads.ts";
import { addReports, type QueueOverview } from "./engine-status.ts";
import { type HangUp, whileCallerWaits } from "./hang-up.ts";
import type { Polled, PollRequest } from "./polling.ts";
import { mayHaveActed, silenceOf } from "./silence.ts";
import { bareEngineOf, type Calls, engineOf, failureOf, ObjectUnreachable } from "./stubs.ts";
import type { Submission, Submitted } from "./submission.ts";
import type { DeadLetter } from "./views.ts";

/**
 * Calls of the engine objects: which partition a command belongs to, what all partitions say together, and what it
 * means when one does not answer.
 */

/** Members of payloads that name something an engine object already holds; the command must go to that object. */
const KEY_MEMBERS = ["jobKey", "incidentKey", "processInstanceKey"] as const;

/** The partition that a command goes to: that of the key it is about, else its tenant's own. */
export function partitionFor(config: Config, tenant: string, payload: JsonObject): number {
  if (config.ENGINE_PARTITIONS === 1) return 0;
  const own = partitionOf(tenant, config.ENGINE_PARTITIONS);
  // Keys in commands for an upstream are the upstream's.
  if (config.executor === "upstream") return own;
  const keys = KEY_MEMBERS.flatMap((member) => payload[member] ?? []);
  const named = keys.flatMap((key) => (typeof key === "string" ? (parseKey(key)?.partition ?? []) : []));
  return named.find((partition) => partition < config.ENGINE_PARTITIONS) ?? own;
}

/**
 * Hands a command to its engine. When that does not answer: 503 with a time to come back, and never
 * a second try from here, since the first may have been taken.
 *
 * @param hangUp aborts when the caller hangs up; a submission that still waits for room then leaves the line
 */
export async function submitCommand(
  env: Env,
  partition: number,
  submission: Submission,
  hangUp: HangUp,
): Promise<Submitted | EngineSilent> {
  const engine = bareEngineOf(env, partition);
  const submit = async () => {
    try {
      return await engine.submit(submission);
    } catch (error) {
      throw failureOf(error);
    }
  };
  return orSilent(() => whileCallerWaits(engine, submission.token, hangUp, submit));
}

/** A refusal of which nobody can say whether nothing was done. */
export interface EngineSilent {
  readonly kind: "refused";
  readonly problem: Problem;
  readonly health: null;
  /** False: it is known that nothing was done. */
  readonly mayHaveActed: boolean;
  readonly overShare: false;
}

async function orSilent<T>(call: () => Promise<T>): Promise<T | EngineSilent> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ObjectUnreachable)) throw error;
    console.warn(JSON.stringify({ event: "engine_silent", error: error.message }));
    return {
      kind: "refused",
      problem: silenceOf(error),
      health: null,
      mayHaveActed: mayHaveActed(error),
      overShare: false,
    };
  }
}

/** As {@link submitCommand}, for a poll: its command is sent when there is something to activate. */
export async function pollJobs(
  env: Env,
  partition: number,
  request: PollRequest,
  hangUp: HangUp,
): Promise<Polled | EngineSilent> {
  const engine = engineOf(env, partition);
  return orSilent(() => whileCallerWaits(engine, request.submission.token, hangUp, () => engine.poll(request)));
}

/** How an instance stands, after at most `waitMs` for its end; null for what is not the tenant's own. */
export async function awaitInstance(
  env: Env,
  config: Config,
  tenant: string,
  key: string,
  waitMs: number,
  hangUp: HangUp,
): Promise<InstanceView | null> {
  const engine = holderOf(env, config, key);
  if (engine === null) return null;
  const token = crypto.randomUUID();
  return await whileCallerWaits(engine, token, hangUp, () => engine.instance(tenant, key, waitMs, token));
}

/** What a tenant's own partition finds. */
export async function searchEngine(
  env: Env,
  config: Config,
  tenant: string,
  kind: SearchKind,
  query: SearchQuery,
): Promise<Found> {
  return await engineOf(env, partitionOf(tenant, config.ENGINE_PARTITIONS)).search(tenant, kind, query);
}

/**
 * A tenant's command after at most `waitMs` for its end; null for what is not its own.
 *
 * @param key the caller's own name for it, when this is what its first request is answered with
 */
export async function readCommand(
  env: Env,
  config: Config,
  tenant: string,
  commandId: string,
  waitMs: number,
  hangUp: HangUp,
  key: string | null = null,
): Promise<CommandView | null> {
  const engine = holderOf(env, config, commandId);
  if (engine === null) return null;
  const token = crypto.randomUUID();
  return await whileCallerWaits(engine, token, hangUp, () =>
    key === null
      ? engine.command(tenant, commandId, waitMs, token)
      : engine.firstAnswer(tenant, commandId, waitMs, token, key),
  );
}

export async function cancelCommand(env: Env, config: Config, tenant: string, commandId: string): Promise<Cancelled> {
  const engine = holderOf(env, config, commandId);
  return engine ? await engine.cancel(tenant, commandId) : "not_found";
}

/** The object that knows a key. A key of no partition of ours opens no object. */
export function holderOf(env: Env, config: Config, key: string): Calls<CommandEngine> | null {
  const partition = parseKey(key)?.partition;
  return partition === undefined || partition >= config.ENGINE_PARTITIONS ? null : engineOf(env, partition);
}

/** Every partition, in order. */
export function allEngines(env: Env, config: Config): Calls<CommandEngine>[] {
  return Array.from({ length: config.ENGINE_PARTITIONS }, (_, partition) => engineOf(env, partition));
}

/** @param told what this isolate did without asking; told to one partition, so that it is counted once */
export async function engineStatus(env: Env, config: Config, told: EdgeTold): Promise<QueueOverview> {
  return addReports(await Promise.all(engineReports(env, config, told)));
}

/** How each partition stands, each by itself. @param told as for {@link engineStatus} */
export function engineReports(env: Env, config: Config, told: EdgeTold): Promise<EngineReport>[] {
  return allEngines(env, config).map((engine, n) => engine.status(n === 0 ? told : {}));
}

/** Tells the engine what an isolate did without asking. @throws ObjectUnreachable */
export async function tellEngine(env: Env, config: Config, told: EdgeTold): Promise<void> {
  await allEngines(env, config)[0]?.status(told);
}

/** Dead letters of all partitions: oldest first within each, partition by partition. */
export async function listDeadLetters(
  env: Env,
  config: Config,
  limit: number,
  after: string | null,
): Promise<DeadLetter[]> {
  const from = after === null ? 0 : (parseKey(after)?.partition ?? 0);
  const found: DeadLetter[] = [];
  for (const [partition, engine] of allEngines(env, config).entries()) {
    if (partition < from || found.length >= limit) continue;
    found.push(...(await engine.deadLetters(limit - found.length, partition === from ? after : null)));
  }
  return found;
}

/** The limits in force, which are each partition's own; in flight of all of them. */
export async function flowReport(env: Env, config: Config): Promise<FlowReport> {
  return addFlowReports(await Promise.all(allEngines(env, config).map((engine) => engine.flowSettings())));
}

/** @param reports of every partition, in order */
export function addFlowReports([first, ...others]: readonly FlowReport[]): FlowReport {
  if (first === undefined) throw new Error("there is at least one partition");
  return { ...first, inFlight: others.reduce((sum, { inFlight }) => sum + inFlight, first.inFlight) };
}
