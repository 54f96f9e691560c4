import { decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify } from "jose";
import type { Config } from "../config.ts";
import { issuerKeys, type KeyRequest } from "./jwks.ts";
import { isTenantId } from "./tenant-id.ts";
import { keysFor, SIGNATURE_ALGORITHMS, type VerificationKey } from "./verification-keys.ts";

/**
 * A token → the tenant and the subject that it names. Issuer, audience, the end of its life and its signature must all hold; only
 * asymmetric algorithms, so that nobody can sign with what is public.
 */

/** Clocks of issuers and ours differ a little, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;

export type TokenVerdict =
  | { readonly kind: "tenant"; readonly tenant: string; readonly subject: string | null }
  | { readonly kind: "refused"; readonly detail: string }
  /** The issuer's keys cannot be had. */
  | { readonly kind: "unavailable" };

/** No key of the issuer's verifies the token, which a newer set of keys may do. */
type Unverified = { readonly kind: "unverified"; readonly fault: string };

/** What a token says of its signature, unverified. */
interface Header {
  readonly alg: string;
  readonly kid: string | null;
}

export function takesTokens(config: Config): boolean {
  return config.JWT_JWKS_URL !== "";
}

/** @param request its time is the one at which the token must be valid */
export async function verifyToken(config: Config, token: string, request: KeyRequest): Promise<TokenVerdict> {
  const header = headerOf(token);
  // No key can make such a token good: the issuer is not asked.
  if (header === null) return refused("is not valid");
  const keys = await issuerKeys(config.JWT_JWKS_URL, request);
  if (keys === null) return { kind: "unavailable" };
  const first = await verifyWith(config, token, keysFor(keys, header), header, request.nowMs);
  if (first.kind !== "unverified") return first;
  // The issuer may have turned to a new key since, perhaps under the old name.
  const newer = await issuerKeys(config.JWT_JWKS_URL, request, true);
  if (newer === null || newer === keys) return refused(first.fault);
  const second = await verifyWith(config, token, keysFor(newer, header), header, request.nowMs);
  return second.kind === "unverified" ? refused(second.fault) : second;
}

function headerOf(token: string): Header | null {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (alg === undefined || !SIGNATURE_ALGORITHMS.includes(alg)) return null;
    return { alg, kid: typeof kid === "string" ? kid : null };
  } catch {
    return null;
  }
}

/** Tries each candidate: several keys may have one name, or none. */
async function verifyWith(
  config: Config,
  token: string,
  candidates: readonly VerificationKey[],
  { alg }: Header,
  nowMs: number,
): Promise<TokenVerdict | Unverified> {
  let fault = "is signed with a key that its issuer does not publish";
  for (const { jwk } of candidates) {
    try {
      const { payload } = await jwtVerify(token, await importJWK(jwk, alg), {
        issuer: config.JWT_ISSUER,
        audience: config.JWT_AUDIENCE,
        algorithms: [alg],
        requiredClaims: ["exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(nowMs),
      });
      return tenantOf(payload, config.JWT_TENANT_CLAIM);
    } catch (error) {
      // Claims are looked at once a signature holds, so their fault is the token's and not the key's.
      if (isFaultOfToken(error)) return refused(faultOf(error));
      // Another signature, or a key that cannot be imported: a point that is not on its curve, say.
      fault = "is not valid";
    }
  }
  return { kind: "unverified", fault };
}

function isFaultOfToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid
  );
}

function tenantOf(payload: JWTPayload, claim: string): TokenVerdict {
  const tenant = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  if (!isTenantId(tenant)) return refused(`names no tenant in its claim "${claim}"`);
  return {
    kind: "tenant",
    tenant,
    subject: typeof payload.sub === "string" && payload.sub !== "" ? payload.sub : null,
  };
}

/** What is wrong with a token, for its holder: no more than the token itself says. */
function faultOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "has expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return `does not hold what is asked of its claim "${error.claim}"`;
  return "is not valid";
}

function refused(fault: string): TokenVerdict {
  return { kind: "refused", detail: `The token ${fault}.` };
}
