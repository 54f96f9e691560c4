import type { Limits } from "../core/policy.ts";

/** Who is asking, found from the credential alone. What every later step of a request goes by. */
export interface Caller {
  /** The tenant's id; for a caller without a credential its address key. */
  readonly tenant: string;
  /** What owns the tenant's limiter object: tenants and addresses can never share a name. */
  readonly kind: "tenant" | "address";
  /** The tier's name; null while D1 has never told it. */
  readonly tier: string | null;
  /** The limits with their version; null while D1 has never told them: the object then goes by what it last knew. */
  readonly limits: Limits | null;
  /** The tier's weight in the command queue; 1, the least, while D1 has never told it. */
  readonly weight: number;
}

/** A caller of whom D1 has told nothing yet. */
export function unknownCaller(kind: Caller["kind"], tenant: string): Caller {
  return { tenant, kind, tier: null, limits: null, weight: 1 };
}

/** The caller as one string that no other caller has: a tenant's id can never be spelt as somebody's address. */
export function callerKey(caller: Pick<Caller, "kind" | "tenant">): string {
  return `${caller.kind}:${caller.tenant}`;
}
