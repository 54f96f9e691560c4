/**
 * How many callers of one address are trying to prove who they are at the same time, in one isolate: until the first of
 * them is charged, none of the others can be refused. Plain data; time is an argument, in Unix milliseconds.
 */

/** At once from one address. What a flood of guesses may look up before the address is known to be used up. */
export const TRIES_AT_ONCE_MAX = 8;
/** A request that its caller leaves may never end its try: after this its place is free, in milliseconds. */
const TRY_MS_MAX = 5_000;
/** Addresses with a try under way, about 100 bytes each. Past this the one that began first is forgotten. */
const ADDRESSES_MAX = 10_000;

/** A try that is under way. */
export interface Try {
  readonly address: string;
  readonly begunAtMs: number;
}

export class AddressTries {
  readonly #byAddress = new Map<string, readonly Try[]>();

  /** Takes a place for a try; null while the address has none left. */
  begin(address: string, nowMs: number): Try | null {
    const underWay = (this.#byAddress.get(address) ?? []).filter(
      ({ begunAtMs }) => nowMs >= begunAtMs && nowMs - begunAtMs < TRY_MS_MAX,
    );
    if (underWay.length >= TRIES_AT_ONCE_MAX) return null;
    const begun = { address, begunAtMs: nowMs };
    this.#byAddress.set(address, [...underWay, begun]);
    if (this.#byAddress.size > ADDRESSES_MAX) this.#forgetOldest();
    return begun;
  }

  /** Gives the place of a try back; of one whose place is gone already, nothing. */
  end(ended: Try): void {
    const left = (this.#byAddress.get(ended.address) ?? []).filter((one) => one !== ended);
    if (left.length > 0) this.#byAddress.set(ended.address, left);
    else this.#byAddress.delete(ended.address);
  }

  #forgetOldest(): void {
    for (const oldest of this.#byAddress.keys()) {
      this.#byAddress.delete(oldest);
      return;
    }
  }
}
