import type { Limits } from "../core/policy.ts";
import { callerKey } from "../identity/caller.ts";
import { edgeLimits } from "./edge-limits.ts";
import { type Calls, limiterOf } from "./stubs.ts";
import type { TenantLimiter } from "./tenant-limiter.ts";

/** Operators' calls of the limiter objects. Each finds the object with all that this isolate has decided by itself. */

/** Tells a tenant's object its limits. They hold from the next request on; the newest version wins there. */
export async function applyLimits(env: Env, tenant: string, limits: Limits): Promise<void> {
  await withoutLeases(env, tenant, (limiter) => limiter.apply(limits));
}

/** Forgives what a tenant owes. */
export async function resetLimiter(env: Env, tenant: string): Promise<void> {
  await withoutLeases(env, tenant, (limiter) => limiter.reset());
}

/** What a tenant's object has admitted and refused since `since` (Unix milliseconds), and what D1 has not heard of yet. */
export async function limiterUsage(env: Env, tenant: string): ReturnType<Calls<TenantLimiter>["usage"]> {
  return await withoutLeases(env, tenant, (limiter) => limiter.usage());
}

/** Leases that go with one call: about 1 kB each, of 32 MB that a call may have. An isolate holds ten times as many. */
const SETTLED_PER_CALL_MAX = 1_000;

/** Calls a tenant's object once it has heard of all that this isolate decided; what was held of it is not used again. */
async function withoutLeases<T>(
  env: Env,
  tenant: string,
  call: (limiter: Calls<TenantLimiter>) => Promise<T>,
): Promise<T> {
  const key = callerKey({ kind: "tenant", tenant });
  const limiter = limiterOf(env, key);
  try {
    await settleAll(limiter, tenant);
    return await call(limiter);
  } finally {
    edgeLimits().forget(key);
  }
}

/** Ends what this isolate has leased of a tenant. What does not arrive stays charged, and is forgiven by time. */
async function settleAll(limiter: Calls<TenantLimiter>, tenant: string): Promise<void> {
  const ended = edgeLimits().takeAll(callerKey({ kind: "tenant", tenant }));
  try {
    for (let from = 0; from < ended.length; from += SETTLED_PER_CALL_MAX) {
      await limiter.settle(ended.slice(from, from + SETTLED_PER_CALL_MAX));
    }
  } catch (error) {
    console.warn(JSON.stringify({ event: "lease_lost", tenant, leases: ended.length, error: String(error) }));
  }
}
