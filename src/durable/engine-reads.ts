import type { JsonObject, JsonText } from "../core/json.ts";
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

export type Found = { readonly items: JsonObject[]; readonly total: number } | { readonly fault: string };

const ACTIVE = "ACTIVE";

export class EngineReads {
  readonly #parts: EngineParts;
  readonly #waits = new EndWaits();

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

  search(tenant: string, kind: SearchKind, query: SearchQuery, nowMs: number): Found {
    return this.#parts.embedded.search(tenant, kind, query, nowMs);
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
