import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { CommandView } from "../../src/core/command.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { QueueStatus } from "../../src/core/queue-status.ts";
import type { CommandEngine } from "../../src/durable/command-engine.ts";
import type { Calls } from "../../src/durable/stubs.ts";
import type { Submission, Submitted } from "../../src/durable/submission.ts";
import type { TenantLimiter } from "../../src/durable/tenant-limiter.ts";

/** Objects for tests, each with storage of its own, and what a test does with one. */

export type Engine = DurableObjectStub<CommandEngine>;
export type Limiter = DurableObjectStub<TenantLimiter>;

export const DEPLOY: JsonObject = { processId: "order", tasks: [{ type: "pay" }] };
export const CREATE: JsonObject = { processId: "order" };

let engines = 0;
let limiters = 0;
let tokens = 0;

export function newEngine(): Engine {
  engines += 1;
  return env.COMMAND_ENGINE.get(env.COMMAND_ENGINE.idFromName(`engine:${engines}`));
}

/** The same object, called anew: a stub that has seen its object die is of no more use. */
export function again(engine: Engine): Engine {
  return env.COMMAND_ENGINE.get(engine.id);
}

/** The object's methods as the product calls them; the platform's own types give up on recursive JSON. */
export function calls(engine: Engine): Calls<CommandEngine> {
  return engine as unknown as Calls<CommandEngine>;
}

/** The token of the last submission. */
export function lastToken(): string {
  return `token-${tokens}`;
}

export async function submit(
  engine: Engine,
  intent: string,
  payload: JsonObject,
  tenant = "tenant:t",
  weight = 1,
  more: Partial<Submission> = {},
): Promise<Submitted> {
  const text = JSON.stringify(payload);
  tokens += 1;
  const command = { tenant, intent, payload: text, bytes: text.length, weight, token: lastToken() };
  const plain = { deadlineMs: null, headers: {}, idempotency: null, waitMs: 0 };
  return await calls(engine).submit({ ...command, ...plain, ...more });
}

export async function accepted(
  engine: Engine,
  intent: string,
  payload: JsonObject,
  tenant?: string,
): Promise<CommandView> {
  const submitted = await submit(engine, intent, payload, tenant);
  if (submitted.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(submitted)}`);
  return submitted.command;
}

export async function read(
  engine: Engine,
  commandId: string,
  tenant = "tenant:t",
  waitMs = 0,
): Promise<CommandView | null> {
  tokens += 1;
  return await calls(engine).command(tenant, commandId, waitMs, lastToken());
}

export async function status(engine: Engine): Promise<QueueStatus> {
  return await calls(engine).status({});
}

/** An engine with one process, this bound, and no limit on what is in flight. */
export async function deployed(bound = 100, enqueueWaitMs = 0): Promise<Engine> {
  const engine = newEngine();
  await engine.changeFlow({ bound, enqueueWaitMs, algorithm: "none" });
  await accepted(engine, "DEPLOYMENT:CREATE", DEPLOY);
  return engine;
}

export function newLimiter(): Limiter {
  limiters += 1;
  return env.TENANT_LIMITER.get(env.TENANT_LIMITER.idFromName(`tenant:${limiters}`));
}

/** Moves the faked clock on from inside the object: a timer's work must run in the object that set it. */
export function advance<T extends Rpc.DurableObjectBranded>(
  object: DurableObjectStub<T>,
  ms: number,
): Promise<unknown> {
  return runInDurableObject(object, () => vi.advanceTimersByTimeAsync(ms));
}
