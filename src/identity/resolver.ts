import type { Config } from "../config.ts";
import type { Problem } from "../core/problem.ts";
import { STORE_RETRY_AFTER_SECONDS } from "../store/database.ts";
import { hashSecret } from "./api-key.ts";
import { type Caller, unknownCaller } from "./caller.ts";
import { type Credential, parseCredential } from "./credentials.ts";
import { type Asking, type Known, lookUpKey, lookUpTenant } from "./directory.ts";
import { takesTokens, verifyToken } from "./jwt.ts";

/** Credential → caller. The one door of identity: what follows for a caller without one is left to the middleware. */

export type Resolution =
  | { readonly kind: "caller"; readonly caller: Caller }
  /** The request shows nothing. */
  | { readonly kind: "anonymous" }
  | { readonly kind: "refused"; readonly problem: Problem };

/** Finds out who is asking, from a request's headers. */
export async function resolve(config: Config, asking: Asking, headers: Headers): Promise<Resolution> {
  const credential = parseCredential(headers, takesTokens(config));
  switch (credential.kind) {
    case "none":
      return { kind: "anonymous" };
    case "malformed":
      return unauthenticated(credential.detail);
    case "api-key":
      return resolveKey(asking, credential);
    case "jwt":
      return resolveToken(config, asking, credential.token);
  }
}

async function resolveKey(asking: Asking, credential: Credential & { kind: "api-key" }): Promise<Resolution> {
  const lookup = await lookUpKey(asking, await hashSecret(credential.secret));
  if (lookup.kind === "unavailable") return unavailable("Keys cannot be looked up at the moment.");
  if (lookup.kind === "none") return unauthenticated(UNKNOWN_KEY);
  const { caller, key } = lookup.known;
  if (credential.tenant !== undefined && credential.tenant !== caller.tenant) return unauthenticated(UNKNOWN_KEY);
  const expiresAtMs = key?.expiresAtMs ?? null;
  if (expiresAtMs !== null && expiresAtMs <= asking.nowMs) return unauthenticated("The key has expired.");
  return admit(lookup.known);
}

/** The same for a key of another tenant: whoever guesses learns nothing. */
const UNKNOWN_KEY = "The credential is not known.";

async function resolveToken(config: Config, asking: Asking, token: string): Promise<Resolution> {
  const verdict = await verifyToken(config, token, asking.nowMs);
  if (verdict.kind === "refused") return unauthenticated(verdict.detail);
  if (verdict.kind === "unavailable") return unavailable("The token's issuer cannot be reached at the moment.");
  const lookup = await lookUpTenant(asking, verdict.tenant);
  if (lookup.kind === "known") return admit(lookup.known);
  // The token has proved who it is; its limits are what the tenant's object last knew.
  return { kind: "caller", caller: unknownCaller("tenant", verdict.tenant) };
}

function admit(known: Known): Resolution {
  if (!known.suspended) return { kind: "caller", caller: known.caller };
  return { kind: "refused", problem: { code: "forbidden", detail: "The tenant is suspended." } };
}

function unauthenticated(detail: string): Resolution {
  return { kind: "refused", problem: { code: "unauthenticated", detail } };
}

function unavailable(detail: string): Resolution {
  return {
    kind: "refused",
    problem: { code: "unavailable", detail, retryAfterSeconds: STORE_RETRY_AFTER_SECONDS },
  };
}
