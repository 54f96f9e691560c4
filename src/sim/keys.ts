import { type ClaimedKey, judgeKey, type UsedKey } from "../core/idempotency.ts";
import type { Life } from "./life.ts";

/**
 * Callers' own names for their commands, thinly: what `durable/keyed-door.ts` and `durable/used-keys.ts` do around the
 * core. A used key is written with its command; one whose first request is not answered yet is claimed in memory only.
 */

/** How long a used key is kept: a day, as a deployment has it by default, and longer than clocks leap here. */
const KEYS_KEEP_MS = 86_400_000;
/** An answer needs a moment to leave. */
const SLACK_MS = 2_000;
/** The same body every time: another one under the same key is a caller's mistake, and no world has it. */
const FINGERPRINT = "";

export type KnownKey =
  | { readonly kind: "repeated"; readonly sequence: number }
  | { readonly kind: "in_flight"; readonly retryAfterSeconds: number };

/** @returns what a repeat is told; null for a first request, which then has the key until it is answered */
export function claimKey(life: Life, tenant: string, key: string, nowMs: number): KnownKey | null {
  const name = nameOf(tenant, key);
  const verdict = judgeKey(FINGERPRINT, usedOf(life, name), life.claims.get(name) ?? null, KEYS_KEEP_MS, nowMs);
  switch (verdict.verdict) {
    case "repeated":
      return { kind: "repeated", sequence: verdict.answer };
    case "in_flight":
      return { kind: "in_flight", retryAfterSeconds: verdict.retryAfterSeconds };
    case "conflict":
      throw new Error(`key ${key} was used with another body`);
    case "fresh": {
      const claim: ClaimedKey = {
        fingerprint: FINGERPRINT,
        untilMs: nowMs + life.world.spec.enqueueWaitMs + SLACK_MS,
      };
      life.claims.set(name, claim);
      return null;
    }
  }
}

export function releaseKey(life: Life, tenant: string, key: string): void {
  life.claims.delete(nameOf(tenant, key));
}

/** In the event that takes the command. */
export function useKey(life: Life, tenant: string, key: string, sequence: number): void {
  const atMs = life.world.clock();
  const used = { fingerprint: FINGERPRINT, answer: sequence, atMs };
  if (life.world.sabotage === "forgets-keys") life.usedInMemory.set(nameOf(tenant, key), used);
  else life.disk.keys.put(nameOf(tenant, key), used);
  for (const [name, { atMs: before }] of life.disk.keys.entries()) {
    if (Math.abs(atMs - before) < KEYS_KEEP_MS) break;
    life.disk.keys.delete(name);
  }
}

function usedOf(life: Life, name: string): UsedKey<number> | null {
  const kept = life.world.sabotage === "forgets-keys" ? life.usedInMemory.get(name) : life.disk.keys.get(name);
  return kept ?? null;
}

function nameOf(tenant: string, key: string): string {
  return `${tenant} ${key}`;
}
