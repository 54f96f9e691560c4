import type { JsonObject, JsonText } from "../core/json.ts";
import { wholeSeconds } from "../core/retry-after.ts";
import { EndWaits } from "./end-waits.ts";
import type { EngineParts } from "./engine-parts.ts";

/**
 * What is asked of the embedded engine without a command: how an instance stands, perhaps after its end, and searches.
 * A caller who awaits a result waits here, after its command has ended: it takes no slot, and does not make the engine
 * look slow.
 */

/** An instance as its creator awaits it. */
export interface InstanceView {
  readonly state: string;
  /** Of an object. */
  readonly variables: JsonText;
}

export type SearchKind = "process-instances" | "incidents" | "jobs";

export interface SearchQuery {
  readonly filter: JsonObject;
  readonly sort: JsonObject[];
  readonly page: JsonObject;
}

export type Found =
  | { readonly items: JsonObject[]; readonly total: number; readonly hasMore: boolean }
  | { readonly fault: string }
  /** The tenant's searches have used up its share of the engine's time. */
  | { readonly retryAfterSeconds: number };

/** A search waits no longer than so for its tenant's share: past this its caller is told to come back. */
const SHARE_WAIT_MS_MAX = 2_000;
/** Searches of one tenant at a time. Each is some memory, and the next one would only wait for them. */
const SEARCHES_PER_TENANT_MAX = 10;

const ACTIVE = "ACTIVE";

export class EngineReads {
  readonly #parts: EngineParts;
  readonly #waits = new EndWaits();
  /** How many searches are under way, by tenant. */
  readonly #searches = new Map<string, number>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** An instance of a tenant, after at most `waitMs` for its end; null for what is not its own. */
  async instance(tenant: string, key: string, waitMs: number, token: string): Promise<InstanceView | null> {
    const { embedded, keys } = this.#parts;
    const now = embedded.instanceState(tenant, key);
    const sequence = keys.parse(key);
    if (now === null || sequence === null || now.state !== ACTIVE) return now;
    await this.#waits.wait(tenant, sequence, waitMs, token);
    return embedded.instanceState(tenant, key);
  }

  /**
   * Searches in pieces, at the tenant's expense: others have their turn in between, and a tenant that has used up its
   * share of the engine's time waits for it.
   */
  async search(tenant: string, kind: SearchKind, query: SearchQuery): Promise<Found> {
    const { embedded, shares } = this.#parts;
    const search = embedded.search(tenant, kind, query, Date.now());
    if ("fault" in search) return search;
    const others = this.#searches.get(tenant) ?? 0;
    const owedMs = shares.waitMs(tenant, Date.now());
    if (others >= SEARCHES_PER_TENANT_MAX || owedMs > SHARE_WAIT_MS_MAX) {
      return { retryAfterSeconds: wholeSeconds(owedMs) };
    }
    this.#searches.set(tenant, others + 1);
    try {
      while (!search.isDone) {
        await scheduler.wait(shares.waitMs(tenant, Date.now()));
        shares.charge(tenant, search.step(), Date.now());
      }
      const { steps, ...found } = search.result();
      shares.charge(tenant, steps, Date.now());
      return found;
    } finally {
      const left = (this.#searches.get(tenant) ?? 1) - 1;
      if (left === 0) this.#searches.delete(tenant);
      else this.#searches.set(tenant, left);
    }
  }

  /** Instances have ended: whoever awaits one is answered. */
  ended(instances: readonly number[]): void {
    for (const sequence of instances) this.#waits.ended(sequence);
  }

  /** The caller of a wait has gone. */
  leave(token: string): void {
    this.#waits.leave(token);
  }
}
