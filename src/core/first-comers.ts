/**
 * Tenants of whose commands the engine is likely to have none. While its queue is full an isolate refuses without asking;
 * but a tenant that has nothing there has a share of it, which only the engine can give. So its first command goes on to
 * the engine, and those after it meet the gate as all do.
 */

/** First commands a second of one isolate, of all tenants: a tenth of what a slow engine decides. */
export const FIRST_COMERS_PER_SECOND_MAX = 20;
/** A command that went on to the engine is likely to be there for so long, in milliseconds. */
export const PASSED_MS = 1_000;
/** A tenant that was refused is known to the engine for so long, which keeps a place for it meanwhile. */
export const REFUSED_MS = 5_000;
/** Tenants remembered, about 100 bytes each. One that is forgotten is a first-comer once more, within the bound. */
const KNOWN_MAX = 1_000;

export class FirstComers {
  /** Until when a tenant is no first-comer, Unix milliseconds; the one heard of last at the end. */
  readonly #known = new Map<string, number>();
  #second = { index: 0, count: 0 };

  /** Whether a command of this tenant would be let through as its first. */
  isFirst(tenant: string, nowMs: number): boolean {
    const leftMs = (this.#known.get(tenant) ?? nowMs) - nowMs;
    // A clock that stepped back must not make it longer.
    return (leftMs <= 0 || leftMs > REFUSED_MS) && this.#countAt(nowMs) < FIRST_COMERS_PER_SECOND_MAX;
  }

  /** Lets the first command of a tenant through: the next is not the first. @returns false when it has to meet the gate */
  take(tenant: string, nowMs: number): boolean {
    if (!this.isFirst(tenant, nowMs)) return false;
    this.#second = { index: secondOf(nowMs), count: this.#countAt(nowMs) + 1 };
    this.#know(tenant, nowMs + PASSED_MS);
    return true;
  }

  /** A first command did not reach the engine after all. */
  giveBack(tenant: string): void {
    this.#known.delete(tenant);
    this.#second = { ...this.#second, count: Math.max(0, this.#second.count - 1) };
  }

  /** A command of the tenant went on to the engine. */
  passed(tenant: string, nowMs: number): void {
    this.#know(tenant, nowMs + PASSED_MS);
  }

  /** A command of the tenant was refused for want of room. */
  refused(tenant: string, nowMs: number): void {
    this.#know(tenant, nowMs + REFUSED_MS);
  }

  #know(tenant: string, untilMs: number): void {
    this.#known.delete(tenant);
    this.#known.set(tenant, untilMs);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
  }

  #countAt(nowMs: number): number {
    return this.#second.index === secondOf(nowMs) ? this.#second.count : 0;
  }
}

function secondOf(nowMs: number): number {
  return Math.floor(nowMs / 1_000);
}
