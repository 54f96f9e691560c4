/** A binary heap: the least first. */

export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isLess: (a: T, b: T) => boolean;

  constructor(isLess: (a: T, b: T) => boolean) {
    this.#isLess = isLess;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The least, left in; undefined when there is none. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above];
      if (parent === undefined || !this.#isLess(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  /** The least, taken out; undefined when there is none. */
  pop(): T | undefined {
    const items = this.#items;
    const [least] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return least;
    let at = 0;
    for (;;) {
      const below = this.#lesserChild(at);
      const child = items[below];
      if (child === undefined || !this.#isLess(child, last)) break;
      items[at] = child;
      at = below;
    }
    items[at] = last;
    return least;
  }

  #lesserChild(at: number): number {
    const [left, right] = [this.#items[2 * at + 1], this.#items[2 * at + 2]];
    return left !== undefined && right !== undefined && this.#isLess(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}
