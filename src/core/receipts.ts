/**
 * Receipts for charges, so that one that paid for what somebody else refused can be given back and nothing else with it.
 * A meter knows only what is owed in all; with what was charged after a charge it can tell how much of it is still owed.
 */

/** Names a charge. It means something to the one that made it, and to no other. */
export interface Receipt {
  /** Who made it: a number of its own for every life of an object. */
  readonly life: number;
  /** Which of its charges, the first is 1. */
  readonly number: number;
  /** Tokens charged in this life in all, the charge included. */
  readonly total: number;
  /** The meters that were charged. */
  readonly ids: readonly string[];
  /** For a charge that was made out of a lease: how many tokens of it had been spent then, this charge included. */
  readonly spent?: number;
}

/** How much of a cost is still owed, of all that is owed, when so much was charged since. All of one unit. */
export function stillOwed(cost: number, owed: number, since: number): number {
  return Math.max(0, Math.min(cost, owed - since));
}

/**
 * Charges that are remembered as given back, about 100 bytes each: ten seconds of an object whose every charge is given
 * back, and longer than a caller may wait for room. Nothing that is as old as one that was forgotten is given back.
 */
export const GIVEN_MAX = 10_000;

/** A charge that was given back. */
interface Given {
  readonly receipt: Receipt;
  readonly cost: number;
}

export class Receipts {
  readonly #life: number;
  #number = 0;
  #total = 0;
  /** What was given back, in the order of charging. */
  readonly #given: Given[] = [];
  readonly #ids = new Set<string>();
  /** All charges up to this one may have been given back. */
  #forgottenNumber = 0;

  /** @param life a number that no other life has */
  constructor(life: number) {
    this.#life = life;
  }

  /** Takes note of a charge. */
  charged(cost: number, ids: Iterable<string>): Receipt {
    this.#total += cost;
    this.#number += 1;
    return { life: this.#life, number: this.#number, total: this.#total, ids: [...ids] };
  }

  /**
   * Takes a charge out of the account, once.
   *
   * @returns how many tokens were charged after it, at most, and have not been given back since; null when it has been
   * given back, or may have been long ago, or when the receipt is of another life, which may have lost the charge
   */
  giveBack(receipt: Receipt, cost: number): number | null {
    if (receipt.life !== this.#life || receipt.number <= this.#forgottenNumber) return null;
    const id = idOf(receipt);
    if (this.#ids.has(id)) return null;
    // What is given back was charged a moment ago: those that were charged after it are few, and at the end.
    let at = this.#given.length;
    let returned = 0;
    for (; at > 0; at--) {
      const later = this.#given[at - 1];
      if (later === undefined || later.receipt.total <= receipt.total) break;
      returned += later.cost;
    }
    this.#ids.add(id);
    this.#given.splice(at, 0, { receipt, cost });
    if (this.#given.length > GIVEN_MAX) this.#forgetOldest();
    return this.#total - receipt.total - returned;
  }

  #forgetOldest(): void {
    const oldest = this.#given.shift();
    if (oldest === undefined) return;
    this.#ids.delete(idOf(oldest.receipt));
    this.#forgottenNumber = Math.max(this.#forgottenNumber, oldest.receipt.number);
  }
}

/** Charges that an isolate has given back by itself, the last so many: it is asked for a second time at once, or never. */
export class GivenBack {
  readonly #ids = new Set<string>();

  has(receipt: Receipt): boolean {
    return this.#ids.has(idOf(receipt));
  }

  add(receipt: Receipt): void {
    this.#ids.add(idOf(receipt));
    const [oldest] = this.#ids;
    if (this.#ids.size > GIVEN_MAX && oldest !== undefined) this.#ids.delete(oldest);
  }
}

/** The name of a charge: one lease has many, of which each has spent more of it, and is given back itself at its end. */
function idOf({ life, number, spent }: Receipt): string {
  return `${life}/${number}/${spent ?? ""}`;
}
