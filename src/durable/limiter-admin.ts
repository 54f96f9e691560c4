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

/** Calls a tenant's object once it has heard of all that this isolate decided; what was held of it is not used again. */
async function withoutLeases<T>(
  env: Env,
  tenant: string,
  call: (limiter: Calls<TenantLimiter>) => Promise<T>,
): Promise<T> {
  const key = callerKey({ kind: "tenant", tenant });
  const limiter = limiterOf(env, key);
  for (const { lease, subjects } of edgeLimits().takeAll(key)) await limiter.settle(lease, subjects);
  try {
    return await call(limiter);
  } finally {
    edgeLimits().forget(key);
  }
}
