import { base64url, type JWK } from "jose";
import { z } from "zod";

/**
 * An issuer's published document → the keys of it that can verify tokens. Pure. A member that cannot be used is passed
 * over, and the rest of the set stays usable (RFC 7517, 5): the set belongs to the issuer, and holds keys for others too.
 * Whether WebCrypto imports a key is left to `jwt.ts`.
 */

/** A key with the signature algorithms that it verifies. */
export interface VerificationKey {
  readonly jwk: JWK;
  /** Null for a key without a name. */
  readonly kid: string | null;
  readonly algorithms: readonly string[];
}

/** Asymmetric algorithms by the kind of key: what is public must not sign. */
const RSA_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const CURVE_ALGORITHMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["EC P-256", ["ES256"]],
  ["EC P-384", ["ES384"]],
  ["EC P-521", ["ES512"]],
  ["OKP Ed25519", ["EdDSA", "Ed25519"]],
]);
export const SIGNATURE_ALGORITHMS: readonly string[] = [...RSA_ALGORITHMS, ...[...CURVE_ALGORITHMS.values()].flat()];

/** Keys of one set. Issuers publish a handful; each key without a name costs a token without one a verification. */
export const KEYS_MAX = 100;
/** In bits; RFC 7518, 3.3 asks for as many. */
const RSA_BITS_MIN = 2048;
/** Members of private and of shared keys. A key whose secret half is published proves nothing. */
const SECRET_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

const document = z.object({ keys: z.array(z.unknown()) });
const number = z.string().min(1);
const uses = {
  kid: z.string().optional(),
  use: z.literal("sig").optional(),
  key_ops: z
    .array(z.string())
    .refine((operations) => operations.includes("verify"))
    .optional(),
  alg: z.string().optional(),
};
const publicKey = z.discriminatedUnion("kty", [
  z.object({ ...uses, kty: z.literal("RSA"), n: number, e: number }),
  z.object({ ...uses, kty: z.literal("EC"), crv: z.string(), x: number, y: number }),
  z.object({ ...uses, kty: z.literal("OKP"), crv: z.string(), x: number }),
]);
type PublicKey = z.infer<typeof publicKey>;

/**
 * @param value the document as parsed JSON
 * @returns its usable keys in their order, at most {@link KEYS_MAX}; null for what is no key set
 */
export function readKeySet(value: unknown): VerificationKey[] | null {
  const read = document.safeParse(value);
  if (!read.success) return null;
  const keys: VerificationKey[] = [];
  for (const member of read.data.keys) {
    const key = readKey(member);
    if (key !== null) keys.push(key);
    if (keys.length === KEYS_MAX) break;
  }
  return keys;
}

/**
 * The keys that may have signed a token: those of its `kid`; where no key has that name, those without one.
 *
 * @param header of the token, unverified
 */
export function keysFor(
  keys: readonly VerificationKey[],
  header: { readonly alg: string; readonly kid: string | null },
): VerificationKey[] {
  const able = keys.filter(({ algorithms }) => algorithms.includes(header.alg));
  if (header.kid === null) return able;
  const named = able.filter(({ kid }) => kid === header.kid);
  return named.length > 0 ? named : able.filter(({ kid }) => kid === null);
}

function readKey(member: unknown): VerificationKey | null {
  if (typeof member !== "object" || member === null) return null;
  if (SECRET_MEMBERS.some((name) => Object.hasOwn(member, name))) return null;
  const read = publicKey.safeParse(member);
  if (!read.success) return null;
  const { use: _use, key_ops: _operations, kid = null, alg, ...jwk } = read.data;
  const algorithms = algorithmsOf(read.data).filter((algorithm) => alg === undefined || alg === algorithm);
  return algorithms.length === 0 ? null : { jwk, kid, algorithms };
}

function algorithmsOf(key: PublicKey): readonly string[] {
  if (key.kty !== "RSA") return CURVE_ALGORITHMS.get(`${key.kty} ${key.crv}`) ?? [];
  // With an exponent of 1 a message is its own signature.
  return bitsOf(key.n) >= RSA_BITS_MIN && bitsOf(key.e) > 1 ? RSA_ALGORITHMS : [];
}

/** The bits of an unsigned number in base64url; 0 for what is none. */
function bitsOf(text: string): number {
  try {
    const bytes = base64url.decode(text);
    const first = bytes.findIndex((byte) => byte !== 0);
    return first < 0 ? 0 : 8 * (bytes.length - first) - (Math.clz32(bytes[first] ?? 0) - 24);
  } catch {
    return 0;
  }
}
