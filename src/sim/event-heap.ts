/**
 * The heap of a run's events: the earliest first, and of those that are due together the one with the lowest order. Times
 * and orders lie in arrays of plain doubles, which is what makes millions of events cheap; `core/heap.ts` is the same
 * for things.
 */

const FIRST_SIZE = 1_024;

export class EventHeap {
  #times = new Float64Array(FIRST_SIZE);
  #orders = new Float64Array(FIRST_SIZE);
  readonly #events: (() => void)[] = [];

  /** When the next event is due; infinite when there is none. */
  get nextMs(): number {
    return this.#events.length === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] ?? 0);
  }

  push(atMs: number, order: number, event: () => void): void {
    const events = this.#events;
    if (events.length === this.#times.length) this.#grow();
    const times = this.#times;
    const orders = this.#orders;
    let at = events.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const time = times[above] ?? 0;
      if (time < atMs || (time === atMs && (orders[above] ?? 0) <= order)) break;
      times[at] = time;
      orders[at] = orders[above] ?? 0;
      events[at] = events[above] ?? event;
      at = above;
    }
    times[at] = atMs;
    orders[at] = order;
    events[at] = event;
  }

  /** The next event, taken out; undefined when there is none. */
  pop(): (() => void) | undefined {
    const events = this.#events;
    const [first] = events;
    const last = events.pop();
    const size = events.length;
    if (last === undefined || size === 0) return first;
    const times = this.#times;
    const orders = this.#orders;
    const time = times[size] ?? 0;
    const order = orders[size] ?? 0;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isLess(child + 1, times[child] ?? 0, orders[child] ?? 0)) child += 1;
      if (!this.#isLess(child, time, order)) break;
      times[at] = times[child] ?? 0;
      orders[at] = orders[child] ?? 0;
      events[at] = events[child] ?? last;
      at = child;
    }
    times[at] = time;
    orders[at] = order;
    events[at] = last;
    return first;
  }

  #isLess(at: number, time: number, order: number): boolean {
    const own = this.#times[at] ?? 0;
    return own < time || (own === time && (this.#orders[at] ?? 0) < order);
  }

  #grow(): void {
    const [times, orders] = [this.#times, this.#orders];
    this.#times = new Float64Array(2 * times.length);
    this.#orders = new Float64Array(2 * orders.length);
    this.#times.set(times);
    this.#orders.set(orders);
  }
}
