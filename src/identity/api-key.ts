/**
 * API keys: random secrets that are shown once and stored as their SHA-256. A plain hash is enough, since a key has
 * 256 random bits and not a person's password's few.
 */

/** Tells people and secret scanners what they have found. */
const KEY_PREFIX = "hg_";
const SECRET_BYTES = 32;
/** Key ids are public and only have to differ. */
const KEY_ID_BYTES = 12;

export interface NewKey {
  /** Names the key in listings; says nothing of the secret. */
  readonly keyId: string;
  readonly secret: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
}

/** A key that nobody has had before. */
export async function newKey(): Promise<NewKey> {
  const secret = `${KEY_PREFIX}${randomText(SECRET_BYTES)}`;
  return { keyId: `key_${randomText(KEY_ID_BYTES)}`, secret, hash: await hashSecret(secret) };
}

/** What a key is found by: SHA-256 in hex. */
export async function hashSecret(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Random bytes as base64url without padding. */
function randomText(bytes: number): string {
  const binary = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes)));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
