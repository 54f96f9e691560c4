import type { Asking } from "./directory.ts";
import { readKeySet, type VerificationKey } from "./verification-keys.ts";

/**
 * The issuer's public keys, kept as plain data. Requests of one isolate must not share a fetch: one of them fetches, and
 * leaves a mark that others see; those that need its outcome wait for the mark to go. How a token is judged by the keys
 * is left to `jwt.ts`.
 */

/** How long keys are used before they are fetched again, in milliseconds: issuers rotate in hours. */
const FRESH_MS = 10 * 60_000;
/** How often a token that no key verifies, or an endpoint that fails, may cause another fetch, in milliseconds. */
const REFETCH_MS = 30_000;
/** As long as nothing is known a failed fetch stops others for this long only, in milliseconds. */
const FIRST_RETRY_MS = 1_000;
/** How long keys outlive an endpoint that is down, in milliseconds: a withdrawn key must not live for ever. */
const LAST_KNOWN_MS = 24 * 60 * 60_000;
/** Some hundred keys, in bytes. */
const BODY_BYTES_MAX = 64 * 1024;
/** In milliseconds: a caller waits for it. */
const FETCH_TIMEOUT_MS = 5_000;
/** How long a request waits for another one's fetch, in milliseconds: healthy issuers answer in a fraction of it. */
const WAIT_MS = 1_000;
/** How often it looks whether that fetch has ended, in milliseconds. */
const WAIT_STEP_MS = 20;

/** What is kept of one address. */
interface Held {
  readonly url: string;
  readonly keys: readonly VerificationKey[] | null;
  readonly fetchedAtMs: number;
  readonly triedAtMs: number;
  /** When a fetch was last made because no key verified a token. */
  readonly doubtedAtMs: number;
  /** A fetch is under way. Its request may die with its caller, so the mark holds for {@link FETCH_TIMEOUT_MS} only. */
  readonly fetching: boolean;
}

let held: Held | null = null;

/** When keys are asked for, and where a fetch goes on when its caller leaves. */
export type KeyRequest = Pick<Asking, "nowMs" | "defer">;

/**
 * The issuer's keys.
 *
 * @param url where they are published
 * @param doubted no known key verifies a token: they are fetched again, at most once every 30 s
 * @returns null when they cannot be had
 */
export async function issuerKeys(
  url: string,
  { nowMs, defer }: KeyRequest,
  doubted = false,
): Promise<readonly VerificationKey[] | null> {
  const known = held?.url === url ? held : unknown(url);
  if (isFetching(known, nowMs)) {
    const keys = usable(known, nowMs);
    if (keys !== null && !doubted) return keys;
    await fetchEnded(known);
  } else if (isDue(known, nowMs, doubted)) {
    held = { ...known, triedAtMs: nowMs, doubtedAtMs: doubted ? nowMs : known.doubtedAtMs, fetching: true };
    const fetched = refresh(held);
    // Its caller may leave: without this the fetch would end with it, and its mark would stay.
    defer(fetched);
    await fetched;
  }
  return held?.url === url ? usable(held, nowMs) : null;
}

/** Forgets all keys of this isolate. */
export function forgetIssuerKeys(): void {
  held = null;
}

function unknown(url: string): Held {
  const never = Number.NEGATIVE_INFINITY;
  return { url, keys: null, fetchedAtMs: never, triedAtMs: never, doubtedAtMs: never, fetching: false };
}

function isFetching(known: Held, nowMs: number): boolean {
  return known.fetching && within(FETCH_TIMEOUT_MS, known.triedAtMs, nowMs);
}

function isDue(known: Held, nowMs: number, doubted: boolean): boolean {
  if (known.keys === null) return !within(FIRST_RETRY_MS, known.triedAtMs, nowMs);
  if (doubted) return !within(REFETCH_MS, known.doubtedAtMs, nowMs);
  return !within(FRESH_MS, known.fetchedAtMs, nowMs) && !within(REFETCH_MS, known.triedAtMs, nowMs);
}

/** A clock that steps back makes a time of the future: then it is not within anything. */
function within(ms: number, thenMs: number, nowMs: number): boolean {
  return nowMs >= thenMs && nowMs - thenMs < ms;
}

function usable(known: Held, nowMs: number): readonly VerificationKey[] | null {
  return nowMs - known.fetchedAtMs < LAST_KNOWN_MS ? known.keys : null;
}

/** Waits until another request's fetch has ended, or {@link WAIT_MS} have passed. Each request has timers of its own. */
async function fetchEnded(mark: Held): Promise<void> {
  for (let waitedMs = 0; held === mark && waitedMs < WAIT_MS; waitedMs += WAIT_STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
  }
}

/** Fetches, and keeps what comes of it, unless a later fetch has been begun since. Never rejects. */
async function refresh(mark: Held): Promise<void> {
  try {
    const keys = await fetchKeys(mark.url);
    if (held === mark) held = { ...mark, keys, fetchedAtMs: mark.triedAtMs, fetching: false };
  } catch (error) {
    console.error(JSON.stringify({ event: "jwks_fetch_failed", error: String(error) }));
    if (held === mark) held = { ...mark, fetching: false };
  }
}

/** @throws for anything but a key set of a decent size, in time */
async function fetchKeys(url: string): Promise<readonly VerificationKey[]> {
  const response = await fetch(url, {
    headers: { Accept: "application/jwk-set+json, application/json" },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the JWKS endpoint answered ${response.status}`);
  }
  // Whatever its content type: storage services serve JSON as text or as bytes.
  const keys = readKeySet(JSON.parse(await readText(response.body)));
  if (keys === null) throw new Error("the JWKS endpoint answered without a list of keys");
  return keys;
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
