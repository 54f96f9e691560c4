import { tenantIdFault } from "./tenant-id.ts";

/**
 * What a request shows for itself, read from its headers and nothing else. Whether it is worth anything is left to the
 * resolver. `Authorization` wins over `X-API-Key`: whoever sends both means the one that every client understands.
 */

export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly detail: string }
  /** `tenant` is given with HTTP Basic; the key must then be that tenant's. */
  | { readonly kind: "api-key"; readonly secret: string; readonly tenant?: string }
  | { readonly kind: "jwt"; readonly token: string }
  /** A token of our own, made from a key by `/oauth/token`. */
  | { readonly kind: "access-token"; readonly token: string };

/** What begins tokens of our own, so that they are taken for no key and for no other issuer's. */
export const ACCESS_TOKEN_PREFIX = "hgt_";

/** Ours have 46 characters. Longer ones are refused before anything is hashed. */
export const SECRET_LENGTH_MAX = 512;
/** Tokens with many claims stay below this; header limits of servers are about here too. */
export const JWT_LENGTH_MAX = 8192;
/** Base64 of the longest tenant id (4 bytes a character), a colon and the longest secret, with room to spare. */
const BASIC_LENGTH_MAX = 2048;

/** @param jwt whether tokens are taken at all; without, one with two dots is a key like any other */
export function parseCredential(headers: Headers, jwt: boolean): Credential {
  const authorization = headers.get("Authorization");
  if (authorization !== null) return parseAuthorization(authorization, jwt);
  const key = headers.get("X-API-Key");
  return key === null ? { kind: "none" } : apiKey(key.trim());
}

/** The token of `Authorization: Bearer <token>`; null for anything else. */
export function bearerToken(headers: Headers): string | null {
  const [, scheme = "", rest = ""] = AUTHORIZATION.exec(headers.get("Authorization") ?? "") ?? [];
  return scheme.toLowerCase() === "bearer" && rest !== "" ? rest : null;
}

// A scheme, and one word after it: no scheme of ours has spaces in what follows.
const AUTHORIZATION = /^([A-Za-z]+) +(\S+)$/;

function parseAuthorization(value: string, jwt: boolean): Credential {
  const [, scheme = "", rest = ""] = AUTHORIZATION.exec(value.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      if (rest.startsWith(ACCESS_TOKEN_PREFIX)) return accessToken(rest.slice(ACCESS_TOKEN_PREFIX.length));
      return jwt && rest.split(".").length === JWT_PARTS ? jwtToken(rest) : apiKey(rest);
    case "basic":
      return basic(rest);
    default:
      return malformed("Authorization must be `Bearer <key>` or `Basic <base64 of tenant:key>`.");
  }
}

const JWT_PARTS = 3;

function jwtToken(token: string): Credential {
  if (token.length > JWT_LENGTH_MAX) return malformed(`A token has at most ${JWT_LENGTH_MAX} characters.`);
  return { kind: "jwt", token };
}

function accessToken(token: string): Credential {
  if (token.length > JWT_LENGTH_MAX) return malformed(`A token has at most ${JWT_LENGTH_MAX} characters.`);
  return { kind: "access-token", token };
}

/** A tenant and its key, as two texts: what a form carries. */
export function tenantAndKey(tenant: string, secret: string): Credential {
  const fault = tenantIdFault(tenant);
  return fault === null ? apiKey(secret, tenant) : malformed(`The tenant ${fault}.`);
}

function apiKey(secret: string, tenant?: string): Credential {
  if (secret === "") return malformed("The key is empty.");
  if (secret.length > SECRET_LENGTH_MAX) return malformed(`A key has at most ${SECRET_LENGTH_MAX} characters.`);
  return tenant === undefined ? { kind: "api-key", secret } : { kind: "api-key", secret, tenant };
}

function basic(encoded: string): Credential {
  const text = encoded.length > BASIC_LENGTH_MAX ? null : decodeBase64(encoded);
  if (text === null) return malformed("Basic must be followed by the Base64 of `tenant:key` in UTF-8.");
  // Tenant ids may hold colons, keys never do.
  const colon = text.lastIndexOf(":");
  if (colon < 0) return malformed("Basic must hold `tenant:key`.");
  return tenantAndKey(text.slice(0, colon), text.slice(colon + 1));
}

function decodeBase64(encoded: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function malformed(detail: string): Credential {
  return { kind: "malformed", detail };
}
