/**
 * Answers of D1 that an isolate keeps: plain data, bounded, with the time of their question. Requests of one isolate
 * must not share I/O, so nothing here is ever a promise. Pure: time is an argument, in Unix milliseconds.
 */

/** How an answer may be used: `fresh` as it is, `aging` while it is asked for again, `stale` only if that fails. */
export type Age = "fresh" | "aging" | "stale";

interface Entry<T> {
  readonly value: T;
  /** When it was asked for: what D1 said is at least as new as that. */
  readonly askedAtMs: number;
  /** When a refresh behind a request began. */
  readonly refreshedAtMs: number;
  /** When asking again failed. */
  readonly failedAtMs: number;
}

/** For so long one refresh or one failure speaks for all requests: an outage must not cost each of them a timeout. */
const RETRY_MS = 1000;
const NEVER_MS = Number.NEGATIVE_INFINITY;

export class KnownAnswers<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #max: number;

  /** @param max how many answers are kept; past that the one that was asked for longest ago is forgotten */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The answer whatever its age. */
  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The answer with its age, where `keepMs` is the longest that it may be used without asking again. */
  look(key: string, nowMs: number, keepMs: number): { readonly value: T; readonly age: Age } | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const age = nowMs - entry.askedAtMs;
    // A clock that stepped back makes an answer from the future: its age is unknown, and it is asked for again.
    if (age < 0 || age >= keepMs) return { value: entry.value, age: "stale" };
    return { value: entry.value, age: age < keepMs / 2 ? "fresh" : "aging" };
  }

  put(key: string, value: T, askedAtMs: number): void {
    // Set anew, so that the order of the map is the order of asking.
    this.#entries.delete(key);
    this.#entries.set(key, { value, askedAtMs, refreshedAtMs: NEVER_MS, failedAtMs: NEVER_MS });
    if (this.#entries.size <= this.#max) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  /** True once per {@link RETRY_MS} and answer: whoever gets it refreshes an aging answer. */
  claimRefresh(key: string, nowMs: number): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined || within(RETRY_MS, entry.refreshedAtMs, nowMs)) return false;
    this.#entries.set(key, { ...entry, refreshedAtMs: nowMs });
    return true;
  }

  /** Notes that asking again failed. */
  failed(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#entries.set(key, { ...entry, failedAtMs: nowMs });
  }

  /** Whether asking for this answer failed just now, so that its last value may be used without asking. */
  hasJustFailed(key: string, nowMs: number, keepMs: number): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && within(Math.min(RETRY_MS, keepMs), entry.failedAtMs, nowMs);
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  forgetWhere(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }

  forgetAll(): void {
    this.#entries.clear();
  }

  /** Keeps every answer as the last that is known, and has it asked for before it is used again. */
  makeStale(): void {
    for (const [key, { value }] of this.#entries) {
      this.#entries.set(key, { value, askedAtMs: NEVER_MS, refreshedAtMs: NEVER_MS, failedAtMs: NEVER_MS });
    }
  }
}

function within(ms: number, thenMs: number, nowMs: number): boolean {
  return nowMs >= thenMs && nowMs - thenMs < ms;
}
