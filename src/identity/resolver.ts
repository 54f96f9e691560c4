import type { Config } from "../config.ts";
import type { Problem } from "../core/problem.ts";
import { STORE_RETRY_AFTER_SECONDS } from "../store/database.ts";
import { readAccessToken } from "./access-token.ts";
import { addressOf, isLoopback } from "./address.ts";
import { hashSecret } from "./api-key.ts";
import { type Caller, UNKNOWN_ACCOUNT } from "./caller.ts";
import { type Credential, parseCredential } from "./credentials.ts";
import { type Asking, isKnownKey, type Known, knownKey, type Lookup, lookUpKey, lookUpTenant } from "./directory.ts";
import { takesTokens, verifyToken } from "./jwt.ts";
import { isOfThisMachine } from "./local.ts";

/** Credential → caller. The one door of identity: what follows for a caller without one is left to the middleware. */

export type Resolution =
  | CredentialResolution
  /** The request shows nothing. */
  | { readonly kind: "anonymous" };

/** What a credential is worth. */
export type CredentialResolution =
  | { readonly kind: "caller"; readonly caller: Caller }
  /** The credential is good, and may not be used: its holder is suspended, say. */
  | { readonly kind: "refused"; readonly problem: Problem }
  /** The credential has proved nothing: it is wrong, or what tells is away. */
  | { readonly kind: "stranger"; readonly problem: StrangerProblem };

/** What a caller that has proved nothing is told, while its address has tries left. */
export type StrangerProblem = Problem & { readonly code: "unauthenticated" | "unavailable" };

/** As {@link resolve}, for a key that was seen just now: without waiting for anything. Null: it has to be looked into. */
export function resolveKnown(asking: Pick<Asking, "nowMs" | "keepMs">, headers: Headers): Caller | null {
  const authorization = headers.get("Authorization");
  const seen = authorization === null ? undefined : seenKeys.get(authorization);
  const known = seen === undefined ? null : knownKey(asking, seen.hash);
  if (seen === undefined || known === null || known.standing !== "active") return null;
  if (seen.tenant !== undefined && seen.tenant !== known.account.tenant) return null;
  const expiresAtMs = known.key?.expiresAtMs ?? null;
  if (expiresAtMs !== null && expiresAtMs <= asking.nowMs) return null;
  return callerOf(known, known.key?.id ?? null, addressOf(headers));
}

/**
 * Tells whether this isolate has seen a credential proved, for a request that may have to wait until it is known.
 *
 * @returns a look at what is known at that moment; always true for what nothing is looked up for
 */
export async function knownCheck(credential: Credential): Promise<() => boolean> {
  switch (credential.kind) {
    case "none":
    case "malformed":
      return () => true;
    case "api-key": {
      const hash = await hashSecret(credential.secret);
      return () => isKnownKey(hash);
    }
    case "jwt":
    case "access-token":
      return () => provenTokens.has(credential.token);
  }
}

/** Tokens that were good when they came. They let nobody in by themselves: each is verified with every request. */
const provenTokens = new Set<string>();
/** Up to 8 KB each. Past this the one that was proved first is forgotten. */
const PROVEN_MAX = 1_000;

function rememberToken(token: string): void {
  provenTokens.add(token);
  if (provenTokens.size <= PROVEN_MAX) return;
  for (const oldest of provenTokens) {
    provenTokens.delete(oldest);
    return;
  }
}

/** Finds out who is asking, from a request's headers. */
export async function resolve(config: Config, asking: Asking, headers: Headers): Promise<Resolution> {
  const credential = parseCredential(headers, takesTokens(config));
  switch (credential.kind) {
    case "none":
      return { kind: "anonymous" };
    case "malformed":
      return unauthenticated(credential.detail);
    case "api-key": {
      const resolution = await resolveKey(asking, credential, addressOf(headers));
      if (resolution.kind === "caller") await rememberKey(headers, credential);
      return resolution;
    }
    case "jwt":
    case "access-token": {
      const { kind, token } = credential;
      const resolveOne = kind === "jwt" ? resolveToken : resolveAccessToken;
      const resolution = await resolveOne(config, asking, token, addressOf(headers));
      if (resolution.kind === "caller") rememberToken(token);
      return resolution;
    }
  }
}

/**
 * Who a request without a credential is, where a deployment lets this machine itself go without: the tenant that it
 * names; null anywhere else.
 */
export async function resolveLocal(config: Config, asking: Asking, request: Request): Promise<Resolution | null> {
  const address = addressOf(request.headers);
  if (config.LOCAL_TENANT === "" || !isLoopback(address) || !isOfThisMachine(request)) return null;
  return resolveTenant(asking, config.LOCAL_TENANT, null, address, "default-tier");
}

/** A key as it is shown, for the tenant that is named with it, if any. */
export async function resolveKey(
  asking: Asking,
  credential: Credential & { kind: "api-key" },
  address: string,
): Promise<CredentialResolution> {
  const lookup = await lookUpKey(asking, { hash: await hashSecret(credential.secret) });
  return admitKey(asking, lookup, credential.tenant, address);
}

/**
 * The headers of keys that exist, with what they say: hashing one takes as long as deciding. Guesses are not among them,
 * and push out none. In memory only.
 */
const seenKeys = new Map<string, { readonly hash: string; readonly tenant: string | undefined }>();
const SEEN_MAX = 10_000;
/** In characters. A key can be spelt in many ways, with spaces before it; ours have 46 characters. */
const SEEN_LENGTH_MAX = 256;

async function rememberKey(headers: Headers, { secret, tenant }: Credential & { kind: "api-key" }): Promise<void> {
  const authorization = headers.get("Authorization");
  if (authorization === null || authorization.length > SEEN_LENGTH_MAX || seenKeys.has(authorization)) return;
  if (seenKeys.size >= SEEN_MAX) seenKeys.clear();
  seenKeys.set(authorization, { hash: await hashSecret(secret), tenant });
}

async function resolveAccessToken(
  config: Config,
  asking: Asking,
  token: string,
  address: string,
): Promise<CredentialResolution> {
  const holder = await readAccessToken(config, token, asking.nowMs);
  if (typeof holder === "string") return unauthenticated(holder);
  return admitKey(asking, await lookUpKey(asking, { id: holder.keyId }), holder.tenant, address);
}

function admitKey(asking: Asking, lookup: Lookup, tenant: string | undefined, address: string): CredentialResolution {
  if (lookup.kind === "unavailable") return unavailable("Keys cannot be looked up at the moment.");
  if (lookup.kind === "none") return unauthenticated(UNKNOWN_KEY);
  const { account, key } = lookup.known;
  if (tenant !== undefined && tenant !== account.tenant) return unauthenticated(UNKNOWN_KEY);
  const expiresAtMs = key?.expiresAtMs ?? null;
  if (expiresAtMs !== null && expiresAtMs <= asking.nowMs) return unauthenticated("The key has expired.");
  return admit(lookup.known, key?.id ?? null, address);
}

/** The same for a key of another tenant: whoever guesses learns nothing. */
const UNKNOWN_KEY = "The credential is not known.";

async function resolveToken(
  config: Config,
  asking: Asking,
  token: string,
  address: string,
): Promise<CredentialResolution> {
  const verdict = await verifyToken(config, token, asking);
  if (verdict.kind === "refused") return unauthenticated(verdict.detail);
  if (verdict.kind === "unavailable") return unavailable("The token's issuer cannot be reached at the moment.");
  const credential = verdict.subject === null ? null : await subjectName(verdict.subject);
  return resolveTenant(asking, verdict.tenant, credential, address, config.JWT_UNKNOWN_TENANT);
}

/**
 * Who has proved which tenant it is. While D1 says nothing its limits are what the tenant's object last knew.
 *
 * @param unlisted what becomes of a tenant that was never made here
 */
async function resolveTenant(
  asking: Asking,
  tenant: string,
  credential: Caller["credential"],
  address: string,
  unlisted: Config["JWT_UNKNOWN_TENANT"],
): Promise<CredentialResolution> {
  const lookup = await lookUpTenant(asking, tenant);
  if (lookup.kind !== "known") {
    if (unlisted === "refuse") return unavailable("Tenants cannot be looked up at the moment.");
    const account = { ...UNKNOWN_ACCOUNT, tenant, kind: "tenant" } as const;
    return { kind: "caller", caller: { ...account, credential, address } };
  }
  const { known } = lookup;
  if (known.standing === "unlisted" && unlisted === "refuse") return forbidden("There is no such tenant here.");
  return admit(known, credential, address);
}

/** In characters. Subjects are ids, e-mail addresses or URLs; a meter's name must not have the length of a token. */
const SUBJECT_LENGTH_MAX = 128;

/** A token's subject as the name of a limit: no key's id looks like it, and no long one like a short one. */
async function subjectName(subject: string): Promise<string> {
  return subject.length <= SUBJECT_LENGTH_MAX ? `sub:${subject}` : `sub-sha256:${await hashSecret(subject)}`;
}

function callerOf({ account }: Known, credential: Caller["credential"], address: string): Caller {
  return { ...account, credential, address };
}

function admit(known: Known, credential: Caller["credential"], address: string): CredentialResolution {
  switch (known.standing) {
    case "active":
    case "unlisted":
      return { kind: "caller", caller: callerOf(known, credential, address) };
    case "suspended":
      return forbidden("The tenant is suspended.");
    case "deleted":
      return forbidden("The tenant was deleted.");
  }
}

function forbidden(detail: string): CredentialResolution {
  return { kind: "refused", problem: { code: "forbidden", detail } };
}

function unauthenticated(detail: string): CredentialResolution {
  return { kind: "stranger", problem: { code: "unauthenticated", detail } };
}

function unavailable(detail: string): CredentialResolution {
  return {
    kind: "stranger",
    problem: { code: "unavailable", detail, retryAfterSeconds: STORE_RETRY_AFTER_SECONDS },
  };
}
