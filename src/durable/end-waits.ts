/**
 * Callers who hold a request open until a command ends. Memory only: a wait is a courtesy, it takes no place in the
 * queue, and losing one loses nothing.
 */

/** Held requests per object; the next one is answered at once with what is known. */
const WAITS_MAX = 10_000;
/** Of one tenant: its waits must not be all that there are. */
const WAITS_PER_TENANT_MAX = 1_000;

export class EndWaits {
  readonly #bySequence = new Map<number, Set<() => void>>();
  readonly #byToken = new Map<string, () => void>();
  readonly #byTenant = new Map<string, number>();
  #size = 0;

  /**
   * Resolves when the command ends, the time is over, or its caller has gone, whichever comes first. Says nothing about
   * which.
   *
   * @param token names the wait, for {@link leave}
   */
  wait(tenant: string, sequence: number, waitMs: number, token: string): Promise<void> {
    const own = this.#byTenant.get(tenant) ?? 0;
    if (waitMs <= 0 || this.#byToken.has(token) || this.#size >= WAITS_MAX || own >= WAITS_PER_TENANT_MAX)
      return Promise.resolve();
    return new Promise((resolve) => {
      const waits = this.#bySequence.get(sequence) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        waits.delete(done);
        this.#byToken.delete(token);
        if (waits.size === 0) this.#bySequence.delete(sequence);
        this.#count(tenant, -1);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      waits.add(done);
      this.#byToken.set(token, done);
      this.#bySequence.set(sequence, waits);
      this.#count(tenant, 1);
    });
  }

  /** The command has ended: everyone who waits for it is answered. */
  ended(sequence: number): void {
    for (const done of [...(this.#bySequence.get(sequence) ?? [])]) done();
  }

  /** The caller has gone: nothing is left of its wait. */
  leave(token: string): void {
    this.#byToken.get(token)?.();
  }

  #count(tenant: string, by: 1 | -1): void {
    this.#size += by;
    const own = (this.#byTenant.get(tenant) ?? 0) + by;
    if (own === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, own);
  }
}
