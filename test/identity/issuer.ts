import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { configOf } from "./support.ts";

/** An issuer of tokens for tests: keys to sign with, and tokens made to order. */

export const ISSUER = "https://issuer.example/";
export const AUDIENCE = "headgate";
export const JWKS_URL = "https://issuer.example/jwks.json";
export const VARS = { JWT_JWKS_URL: JWKS_URL, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
export const config = configOf(VARS);
export const NOW_MS = Date.UTC(2026, 9, 1);
export const NOW_SECONDS = NOW_MS / 1000;

export interface Signer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newSigner(kid: string, alg = "ES256"): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

export interface Claims {
  iss?: string;
  aud?: string;
  exp?: number | null;
  nbf?: number;
  tenant?: unknown;
  sub?: string;
}

export function signToken(
  by: Signer,
  claims: Claims = {},
  header: { kid?: string } = { kid: by.kid },
): Promise<string> {
  const { exp = NOW_SECONDS + 60, ...rest } = claims;
  const payload = { iss: ISSUER, aud: AUDIENCE, tenant: "acme", ...rest, ...(exp === null ? {} : { exp }) };
  return new SignJWT(payload).setProtectedHeader({ alg: by.alg, ...header }).sign(by.privateKey);
}
