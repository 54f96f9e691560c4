import type { CommandEngine } from "./command-engine.ts";
import type { TenantLimiter } from "./tenant-limiter.ts";

/** The only place that names objects. What is asked of them is in `limiters.ts` and `engines.ts`. */

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

/** Undefined for what the language asks of any value, and no object has: `await` looks for `then`, and would call it. */
function callOf<T extends object>(target: T, method: string | symbol): unknown {
  if (method === "then" || typeof method === "symbol") return undefined;
  return async (...args: unknown[]) => {
    try {
      return await Reflect.apply(Reflect.get(target, method) as () => unknown, target, args);
    } catch (error) {
      throw failureOf(error);
    }
  };
}

/** What a call has failed with: a bug of ours as it is, or that the object could not be reached. */
export function failureOf(error: unknown): unknown {
  return isBug(error) ? error : new ObjectUnreachable(String(error), { cause: error });
}

/** An exception of our own code in the object, as opposed to an object that could not be reached. */
function isBug(error: unknown): boolean {
  const { remote, overloaded, durableObjectReset } = Object(error);
  return remote === true && overloaded !== true && durableObjectReset !== true && diskFaultIn(error) === null;
}

/** SQLite cannot do now what it could do later, or on another disk: locked, full, unreadable, damaged. No bug of ours. */
const DISK_FAULT = /SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL|NOMEM|PERM|AUTH)/;

/** The fault of an object's disk that a failure tells of, by SQLite's name; null: it is none. */
export function diskFaultIn(failure: unknown): string | null {
  return DISK_FAULT.exec(String(failure))?.[0] ?? null;
}

/** The limiter object of a caller, by its `callerKey`. */
export function limiterOf(env: Env, key: string): Calls<TenantLimiter> {
  return callsOf(env.TENANT_LIMITER, key);
}

/**
 * The same without what wraps its calls: each check goes this way, and a wrapped call takes a sixth longer. What a call
 * rejects with is for {@link failureOf}.
 */
export function bareLimiterOf(env: Env, key: string): Pick<Calls<TenantLimiter>, "check"> {
  const { TENANT_LIMITER: limiters } = env;
  return limiters.get(limiters.idFromName(key)) as unknown as Calls<TenantLimiter>;
}

/** As {@link bareLimiterOf}, for the call that each command makes. */
export function bareEngineOf(env: Env, partition: number): Pick<Calls<CommandEngine>, "submit" | "abandon"> {
  const { COMMAND_ENGINE: engines } = env;
  return engines.get(engines.idFromName(engineName(partition))) as unknown as Calls<CommandEngine>;
}

/** The engine object of one partition. */
export function engineOf(env: Env, partition: number): Calls<CommandEngine> {
  return callsOf(env.COMMAND_ENGINE, engineName(partition));
}

function engineName(partition: number): string {
  return `engine:${partition}`;
}
