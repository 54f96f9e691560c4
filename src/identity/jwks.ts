import type { JSONWebKeySet } from "jose";
import { z } from "zod";

/**
 * The issuer's public keys, kept as plain JSON. Requests of one isolate must not share a fetch, so each one that finds
 * nothing fresh fetches for itself, and only the text that came of it is kept. How a token is judged by the keys is
 * left to `jwt.ts`.
 */

/** How long keys are used before they are fetched again, in milliseconds: issuers rotate in hours. */
const FRESH_MS = 10 * 60_000;
/** How often an unknown key id or an endpoint that fails may cause another fetch, in milliseconds. */
const REFETCH_MS = 30_000;
/** As long as nothing is known a failed fetch stops others for this long only, in milliseconds. */
const FIRST_RETRY_MS = 1_000;
/** How long keys outlive an endpoint that is down, in milliseconds: a withdrawn key must not live for ever. */
const LAST_KNOWN_MS = 24 * 60 * 60_000;
/** Some hundred keys, in bytes. */
const BODY_BYTES_MAX = 64 * 1024;
/** In milliseconds: a caller waits for it. */
const FETCH_TIMEOUT_MS = 5_000;

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** What is kept of one address. */
interface Held {
  readonly url: string;
  readonly jwks: JSONWebKeySet | null;
  readonly fetchedAtMs: number;
  readonly triedAtMs: number;
}

let held: Held | null = null;

/**
 * The issuer's keys.
 *
 * @param url where they are published
 * @param nowMs Unix milliseconds
 * @param missing a key that was looked for is not among them: they are fetched again, at most every 30 s
 * @returns null when they cannot be had
 */
export async function issuerKeys(url: string, nowMs: number, missing = false): Promise<JSONWebKeySet | null> {
  const known = held?.url === url ? held : null;
  if (known !== null && !isDue(known, nowMs, missing)) return usable(known, nowMs);
  if (known !== null) held = { ...known, triedAtMs: nowMs };
  try {
    const jwks = await fetchKeys(url);
    held = { url, jwks, fetchedAtMs: nowMs, triedAtMs: nowMs };
    return jwks;
  } catch (error) {
    console.error(JSON.stringify({ event: "jwks_fetch_failed", error: String(error) }));
    const before = held?.url === url ? held : null;
    if (before === null) held = { url, jwks: null, fetchedAtMs: Number.NEGATIVE_INFINITY, triedAtMs: nowMs };
    return before && usable(before, nowMs);
  }
}

/** Forgets all keys of this isolate. */
export function forgetIssuerKeys(): void {
  held = null;
}

function isDue(known: Held, nowMs: number, missing: boolean): boolean {
  const sinceTry = nowMs - known.triedAtMs;
  if (sinceTry < 0) return true;
  if (known.jwks === null) return sinceTry >= FIRST_RETRY_MS;
  const aged = nowMs - known.fetchedAtMs >= FRESH_MS;
  return (aged || missing) && sinceTry >= REFETCH_MS;
}

function usable(known: Held, nowMs: number): JSONWebKeySet | null {
  return nowMs - known.fetchedAtMs < LAST_KNOWN_MS ? known.jwks : null;
}

/** @throws for anything but a key set of a decent size, in time */
async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { Accept: "application/jwk-set+json, application/json" },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the JWKS endpoint answered ${response.status}`);
  }
  const parsed = keySet.parse(JSON.parse(await readText(response.body)));
  // Shared secrets have no place in a public document: a token signed with one proves nothing.
  return { keys: parsed.keys.filter(({ kty }) => kty !== "oct") };
}

async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new Error(`the JWKS is longer than ${BODY_BYTES_MAX} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
