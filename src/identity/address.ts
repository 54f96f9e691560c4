import { addressKey } from "../core/address.ts";
import { type Account, type Caller, UNKNOWN_ACCOUNT } from "./caller.ts";
import { type Asking, knownAnonymous, lookUpAnonymous } from "./directory.ts";

/** Callers without a credential, or with a wrong one: they are their address, on the anonymous tier. */

/** Whoever comes without an address that can be read. They share one limit: unknown is no way around it. */
const UNKNOWN_ADDRESS = "unknown";

/** Where a request comes from, as the key of a limit. */
export function addressOf(headers: Headers): string {
  // Cloudflare sets it, whatever a caller sends under this name. On one machine the runtime sets it only where the
  // caller has not: there a caller can name any address, and LOCAL_TENANT asks for more than that (local.ts).
  const address = headers.get("CF-Connecting-IP") ?? "";
  const known = addressKeys.get(address);
  if (known !== undefined) return known;
  const key = addressKey(address) ?? UNKNOWN_ADDRESS;
  if (addressKeys.size >= KEYS_MAX) addressKeys.clear();
  if (address.length <= ADDRESS_LENGTH_MAX) addressKeys.set(address, key);
  return key;
}

/** Keys of addresses that were read before; callers come again. */
const addressKeys = new Map<string, string>();
const KEYS_MAX = 1_000;
const ADDRESS_LENGTH_MAX = 64;

/** Whether the key of an address is this machine's own. One that is unknown is not. */
export function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === LOOPBACK_V6;
}

/** `::1`, counted by its /64 like any other. */
const LOOPBACK_V6 = "0:0:0:0::/64";

/** The caller that a request's address is. While D1 has never answered its tier and limits are null. */
export async function addressCaller(asking: Asking, headers: Headers): Promise<Caller> {
  const lookup = await lookUpAnonymous(asking);
  return callerAt(addressOf(headers), lookup.kind === "known" ? lookup.known.account : UNKNOWN_ACCOUNT);
}

/** As {@link addressCaller}, by what this isolate knows of the anonymous tier, however old; null: nothing. */
export function knownAddressCaller(headers: Headers): Caller | null {
  const known = knownAnonymous();
  return known && callerAt(addressOf(headers), known.account);
}

function callerAt(address: string, account: Omit<Account, "tenant" | "kind">): Caller {
  return { ...account, tenant: address, kind: "address", credential: null, address };
}
