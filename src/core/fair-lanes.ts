import { Lane } from "./lane.ts";
import type { QueueEntry } from "./queue.ts";

/**
 * The ordinary lane of the queue: a lane per tenant, and tenants take turns. A turn is as many commands as the tenant's
 * weight; then it is the next one's. Weighted round robin, and not a clock of virtual finish times, because commands
 * count alike: it is exact per round, costs constant time, and a place in the line follows from it by arithmetic.
 *
 * - Within a tenant: first in, first out.
 * - A tenant that comes takes its place at the end of the round, so that coming and going gains nothing.
 * - A tenant with nothing left loses the rest of its turn: nothing is saved up, and nobody waits for it.
 *
 * Whether one more may come in is not decided here.
 */

/** What a tenant has waiting. */
export interface Holding {
  readonly tenant: string;
  readonly weight: number;
  /** Commands. */
  readonly count: number;
  /** Their bodies together. */
  readonly bytes: number;
}

/** One tenant's lane, and its place in the ring of those that wait. */
class TenantLane implements Holding {
  readonly tenant: string;
  readonly entries = new Lane();
  weight = 1;
  /** The newest command that it has had; its weight is the tenant's. */
  newest = Number.NEGATIVE_INFINITY;
  next: TenantLane = this;
  previous: TenantLane = this;

  constructor(tenant: string) {
    this.tenant = tenant;
  }

  get count(): number {
    return this.entries.size;
  }

  get bytes(): number {
    return this.entries.bytes;
  }
}

export class FairLanes {
  /** Only tenants with something waiting. */
  readonly #lanes = new Map<string, TenantLane>();
  /** Where each waiting command is, by its sequence. */
  readonly #homes = new Map<number, TenantLane>();
  /** Whose turn it is; null when nothing waits. */
  #current: TenantLane | null = null;
  /** What is left of that turn, in commands: at least 1 while something waits. */
  #left = 0;
  #bytes = 0;

  get size(): number {
    return this.#homes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  sequences(): IterableIterator<number> {
    return this.#homes.keys();
  }

  sequencesOf(tenant: string): Iterable<number> {
    return this.#lanes.get(tenant)?.entries.sequences() ?? [];
  }

  has(sequence: number): boolean {
    return this.#homes.has(sequence);
  }

  /** What each tenant that waits has waiting. */
  holdings(): Iterable<Holding> {
    return this.#lanes.values();
  }

  holdingOf(tenant: string): Holding | undefined {
    return this.#lanes.get(tenant);
  }

  /** A new weight, or one of an older command that comes back, holds from the tenant's next turn on. */
  push(entry: QueueEntry): void {
    const lane = this.#lanes.get(entry.tenant) ?? new TenantLane(entry.tenant);
    if (entry.sequence >= lane.newest) {
      lane.newest = entry.sequence;
      lane.weight = entry.weight;
    }
    lane.entries.push(entry);
    this.#homes.set(entry.sequence, lane);
    this.#bytes += entry.bytes;
    if (lane.count === 1) this.#join(lane);
  }

  /** The next command in turn; it no longer waits. */
  shift(): QueueEntry | undefined {
    const lane = this.#current;
    const entry = lane?.entries.shift();
    if (lane === null || entry === undefined) return undefined;
    this.#left -= 1;
    this.#forget(entry, lane);
    if (lane === this.#current && this.#left === 0) this.#begin(lane.next);
    return entry;
  }

  remove(sequence: number): QueueEntry | undefined {
    const lane = this.#homes.get(sequence);
    const entry = lane?.entries.remove(sequence);
    if (lane !== undefined && entry !== undefined) this.#forget(entry, lane);
    return entry;
  }

  /**
   * How many commands go before this one if nothing more comes; null when it does not wait here. Counted from turns:
   * tenants between now and this one's tenant have one turn more before it than the others.
   */
  aheadOf(sequence: number): number | null {
    const own = this.#homes.get(sequence);
    const rank = own?.entries.aheadOf(sequence) ?? null;
    if (own === undefined || rank === null || this.#current === null) return null;
    const coming = own === this.#current ? this.#left : own.weight;
    const turnsBefore = rank < coming ? 0 : 1 + Math.floor((rank - coming) / own.weight);
    let ahead = rank;
    let turns = turnsBefore + 1;
    let lane = this.#current;
    do {
      if (lane === own) turns = turnsBefore;
      else ahead += Math.min(lane.count, this.#yieldOf(lane, turns));
      lane = lane.next;
    } while (lane !== this.#current);
    return ahead;
  }

  /** When the oldest of the commands at the heads of their lanes was accepted; null when none waits. */
  oldestAcceptedAtMs(): number | null {
    let oldest: number | null = null;
    for (const { entries } of this.#lanes.values()) {
      const at = entries.peek()?.acceptedAtMs ?? null;
      if (at !== null && (oldest === null || at < oldest)) oldest = at;
    }
    return oldest;
  }

  /** What so many turns give a tenant that has enough, from now on. */
  #yieldOf(lane: TenantLane, turns: number): number {
    const used = lane === this.#current && turns > 0 ? lane.weight - this.#left : 0;
    return turns * lane.weight - used;
  }

  #forget(entry: QueueEntry, lane: TenantLane): void {
    this.#homes.delete(entry.sequence);
    this.#bytes -= entry.bytes;
    if (lane.count === 0) this.#leave(lane);
  }

  #begin(lane: TenantLane): void {
    this.#current = lane;
    this.#left = lane.weight;
  }

  /** The end of the round is just before whose turn it is. */
  #join(lane: TenantLane): void {
    this.#lanes.set(lane.tenant, lane);
    const current = this.#current;
    if (current === null) {
      this.#begin(lane);
      return;
    }
    lane.next = current;
    lane.previous = current.previous;
    current.previous.next = lane;
    current.previous = lane;
  }

  #leave(lane: TenantLane): void {
    this.#lanes.delete(lane.tenant);
    if (lane.next === lane) {
      this.#current = null;
      return;
    }
    lane.previous.next = lane.next;
    lane.next.previous = lane.previous;
    if (this.#current === lane) this.#begin(lane.next);
  }
}
