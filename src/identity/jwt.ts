import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import type { Config } from "../config.ts";
import { issuerKeys } from "./jwks.ts";
import { isTenantId } from "./tenant-id.ts";

/**
 * A token → the tenant and the subject that it names. Issuer, audience, the end of its life and its signature must all hold; only
 * asymmetric algorithms, so that nobody can sign with what is public.
 */

const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** Clocks of issuers and ours differ a little, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;

export type TokenVerdict =
  | { readonly kind: "tenant"; readonly tenant: string; readonly subject: string | null }
  | { readonly kind: "refused"; readonly detail: string }
  /** The issuer's keys cannot be had. */
  | { readonly kind: "unavailable" };

export function takesTokens(config: Config): boolean {
  return config.JWT_JWKS_URL !== "";
}

/** @param nowMs the time by which the token must be valid, Unix milliseconds */
export async function verifyToken(config: Config, token: string, nowMs: number): Promise<TokenVerdict> {
  const keys = await issuerKeys(config.JWT_JWKS_URL, nowMs);
  if (keys === null) return { kind: "unavailable" };
  const first = await verifyWith(config, token, keys, nowMs);
  if (first !== "unknown_key") return first;
  // The issuer may have turned to a new key since.
  const newer = await issuerKeys(config.JWT_JWKS_URL, nowMs, true);
  const second = newer === null || newer === keys ? "unknown_key" : await verifyWith(config, token, newer, nowMs);
  return second === "unknown_key" ? refused("is signed with a key that its issuer does not publish") : second;
}

async function verifyWith(
  config: Config,
  token: string,
  keys: JSONWebKeySet,
  nowMs: number,
): Promise<TokenVerdict | "unknown_key"> {
  try {
    // Made anew each time: it imports keys through promises, which requests must not share.
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      algorithms: ALGORITHMS,
      requiredClaims: ["exp"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(nowMs),
    });
    return tenantOf(payload, config.JWT_TENANT_CLAIM);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
    return refused(faultOf(error));
  }
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
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return "does not say which of its issuer's keys signed it (kid)";
  return "is not valid";
}

function refused(fault: string): TokenVerdict {
  return { kind: "refused", detail: `The token ${fault}.` };
}
