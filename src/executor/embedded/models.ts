/**
 * Models in memory, ready to run: a definition is read from disk and parsed once, not at each step of its instances.
 * Bounded; the one that was not used for the longest time goes first. Definitions never change, so nothing grows stale.
 */

import type { ProcessModel } from "./bpmn/model.ts";

/** Small ones: most deployments have far fewer processes at work. */
const MODELS_MAX = 500;
/** Of their JSON, in UTF-16 units. In memory they take a few times that, of an object's 128 MB. */
const MODELS_LENGTH_MAX = 4_000_000;

/** Names whose newest version is known: a few bytes each, and all of them are forgotten when there are more. */
const NEWEST_MAX = 1_000;

/** A definition as the engine runs it. */
export interface Definition {
  readonly seq: number;
  readonly processId: string;
  readonly version: number;
  readonly model: ProcessModel;
}

export class Models {
  /** In the order of their last use. */
  readonly #kept = new Map<number, { readonly definition: Definition; readonly length: number }>();
  readonly #newest = new Map<string, number>();
  #length = 0;

  /** The newest version of a tenant's process, as far as it was looked up; undefined: nobody has, or it has changed. */
  newest(tenant: string, processId: string): number | undefined {
    return this.#newest.get(nameOf(tenant, processId));
  }

  /** A version was found to be the newest on disk. */
  isNewest(tenant: string, processId: string, seq: number): void {
    if (this.#newest.size >= NEWEST_MAX) this.#newest.clear();
    this.#newest.set(nameOf(tenant, processId), seq);
  }

  /** There is a newer version, or will be when the transaction holds: it is looked up again. */
  hasNewer(tenant: string, processId: string): void {
    this.#newest.delete(nameOf(tenant, processId));
  }

  /** Definitions were deleted. */
  clear(): void {
    this.#kept.clear();
    this.#newest.clear();
    this.#length = 0;
  }

  get(seq: number): Definition | undefined {
    const kept = this.#kept.get(seq);
    if (kept === undefined) return undefined;
    this.#kept.delete(seq);
    this.#kept.set(seq, kept);
    return kept.definition;
  }

  /** @param length of the text that it was made from */
  keep(definition: Definition, length: number): void {
    this.#drop(definition.seq);
    this.#kept.set(definition.seq, { definition, length });
    this.#length += length;
    for (const seq of this.#kept.keys()) {
      const isLast = this.#kept.size === 1;
      if (isLast || (this.#kept.size <= MODELS_MAX && this.#length <= MODELS_LENGTH_MAX)) return;
      this.#drop(seq);
    }
  }

  #drop(seq: number): void {
    const kept = this.#kept.get(seq);
    if (kept === undefined) return;
    this.#kept.delete(seq);
    this.#length -= kept.length;
  }
}

/** One text for both, which no other pair has: the length says where the tenant ends. */
function nameOf(tenant: string, processId: string): string {
  return `${tenant.length}:${tenant}${processId}`;
}
