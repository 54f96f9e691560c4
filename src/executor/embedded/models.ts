/**
 * Models in memory, ready to run: a definition is read from disk and parsed once, not at each step of its instances.
 * Bounded; the one that was not used for the longest time goes first. Definitions never change, so nothing grows stale.
 */

import type { ProcessModel } from "./bpmn/model.ts";

/** Small ones: most deployments have far fewer processes at work. */
const MODELS_MAX = 500;
/** Of their JSON, in UTF-16 units. In memory they take a few times that, of an object's 128 MB. */
const MODELS_LENGTH_MAX = 4_000_000;

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
  #length = 0;

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
