/**
 * What tenants have wanted of the queue of late: as much as they had waiting at most, and what they were refused. What
 * one had waiting a moment ago it may have waiting again. How much it *sends* is no measure: on an engine that keeps
 * up, a thousand commands a second need no more than a few places. Time is an argument, in Unix milliseconds.
 *
 * Who was refused *lacks* places, also at a moment when nothing of it waits: a tenant whose commands are served at once
 * has nothing waiting most of the time, and would be refused again and again. It goes on lacking as long as it sends
 * and anybody is refused; after a span without a refusal nobody lacks anything.
 */

/**
 * What is remembered reaches back this long, at most twice as long. Short, because a place that is kept for somebody
 * who does not come is of no use to anybody; long enough for a caller that was refused and comes again in a few
 * seconds, and for one that sends a command every few seconds.
 */
export const FAIR_MEMORY_MS = 5_000;
/**
 * Tenants remembered. Each costs a step for every command that is offered under contention. One that comes
 * when the memory is full is still known by what it has waiting.
 */
export const FAIR_REMEMBERED_MAX = 1_000;

/** Both measures of the queue. */
export interface Amount {
  /** Commands. */
  readonly count: number;
  /** Their bodies together. */
  readonly bytes: number;
}

const NOTHING: Amount = { count: 0, bytes: 0 };

/** A tenant that asks for a place. */
export interface Asker {
  readonly tenant: string;
  readonly weight: number;
  /** Of the command that it is for. */
  readonly bytes: number;
}

/** One tenant's memory. */
export interface Remembered extends Amount {
  readonly tenant: string;
  /** The weight that it had last. */
  readonly weight: number;
  /** Whether it was refused of late. */
  readonly lacks: boolean;
  /** What it was refused of late since it was last given a place. */
  readonly refused: Amount;
}

/** What was seen of one tenant in one span of {@link FAIR_MEMORY_MS}. */
class Seen {
  refusedCount = 0;
  refusedBytes = 0;
  /** The most that it had waiting. */
  peakCount = 0;
  peakBytes = 0;
}

class Memory implements Remembered {
  readonly tenant: string;
  weight = 1;
  now = new Seen();
  before = new Seen();
  refused: Amount = NOTHING;
  /** Whether it lacked places when the current span began. */
  lacked = false;

  constructor(tenant: string) {
    this.tenant = tenant;
  }

  get lacks(): boolean {
    return this.lacked || this.now.refusedCount > 0;
  }

  get count(): number {
    const { now, before } = this;
    return now.refusedCount + before.refusedCount + Math.max(now.peakCount, before.peakCount);
  }

  get bytes(): number {
    const { now, before } = this;
    return now.refusedBytes + before.refusedBytes + Math.max(now.peakBytes, before.peakBytes);
  }
}

export class RecentWants {
  readonly #memories = new Map<string, Memory>();
  /** The number of the current span. */
  #span = 0;
  #count = 0;
  #bytes = 0;
  /** Whether anybody was refused in the current span. */
  #refused = false;

  /** A tenant was not given a place. */
  refused(asker: Asker, nowMs: number): void {
    this.advance(nowMs);
    this.#refused = true;
    const { bytes } = asker;
    this.#change(asker, (memory) => {
      memory.now.refusedCount += 1;
      memory.now.refusedBytes += bytes;
      memory.refused = { count: memory.refused.count + 1, bytes: memory.refused.bytes + bytes };
    });
  }

  /** A tenant was given a place, and has this much waiting. */
  holds(asker: Asker, held: Amount, nowMs: number): void {
    this.advance(nowMs);
    this.#change(asker, (memory) => {
      memory.now.peakCount = Math.max(memory.now.peakCount, held.count);
      memory.now.peakBytes = Math.max(memory.now.peakBytes, held.bytes);
      memory.refused = NOTHING;
    });
  }

  /** For one that still waits for its place: it must not be forgotten, and is not counted again and again. */
  keep(asker: Asker, nowMs: number): void {
    this.advance(nowMs);
    if ((this.#memories.get(asker.tenant)?.now.refusedCount ?? 0) === 0) this.refused(asker, nowMs);
  }

  of(tenant: string): Amount {
    return this.#memories.get(tenant) ?? NOTHING;
  }

  /** Of all tenants together. */
  total(): Amount {
    return { count: this.#count, bytes: this.#bytes };
  }

  tenants(): Iterable<Remembered> {
    return this.#memories.values();
  }

  /** Forgets what is too old. After a clock that jumps, back or far ahead, nothing is known. */
  advance(nowMs: number): void {
    const span = Math.floor(nowMs / FAIR_MEMORY_MS);
    if (span === this.#span) return;
    if (span !== this.#span + 1) this.#memories.clear();
    this.#span = span;
    this.#count = 0;
    this.#bytes = 0;
    const refused = this.#refused;
    this.#refused = false;
    for (const memory of this.#memories.values()) {
      const sent = memory.now.peakCount + memory.before.peakCount > 0;
      memory.lacked = refused && (memory.now.refusedCount > 0 || (memory.lacked && sent));
      if (memory.now.refusedCount === 0) memory.refused = NOTHING;
      memory.before = memory.now;
      memory.now = new Seen();
      if (memory.count === 0) this.#memories.delete(memory.tenant);
      this.#count += memory.count;
      this.#bytes += memory.bytes;
    }
  }

  #change({ tenant, weight }: Asker, change: (memory: Memory) => void): void {
    const known = this.#memories.get(tenant);
    if (known === undefined && this.#memories.size >= FAIR_REMEMBERED_MAX) return;
    const memory = known ?? new Memory(tenant);
    const { count, bytes } = memory;
    memory.weight = weight;
    change(memory);
    this.#count += memory.count - count;
    this.#bytes += memory.bytes - bytes;
    if (known === undefined) this.#memories.set(tenant, memory);
  }
}
