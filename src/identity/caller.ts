import type { LimiterMode } from "../core/lease.ts";
import type { Limits } from "../core/policy.ts";
import { WEIGHT_MIN } from "../core/weight.ts";

/** Who pays: a tenant or an address, with the limits that it goes by. The same for all requests of one credential. */
export interface Account {
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
  /** Whether its requests may be decided by leases, where the deployment allows them; they may while D1 says nothing. */
  readonly limiterMode: LimiterMode;
}

/** What is known of somebody of whom D1 has told nothing yet. */
export const UNKNOWN_ACCOUNT = { tier: null, limits: null, weight: WEIGHT_MIN, limiterMode: "leased" } as const;

/** Who is asking, found from the credential alone. What every later step of a request goes by. */
export interface Caller extends Account {
  /** What it showed: a key's id, or `sub:` and a token's subject; null for a caller without either. */
  readonly credential: string | null;
  /** Where it asks from, as the key of a limit. Those whose address cannot be read share one. */
  readonly address: string;
}

/** The caller as one string that no other caller has: a tenant's id can never be spelt as somebody's address. */
export function callerKey(caller: Pick<Account, "kind" | "tenant">): string {
  return `${caller.kind}:${caller.tenant}`;
}

/** A {@link callerKey} as people write it: a tenant's id alone, an address as it is. */
export function nameOfKey(key: string): string {
  return key.startsWith("tenant:") ? key.slice("tenant:".length) : key;
}

/** A {@link callerKey} as a line of the log has it: `tenant` is always a tenant's id alone, an address has its own field. */
export function logFields(key: string): { readonly tenant: string } | { readonly address: string } {
  const address = "address:";
  return key.startsWith(address) ? { address: key.slice(address.length) } : { tenant: nameOfKey(key) };
}
