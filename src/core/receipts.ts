/**
 * Receipts for charges, so that one that paid for what somebody else refused can be given back and nothing else with it.
 * A meter knows only what is owed in all; with what was charged after a charge it can tell how much of it is still owed.
 */

/** Names a charge. It means something to the one that made it, and to no other. */
export interface Receipt {
  /** Who made it: a number of its own for every life of an object. */
  readonly life: number;
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

/** Charges that are remembered as given back. With one that is forgotten, an older one gives back less than it could. */
const GIVEN_MAX = 1_000;

export class Receipts {
  readonly #life: number;
  #total = 0;
  /** What was given back, and after how many tokens it had been charged. */
  #given: { readonly total: number; readonly cost: number }[] = [];

  /** @param life a number that no other life has */
  constructor(life: number) {
    this.#life = life;
  }

  /** Takes note of a charge. */
  charged(cost: number, ids: Iterable<string>): Receipt {
    this.#total += cost;
    return { life: this.#life, total: this.#total, ids: [...ids] };
  }

  /**
   * Takes a charge out of the account.
   *
   * @returns how many tokens were charged after it, at most, and have not been given back since; null when the receipt
   * is of another life, which may have lost or forgotten the charge
   */
  giveBack(receipt: Receipt, cost: number): number | null {
    if (receipt.life !== this.#life) return null;
    const returned = this.#given.reduce((sum, given) => sum + (given.total > receipt.total ? given.cost : 0), 0);
    if (cost > 0) this.#given.push({ total: receipt.total, cost });
    if (this.#given.length > GIVEN_MAX) this.#given.shift();
    return this.#total - receipt.total - returned;
  }
}
