import type { Config } from "../config.ts";
import type { PolicyReport } from "../core/limiter.ts";
import type { Limits } from "../core/policy.ts";
import type { Receipt } from "../core/receipts.ts";
import type { Subjects } from "../core/subjects.ts";
import { type Caller, callerKey } from "../identity/caller.ts";
import type { CommandEngine } from "./command-engine.ts";
import type { Charged, TenantLimiter } from "./tenant-limiter.ts";

/** The only place that names objects. Calls of limiters are here too, those of engines in `engines.ts`. */

/**
 * An object's methods as they are called from outside: the same arguments, each answer a promise. The platform's own
 * type says the same by walking through every value that may cross, and gives up on JSON, which is recursive.
 */
export type Calls<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** An object did not answer: it restarts, is overloaded, or cannot be reached. What it was asked may have been done. */
export class ObjectUnreachable extends Error {
  override readonly name = "ObjectUnreachable";
}

function callsOf<T extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<T>, name: string): Calls<T> {
  const stub = namespace.get(namespace.idFromName(name));
  return new Proxy(stub, { get: (target, method) => callOf(target, method) }) as unknown as Calls<T>;
}

function callOf<T extends object>(target: T, method: string | symbol): unknown {
  return async (...args: unknown[]) => {
    try {
      return await Reflect.apply(Reflect.get(target, method) as () => unknown, target, args);
    } catch (error) {
      throw isBug(error) ? error : new ObjectUnreachable(String(error), { cause: error });
    }
  };
}

/** An exception of our own code in the object, as opposed to an object that could not be reached. */
function isBug(error: unknown): boolean {
  const { remote, overloaded, durableObjectReset } = Object(error);
  return remote === true && overloaded !== true && durableObjectReset !== true;
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
  /** The request is refused further on whatever its limits say: it is judged, and not charged. */
  readonly judgeOnly?: boolean;
  /** Whom the caller names: limits of scope `key` count it, and do not apply without. */
  readonly key?: string | null;
}

export type CheckAnswer =
  | { readonly kind: "decided"; readonly decision: Charged; readonly degraded: boolean }
  | { readonly kind: "unavailable"; readonly detail: string };

/**
 * Asks the caller's limiter. One that does not answer in `LIMITER_TIMEOUT_MS`, or cannot be reached, is answered for by
 * `LIMITER_FAILURE`: open admits and says so (`degraded`), closed refuses all but critical commands. A limiter that
 * throws has a bug, and no failure mode makes that an admission.
 */
export async function checkCaller(
  env: Env,
  config: Config,
  caller: Caller,
  request: LimitRequest,
): Promise<CheckAnswer> {
  const { cost, critical, judgeOnly = false, key = null } = request;
  const limiter = limiterOf(env, callerKey(caller));
  const ask = () =>
    limiter.check({
      cost,
      critical,
      judgeOnly,
      limits: caller.limits,
      subjects: subjectsOf(caller, key),
      tier: caller.tier,
    });
  const decision = await answeredInTime(ask, config.LIMITER_TIMEOUT_MS);
  if (decision !== null) return { kind: "decided", decision, degraded: false };
  console.warn(JSON.stringify({ event: "limiter_degraded", tenant: caller.tenant, failure: config.LIMITER_FAILURE }));
  if (config.LIMITER_FAILURE === "closed" && !critical)
    return { kind: "unavailable", detail: "The rate limiter does not answer." };
  return { kind: "decided", decision: { outcome: "allowed", reports: [] }, degraded: true };
}

function subjectsOf(caller: Caller, key: string | null): Subjects {
  return { credential: caller.credential, ip: caller.address, key };
}

/** The answer, or null when there is nobody to give it, or it took longer than `timeoutMs`. */
async function answeredInTime<T>(ask: () => Promise<T>, timeoutMs: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>();
  const timer = setTimeout(() => timeout.resolve(null), timeoutMs);
  try {
    return await Promise.race([ask(), timeout.promise]);
  } catch (error) {
    if (error instanceof ObjectUnreachable) return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Gives a caller back what it was charged for a request that was refused further on.
 *
 * @returns how its policies stand now; null when its limiter does not answer: the refusal must not wait for it
 */
export async function refundCaller(
  env: Env,
  config: Config,
  caller: Caller,
  cost: number,
  receipt: Receipt,
): Promise<readonly PolicyReport[] | null> {
  const limiter = limiterOf(env, callerKey(caller));
  return await answeredInTime(() => limiter.refund(cost, receipt, subjectsOf(caller, null)), config.LIMITER_TIMEOUT_MS);
}

/** Tells a caller's limiter how long its commands took, for a rate that adapts. */
export async function observeLatencies(env: Env, caller: Caller, latenciesMs: readonly number[]): Promise<void> {
  await limiterOf(env, callerKey(caller)).observe(latenciesMs);
}

/** Tells a tenant's object its limits. They hold from the next request on; the newest version wins there. */
export async function applyLimits(env: Env, tenant: string, limits: Limits): Promise<void> {
  await tenantLimiterOf(env, tenant).apply(limits);
}

/** Forgives what a tenant owes. */
export async function resetLimiter(env: Env, tenant: string): Promise<void> {
  await tenantLimiterOf(env, tenant).reset();
}

/** What a tenant's object has admitted and refused since `since` (Unix milliseconds), and what D1 has not heard of yet. */
export async function limiterUsage(env: Env, tenant: string): ReturnType<Calls<TenantLimiter>["usage"]> {
  return await tenantLimiterOf(env, tenant).usage();
}

/** The engine object of one partition. */
export function engineOf(env: Env, partition: number): Calls<CommandEngine> {
  return callsOf(env.COMMAND_ENGINE, `engine:${partition}`);
}
