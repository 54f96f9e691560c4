import type { EngineParts } from "./engine-parts.ts";
import type { ForgottenTenant } from "./engine-state.ts";
import type { Expiry } from "./expiry.ts";

/**
 * Frees what a deleted tenant has on the object's disk: keys, definitions and instances, commands and dead letters. In
 * bounded pieces, over restarts: who is to be forgotten is on disk, how far it has come is not.
 *
 * Only what was there at the deletion goes, so that a tenant of the same name may begin anew at once. What waits is
 * cancelled; what an attempt is being made for ends by itself and stays as long as all that has ended.
 */
export class ForgottenTenants {
  readonly #parts: EngineParts;
  readonly #expiry: Pick<Expiry, "endUnbegun">;
  /** The sequence up to which the commands of the first on the list have been dealt with. */
  #cursor = 0;

  constructor(parts: EngineParts, expiry: Pick<Expiry, "endUnbegun">) {
    this.#parts = parts;
    this.#expiry = expiry;
  }

  /**
   * Puts a tenant on the list. Its rows go with the next pieces; what waits in the queue is cancelled at once, since what
   * runs now would make rows that are no longer told from those of a new tenant of the same name.
   */
  add(tenant: string, nowMs: number): void {
    const { state, keys, queue } = this.#parts;
    for (const sequence of queue.sequencesOf(tenant)) this.#expiry.endUnbegun(sequence, { state: "cancelled" }, nowMs);
    const others = state.forgotten().filter((one) => one.tenant !== tenant);
    state.saveForgotten([...others, { tenant, upTo: keys.next(), atMs: nowMs }]);
    this.#cursor = 0;
  }

  /** Frees a piece. @returns true when there is more to free */
  piece(nowMs: number): boolean {
    const { state, usedKeys, embedded } = this.#parts;
    const list = state.forgotten();
    const [first] = list;
    if (first === undefined) return false;
    const keysLeft = usedKeys.forget(first.tenant, first.atMs);
    const processLeft = embedded.forget(first.tenant, first.upTo);
    const commandsLeft = this.#commands(first, nowMs);
    if (keysLeft || processLeft || commandsLeft) return true;
    state.saveForgotten(list.slice(1));
    this.#cursor = 0;
    return list.length > 1;
  }

  #commands({ tenant, upTo }: ForgottenTenant, nowMs: number): boolean {
    const { store, dead, ledger } = this.#parts;
    const { own, last } = store.ownedBy(tenant, this.#cursor, upTo, PIECE_ROWS);
    for (const row of own) {
      if (row.finishedAtMs === null) this.#expiry.endUnbegun(row.sequence, { state: "cancelled" }, nowMs);
      else if (dead.has(row.sequence)) dead.drop(row);
    }
    ledger.forget(own.map(({ sequence }) => sequence));
    this.#cursor = last ?? 0;
    return last !== null;
  }
}

/** Commands looked at, a piece: those of others lie in between. */
const PIECE_ROWS = 500;
