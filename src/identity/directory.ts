import {
  findKeyHolder,
  findMembership,
  findTierMembership,
  type KeyName,
  type Membership,
} from "../store/credentials.ts";
import type { TenantStanding } from "../store/tenants.ts";
import { ANONYMOUS_TIER } from "../store/tiers.ts";
import type { Account } from "./caller.ts";
import { KnownAnswers } from "./known-answers.ts";

/**
 * What D1 says of keys, tenants and the anonymous tier, asked through what this isolate knows. An answer is used for
 * `IDENTITY_CACHE_MS` at most, refreshed behind a request from half of that on; while D1 fails the last one holds,
 * however old. How credentials are judged is left to the resolver.
 */

/** Where and when a question is asked. */
export interface Asking {
  readonly env: Env;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** The longest that an answer is used without asking again, in milliseconds. */
  readonly keepMs: number;
  /** Lets work go on after the answer (`ctx.waitUntil`). */
  readonly defer: (work: Promise<void>) => void;
}

export interface Known {
  readonly tier: string;
  readonly standing: TenantStanding;
  readonly account: Account;
  /** For a key: its id, and when it ends (Unix milliseconds; null: never). */
  readonly key: { readonly id: string; readonly expiresAtMs: number | null } | null;
}

export type Lookup =
  | { readonly kind: "known"; readonly known: Known }
  | { readonly kind: "none" }
  /** D1 fails, and nothing was known before. */
  | { readonly kind: "unavailable" };

/** About 1 kB each with their policies: an isolate has 128 MB, and more active keys than this spread over many. */
const KNOWN_MAX = 10_000;
/** In a map of its own, so that guessed keys push out no real ones. */
const UNKNOWN_MAX = 1_000;
/** One wrong key, repeated, costs one query in this time; a key made a moment later works after it, in milliseconds. */
const UNKNOWN_KEEP_MS = 1_000;
/** A D1 that takes longer is a D1 that fails, in milliseconds: requests must not wait for an outage to end. */
const QUERY_TIMEOUT_MS = 3_000;

// Module scope: plain data, shared by the requests of an isolate.
const knownAnswers = new KnownAnswers<Known>(KNOWN_MAX);
const unknownKeys = new KnownAnswers<null>(UNKNOWN_MAX);
/** Counts what was forgotten: an answer that was asked for before must not come back after. */
let forgotten = 0;

/** Who holds a key, named by the SHA-256 of its secret (hex) or by its id. */
export function lookUpKey(asking: Asking, name: KeyName): Promise<Lookup> {
  return lookUp(asking, "hash" in name ? `key:${name.hash}` : `key-id:${name.id}`, async () => {
    const holder = await findKeyHolder(asking.env.DB, name);
    if (holder === null) return null;
    return knownOf(holder, holder.tenant, { id: holder.keyId, expiresAtMs: holder.expiresAtMs });
  });
}

/** As {@link lookUpKey}, of what this isolate knows and need not ask for again; null: ask. */
export function knownKey({ nowMs, keepMs }: Pick<Asking, "nowMs" | "keepMs">, hash: string): Known | null {
  const held = knownAnswers.look(`key:${hash}`, nowMs, keepMs);
  return held?.age === "fresh" ? held.value : null;
}

/** Whether this isolate has been told of a key, however long ago. */
export function isKnownKey(hash: string): boolean {
  return knownAnswers.get(`key:${hash}`) !== undefined;
}

/** What a tenant goes by that a token names. Never `none`: its standing says whether D1 has a row of it. */
export function lookUpTenant(asking: Asking, tenant: string): Promise<Lookup> {
  return lookUp(asking, `tenant:${tenant}`, async () =>
    knownOf(await findMembership(asking.env.DB, tenant), tenant, null),
  );
}

/** What callers without a credential go by; the tenant of this answer is nobody. */
export function lookUpAnonymous(asking: Asking): Promise<Lookup> {
  return lookUp(asking, "anonymous", async () => {
    const tier = await findTierMembership(asking.env.DB, ANONYMOUS_TIER);
    return tier && knownOf(tier, "", null);
  });
}

/** As {@link lookUpAnonymous}, without asking: the last answer, however old; null: none. */
export function knownAnonymous(): Known | null {
  return knownAnswers.get("anonymous") ?? null;
}

/**
 * Forgets what this isolate knows, so that an admin write holds here at once: it may not even be used while D1 fails.
 * Elsewhere the write holds within `IDENTITY_CACHE_MS`.
 */
export function forget(what: { readonly tenant: string } | { readonly keyId: string } | "everything"): void {
  forgotten++;
  unknownKeys.forgetAll();
  if (what === "everything") knownAnswers.forgetAll();
  else if ("tenant" in what) knownAnswers.forgetWhere(({ account }) => account.tenant === what.tenant);
  else knownAnswers.forgetWhere(({ key }) => key?.id === what.keyId);
}

/** Has everything asked for again before it is used, for a change that touches many. While D1 fails it still holds. */
export function askAgainForAll(): void {
  forgotten++;
  unknownKeys.forgetAll();
  knownAnswers.makeStale();
}

type Load = () => Promise<Known | null>;

async function lookUp(asking: Asking, name: string, load: Load): Promise<Lookup> {
  const { nowMs, keepMs } = asking;
  const held = knownAnswers.look(name, nowMs, keepMs);
  if (held === undefined) {
    const missing = unknownKeys.look(name, nowMs, Math.min(UNKNOWN_KEEP_MS, keepMs));
    const stillMissing = missing !== undefined && missing.age !== "stale";
    return stillMissing ? { kind: "none" } : ask(nowMs, name, load);
  }
  switch (held.age) {
    case "fresh":
      return { kind: "known", known: held.value };
    case "aging":
      if (knownAnswers.claimRefresh(name, nowMs)) asking.defer(ask(nowMs, name, load).then(() => undefined));
      return { kind: "known", known: held.value };
    case "stale":
      if (knownAnswers.hasJustFailed(name, nowMs, keepMs)) return { kind: "known", known: held.value };
      return ask(nowMs, name, load);
  }
}

/** Asks D1 and keeps the answer. Never rejects: a failure is answered with what is known. */
async function ask(nowMs: number, name: string, load: Load): Promise<Lookup> {
  const begunAt = forgotten;
  let answer: Known | null;
  try {
    answer = await inTime(load());
  } catch (error) {
    console.error(JSON.stringify({ event: "identity_lookup_failed", error: String(error) }));
    knownAnswers.failed(name, nowMs);
    const last = knownAnswers.get(name);
    return last === undefined ? { kind: "unavailable" } : { kind: "known", known: last };
  }
  if (begunAt === forgotten) keep(name, answer, nowMs);
  return answer === null ? { kind: "none" } : { kind: "known", known: answer };
}

function keep(name: string, answer: Known | null, askedAtMs: number): void {
  if (answer !== null) {
    unknownKeys.forget(name);
    knownAnswers.put(name, answer, askedAtMs);
  } else {
    knownAnswers.forget(name);
    unknownKeys.put(name, null, askedAtMs);
  }
}

function knownOf(membership: Membership, tenant: string, key: Known["key"]): Known {
  const { tier, standing, limits, weight, limiterMode } = membership;
  const account = { tenant, kind: "tenant", tier, limits, weight, limiterMode } as const;
  return { tier, standing, account, key };
}

/** The answer, or a rejection after {@link QUERY_TIMEOUT_MS}. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${QUERY_TIMEOUT_MS} ms`)), QUERY_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}
