import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { Config } from "../config.ts";
import { ACCESS_TOKEN_PREFIX } from "./credentials.ts";

/**
 * Tokens of our own: a key, for a few minutes, for clients that know OAuth only. A token names its key, which is looked
 * up with every request: it ends with the key and is revoked with it. Signed with a secret that only the deployment has.
 */

const ALGORITHM = "HS256";
/** Of us to us: no other token with the same secret is taken. */
const ISSUER = "headgate";
/** Clients ask for a new one half a minute before the end. A key that is revoked ends it sooner, in seconds. */
export const ACCESS_TOKEN_SECONDS = 300;

/** What a token says: whose key it stands for. */
export interface TokenHolder {
  readonly tenant: string;
  readonly keyId: string;
}

const claims = z.object({ sub: z.string(), key: z.string() });

/** Whether tokens of our own are made and taken at all. */
export function makesTokens(config: Config): boolean {
  return config.OAUTH_SECRET !== "";
}

/** @param nowMs when it begins, Unix milliseconds */
export async function signAccessToken(config: Config, { tenant, keyId }: TokenHolder, nowMs: number): Promise<string> {
  const begins = Math.floor(nowMs / 1000);
  const token = await new SignJWT({ key: keyId })
    .setProtectedHeader({ alg: ALGORITHM })
    .setIssuer(ISSUER)
    .setAudience(ISSUER)
    .setSubject(tenant)
    .setIssuedAt(begins)
    .setExpirationTime(begins + ACCESS_TOKEN_SECONDS)
    .sign(secretOf(config));
  return ACCESS_TOKEN_PREFIX + token;
}

/** @param token without its prefix; @returns whom it stands for; or, as text, what is wrong with it */
export async function readAccessToken(config: Config, token: string, nowMs: number): Promise<TokenHolder | string> {
  if (!makesTokens(config)) return "The credential is not known.";
  try {
    const { payload } = await jwtVerify(token, secretOf(config), {
      issuer: ISSUER,
      audience: ISSUER,
      algorithms: [ALGORITHM],
      requiredClaims: ["exp", "sub"],
      currentDate: new Date(nowMs),
    });
    const read = claims.safeParse(payload);
    return read.success ? { tenant: read.data.sub, keyId: read.data.key } : "The token is not valid.";
  } catch (error) {
    return error instanceof errors.JWTExpired ? "The token has expired." : "The token is not valid.";
  }
}

function secretOf(config: Config): Uint8Array {
  return new TextEncoder().encode(config.OAUTH_SECRET);
}
