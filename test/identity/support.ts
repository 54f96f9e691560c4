import { env } from "cloudflare:workers";
import { type Config, parseConfig } from "../../src/config.ts";
import { newKey } from "../../src/identity/api-key.ts";
import type { Asking } from "../../src/identity/directory.ts";
import { createKey } from "../../src/store/keys.ts";
import { putTenant } from "../../src/store/tenants.ts";

/** A D1 that counts what it is asked and fails when told to, in front of the real one. */
export class WatchedD1 {
  queries = 0;
  /** `fails`: an error at once; `hangs`: no answer for ever. */
  mood: "well" | "fails" | "hangs" = "well";

  /** The environment with this D1 in the place of the real one. */
  env(): Env {
    const prepare = (sql: string) => this.#watch(env.DB.prepare(sql));
    const DB = new Proxy(env.DB, {
      get: (target, name) => (name === "prepare" ? prepare : bound(target, name)),
    });
    return { ...env, DB };
  }

  #watch(statement: D1PreparedStatement): D1PreparedStatement {
    return new Proxy(statement, {
      get: (target, name) => {
        if (name === "bind") return (...values: unknown[]) => this.#watch(target.bind(...values));
        if (name === "all") return () => this.#ask(() => target.all());
        return bound(target, name);
      },
    });
  }

  #ask<T>(answer: () => Promise<T>): Promise<T> {
    this.queries++;
    if (this.mood === "hangs") return new Promise(() => {});
    return this.mood === "fails" ? Promise.reject(new Error("D1_ERROR: away")) : answer();
  }
}

function bound(target: object, name: PropertyKey): unknown {
  const member: unknown = Reflect.get(target, name);
  return typeof member === "function" ? member.bind(target) : member;
}

/** Deferred work is kept, so that a test can wait for it. */
export class Deferred {
  readonly #work: Promise<void>[] = [];
  readonly add = (work: Promise<void>): void => {
    this.#work.push(work);
  };

  get size(): number {
    return this.#work.length;
  }

  async done(): Promise<void> {
    await Promise.all(this.#work.splice(0));
  }
}

export const KEEP_MS = 10_000;

export function askingAt(nowMs: number, d1: WatchedD1, deferred = new Deferred()): Asking {
  return { env: d1.env(), nowMs, keepMs: KEEP_MS, defer: deferred.add };
}

export function configOf(vars: Record<string, string> = {}): Config {
  return parseConfig({ ADMIN_TOKEN: "test-admin", VIEWER_TOKEN: "test-viewer", ...vars });
}

/** Makes a tenant with a key, and gives the key's secret. */
export async function tenantWithKey(
  id: string,
  given: { tier?: string; expiresAtMs?: number } = {},
): Promise<{ secret: string; keyId: string; hash: string }> {
  const act = { actor: "test", nowMs: 0 };
  await putTenant(env.DB, id, { tier: given.tier ?? "free", status: null }, act);
  const { secret, keyId, hash } = await newKey();
  const key = { keyId, hash, name: null, createdAtMs: 0, expiresAtMs: given.expiresAtMs ?? null };
  await createKey(env.DB, id, key, act);
  return { secret, keyId, hash };
}

export function bearer(secret: string): Headers {
  return new Headers({ Authorization: `Bearer ${secret}` });
}

export function basic(tenant: string, secret: string): Headers {
  const bytes = new TextEncoder().encode(`${tenant}:${secret}`);
  return new Headers({ Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` });
}
