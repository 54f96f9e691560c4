import type { Problem } from "../../core/problem.ts";

/** Calls that this isolate holds open at the cluster: how many there may be, of all tenants and of each. */

/** Calls at once: each is two open connections. */
const HELD_MAX = 1_000;
/** Calls of one tenant: a quarter, so that the polls of one tenant's many workers fit and are never all there are. */
export const HELD_PER_TENANT_MAX = 250;
/** When a place may have come free. */
const RETRY_AFTER_SECONDS = 5;

/** Plain data of this isolate; a tenant that holds nothing is not there. */
const byTenant = new Map<string, number>();
let held = 0;

/** Takes a place, unless there is none: then it says why. The place must be given back, once. */
export function takeHeldPlace(tenant: string): Problem | { readonly giveBack: () => void } {
  const own = byTenant.get(tenant) ?? 0;
  if (own >= HELD_PER_TENANT_MAX) return TOO_MANY_OWN;
  if (held >= HELD_MAX) return TOO_MANY;
  held += 1;
  byTenant.set(tenant, own + 1);
  return { giveBack: () => giveBack(tenant) };
}

function giveBack(tenant: string): void {
  held -= 1;
  const left = (byTenant.get(tenant) ?? 0) - 1;
  if (left > 0) byTenant.set(tenant, left);
  else byTenant.delete(tenant);
}

const TOO_MANY: Problem = {
  code: "queue_full",
  detail: "As many calls are held open here as can be. Everyone has to wait.",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
const TOO_MANY_OWN: Problem = {
  code: "rate_limited",
  detail: "You hold as many calls open here as one tenant may.",
  violated: ["held-calls"],
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
