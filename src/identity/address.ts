import { addressKey } from "../core/address.ts";
import { type Caller, unknownCaller } from "./caller.ts";
import { type Asking, lookUpAnonymous } from "./directory.ts";

/** Callers without a credential, or with a wrong one: they are their address, on the anonymous tier. */

/** Whoever comes without an address that can be read. They share one limit: unknown is no way around it. */
const UNKNOWN_ADDRESS = "unknown";

/** The caller that a request's address is. While D1 has never answered its tier and limits are null. */
export async function addressCaller(asking: Asking, headers: Headers): Promise<Caller> {
  // Set by Cloudflare (and by the runtime on one machine); what a caller sends under this name does not get here.
  const tenant = addressKey(headers.get("CF-Connecting-IP") ?? "") ?? UNKNOWN_ADDRESS;
  const lookup = await lookUpAnonymous(asking);
  if (lookup.kind !== "known") return unknownCaller("address", tenant);
  return { ...lookup.known.caller, tenant, kind: "address" };
}
