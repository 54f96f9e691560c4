/**
 * The bounded queue: which command is next, and whether one more may wait. Only ids and sizes live here; bodies are
 * on disk. Deterministic and synchronous, so that check and insert are one step.
 *
 * Two lanes. The ordinary lane is bounded by count and by bytes, exactly. Critical commands wait in a lane of their
 * own that goes first and is not subject to the bound; one tenant can still not fill it without end.
 */

export interface QueueEntry {
  readonly sequence: number;
  readonly tenant: string;
  /** Size of the command's body on disk, in bytes. */
  readonly bytes: number;
  readonly critical: boolean;
  /** When it was accepted, Unix milliseconds. */
  readonly acceptedAtMs: number;
}

export interface QueueBounds {
  /** Commands in the ordinary lane. */
  readonly count: number;
  /** Their bodies together, in bytes. */
  readonly bytes: number;
}

/** Ids of critical commands live in memory (about 100 bytes each): a flood by one tenant must not end the object. */
export const CRITICAL_WAITING_PER_TENANT_MAX = 50_000;

export class CommandQueue {
  readonly #ordinary = new Lane();
  readonly #critical = new Lane();
  readonly #criticalByTenant = new Map<string, number>();
  #bounds: QueueBounds;
  #peakDepth = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Commands in the ordinary lane. */
  get depth(): number {
    return this.#ordinary.size;
  }

  get criticalDepth(): number {
    return this.#critical.size;
  }

  /** The most that `depth` has been. */
  get peakDepth(): number {
    return this.#peakDepth;
  }

  get bounds(): QueueBounds {
    return this.#bounds;
  }

  /** New bounds hold for what comes next; nothing that waits is thrown out by a lower one. */
  setBounds(bounds: QueueBounds): void {
    this.#bounds = bounds;
  }

  hasRoom(bytes: number): boolean {
    return this.#ordinary.size < this.#bounds.count && this.#ordinary.bytes + bytes <= this.#bounds.bytes;
  }

  /**
   * Takes one more command, or nothing: the one step in which the bound is checked and the place is taken.
   *
   * @param nextSequence asked only when the command is taken, so that a refusal uses up no key
   */
  offer(candidate: Omit<QueueEntry, "sequence">, nextSequence: () => number): QueueEntry | "full" {
    if (candidate.critical) {
      if ((this.#criticalByTenant.get(candidate.tenant) ?? 0) >= CRITICAL_WAITING_PER_TENANT_MAX) return "full";
    } else if (!this.hasRoom(candidate.bytes)) return "full";
    const entry = { ...candidate, sequence: nextSequence() };
    this.restore(entry);
    return entry;
  }

  /** Puts back a command that was accepted before: a restart refuses nothing, whatever the bound has become. */
  restore(entry: QueueEntry): void {
    if (entry.critical) {
      this.#critical.push(entry);
      this.#criticalByTenant.set(entry.tenant, (this.#criticalByTenant.get(entry.tenant) ?? 0) + 1);
    } else {
      this.#ordinary.push(entry);
      this.#peakDepth = Math.max(this.#peakDepth, this.#ordinary.size);
    }
  }

  /** The next command to run; it no longer waits. Critical ones first, each lane in the order of arrival. */
  take(): QueueEntry | undefined {
    const entry = this.#critical.shift();
    if (entry === undefined) return this.#ordinary.shift();
    this.#forgetCritical(entry);
    return entry;
  }

  /** Takes a waiting command out. False when it does not wait here (it runs, has ended, or was never accepted). */
  remove(sequence: number): boolean {
    const critical = this.#critical.remove(sequence);
    if (critical !== undefined) this.#forgetCritical(critical);
    return critical !== undefined || this.#ordinary.remove(sequence) !== undefined;
  }

  /** How many waiting commands go before this one; null when it does not wait. */
  aheadOf(sequence: number): number | null {
    const inCritical = this.#critical.aheadOf(sequence);
    if (inCritical !== null) return inCritical;
    const inOrdinary = this.#ordinary.aheadOf(sequence);
    return inOrdinary === null ? null : this.#critical.size + inOrdinary;
  }

  /** When the command that has waited longest was accepted; null when none waits. */
  oldestAcceptedAtMs(): number | null {
    const times = [this.#critical.peek(), this.#ordinary.peek()].flatMap((entry) => entry?.acceptedAtMs ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** The lowest sequences at or above `from` that wait, at most `count`, in order. Looks at every waiting command. */
  oldestSequences(from: number, count: number): number[] {
    const all = [...this.#critical.sequences(), ...this.#ordinary.sequences()].filter((sequence) => sequence >= from);
    return all.sort((a, b) => a - b).slice(0, count);
  }

  /** Whether this command waits here. */
  has(sequence: number): boolean {
    return this.#critical.has(sequence) || this.#ordinary.has(sequence);
  }

  #forgetCritical(entry: QueueEntry): void {
    const left = (this.#criticalByTenant.get(entry.tenant) ?? 1) - 1;
    if (left === 0) this.#criticalByTenant.delete(entry.tenant);
    else this.#criticalByTenant.set(entry.tenant, left);
  }
}

/** First in, first out, with removal from the middle: a removed place stays as a hole until the head passes it. */
class Lane {
  #slots: (QueueEntry | undefined)[] = [];
  /** Index of the first slot that may be taken. */
  #head = 0;
  readonly #positions = new Map<number, number>();
  #bytes = 0;

  get size(): number {
    return this.#positions.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(sequence: number): boolean {
    return this.#positions.has(sequence);
  }

  sequences(): IterableIterator<number> {
    return this.#positions.keys();
  }

  push(entry: QueueEntry): void {
    this.#positions.set(entry.sequence, this.#slots.length);
    this.#slots.push(entry);
    this.#bytes += entry.bytes;
  }

  peek(): QueueEntry | undefined {
    while (this.#head < this.#slots.length && this.#slots[this.#head] === undefined) this.#head++;
    return this.#slots[this.#head];
  }

  shift(): QueueEntry | undefined {
    const entry = this.peek();
    if (entry !== undefined) this.#clear(entry, this.#head);
    this.#compact();
    return entry;
  }

  remove(sequence: number): QueueEntry | undefined {
    const index = this.#positions.get(sequence);
    if (index === undefined) return undefined;
    const entry = this.#slots[index];
    if (entry !== undefined) this.#clear(entry, index);
    this.#compact();
    return entry;
  }

  aheadOf(sequence: number): number | null {
    const position = this.#positions.get(sequence);
    if (position === undefined) return null;
    let ahead = 0;
    if (this.#slots.length - this.#head === this.#positions.size) return position - this.#head;
    for (let i = this.#head; i < position; i++) if (this.#slots[i] !== undefined) ahead++;
    return ahead;
  }

  #clear(entry: QueueEntry, index: number): void {
    this.#slots[index] = undefined;
    this.#positions.delete(entry.sequence);
    this.#bytes -= entry.bytes;
  }

  /** Drops the holes once they are the larger half, so that a take or a removal costs constant time on average. */
  #compact(): void {
    const holes = this.#slots.length - this.#positions.size;
    if (holes < COMPACT_MIN || holes * 2 < this.#slots.length) return;
    this.#slots = this.#slots.filter((slot) => slot !== undefined);
    this.#positions.clear();
    for (const [index, entry] of this.#slots.entries()) if (entry) this.#positions.set(entry.sequence, index);
    this.#head = 0;
  }
}

/** Below this many holes a copy costs more than it saves. */
const COMPACT_MIN = 64;
