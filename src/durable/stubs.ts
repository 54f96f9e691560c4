import type { Config } from "../config.ts";
import type { CommandView } from "../core/command.ts";
import type { Decision } from "../core/limiter.ts";
import type { Limits } from "../core/policy.ts";
import type { Problem } from "../core/problem.ts";
import { type Caller, callerKey } from "../identity/caller.ts";
import type { Submission, Submitted } from "./admission.ts";
import type { Cancelled, CommandEngine } from "./command-engine.ts";
import type { TenantLimiter } from "./tenant-limiter.ts";

/** The only place that names objects and calls them, and that says what a silent one means. */

/**
 * An object's methods as they are called from outside: the same arguments, each answer a promise. The platform's own
 * type says the same by walking through every value that may cross, and gives up on JSON, which is recursive.
 */
export type Calls<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

function callsOf<T extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<T>, name: string): Calls<T> {
  return namespace.get(namespace.idFromName(name)) as unknown as Calls<T>;
}

function limiterOf(env: Env, key: string): Calls<TenantLimiter> {
  return callsOf(env.TENANT_LIMITER, key);
}

function tenantLimiterOf(env: Env, tenant: string): Calls<TenantLimiter> {
  return limiterOf(env, callerKey({ kind: "tenant", tenant }));
}

/** What a request asks of its caller's limits. */
export interface LimitRequest {
  readonly cost: number;
  readonly critical: boolean;
  /** Whom the caller names: limits of scope `key` count it, and do not apply without. */
  readonly key?: string | null;
}

export type CheckAnswer =
  | { readonly kind: "decided"; readonly decision: Decision; readonly degraded: boolean }
  | { readonly kind: "unavailable"; readonly detail: string };

/**
 * Asks the caller's limiter. One that does not answer in `LIMITER_TIMEOUT_MS`, or fails, is answered for by
 * `LIMITER_FAILURE`: open admits and says so (`degraded`), closed refuses.
 */
export async function checkCaller(
  env: Env,
  config: Config,
  caller: Caller,
  request: LimitRequest,
): Promise<CheckAnswer> {
  const { cost, critical, key = null } = request;
  const limiter = limiterOf(env, callerKey(caller));
  const subjects = { credential: caller.credential, ip: caller.address, key };
  const ask = () => limiter.check({ cost, critical, limits: caller.limits, subjects });
  const decision = await answeredInTime(ask, config.LIMITER_TIMEOUT_MS);
  if (decision !== null) return { kind: "decided", decision, degraded: false };
  console.warn(JSON.stringify({ event: "limiter_degraded", tenant: caller.tenant, failure: config.LIMITER_FAILURE }));
  if (config.LIMITER_FAILURE === "closed") return { kind: "unavailable", detail: "The rate limiter does not answer." };
  return { kind: "decided", decision: { outcome: "allowed", reports: [] }, degraded: true };
}

/** The answer, or null when it failed or took longer than `timeoutMs`. */
async function answeredInTime<T>(ask: () => Promise<T>, timeoutMs: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), timeoutMs);
  try {
    return await Promise.race([ask(), timeout.promise]);
  } catch (error) {
    console.error(JSON.stringify({ event: "limiter_failed", error: String(error) }));
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Tells a tenant's object its limits. They hold from the next request on; the newest version wins there. */
export async function applyLimits(env: Env, tenant: string, limits: Limits): Promise<void> {
  await tenantLimiterOf(env, tenant).apply(limits);
}

/** Forgives what a tenant owes. */
export async function resetLimiter(env: Env, tenant: string): Promise<void> {
  await tenantLimiterOf(env, tenant).reset();
}

/** What a tenant's object has admitted and refused since `since` (Unix milliseconds). */
export async function limiterUsage(
  env: Env,
  tenant: string,
): Promise<{ admitted: number; refused: number; since: number }> {
  return await tenantLimiterOf(env, tenant).usage();
}

/** How long a caller should wait when the engine object itself does not answer (it restarts, or is overloaded). */
const ENGINE_RETRY_SECONDS = 5;

/** The engine object of one partition. */
function engineOf(env: Env, partition: number): Calls<CommandEngine> {
  return callsOf(env.COMMAND_ENGINE, `engine:${partition}`);
}

/** The one engine that every tenant's commands go to. */
export function theEngine(env: Env): Calls<CommandEngine> {
  return engineOf(env, 0);
}

/**
 * Hands a command to the engine. An engine that does not answer is a full one: 503 with a time to come back, and never
 * a second try from here, since the first may have been taken.
 *
 * @param signal aborts when the caller hangs up; a submission that still waits for room then leaves the line
 * @param afterwards keeps a task alive past the answer
 */
export async function submitCommand(
  env: Env,
  submission: Submission,
  signal: AbortSignal,
  afterwards: (task: Promise<unknown>) => void,
): Promise<Submitted | { kind: "refused"; problem: Problem; health: null }> {
  const engine = theEngine(env);
  const abandon = () => afterwards(engine.abandon(submission.token).catch(() => undefined));
  signal.addEventListener("abort", abandon);
  try {
    return await engine.submit(submission);
  } catch (error) {
    if (isBug(error)) throw error;
    const detail = "The command engine does not answer: it restarts or is overloaded. Everyone has to wait.";
    const problem: Problem = { code: "queue_full", detail, retryAfterSeconds: ENGINE_RETRY_SECONDS };
    return { kind: "refused", problem, health: null };
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}

/** An exception of our own code in the object, as opposed to an object that could not be reached. */
function isBug(error: unknown): boolean {
  const remote = error as { remote?: boolean; overloaded?: boolean };
  return remote?.remote === true && remote.overloaded !== true;
}

export async function readCommand(
  env: Env,
  tenant: string,
  commandId: string,
  waitMs: number,
): Promise<CommandView | null> {
  return await theEngine(env).command(tenant, commandId, waitMs);
}

export async function cancelCommand(env: Env, tenant: string, commandId: string): Promise<Cancelled> {
  return await theEngine(env).cancel(tenant, commandId);
}

/** Whether the engine answers at all. */
export async function engineReady(env: Env): Promise<boolean> {
  try {
    await theEngine(env).flowSettings();
    return true;
  } catch {
    return false;
  }
}
