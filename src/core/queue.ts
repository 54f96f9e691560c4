import { FairLanes } from "./fair-lanes.ts";
import { type Asker, FairShare } from "./fair-share.ts";
import { Lane } from "./lane.ts";
import type { OverloadCode } from "./problem.ts";
import { TenantHoldings } from "./tenant-holdings.ts";
import { QUEUE_BYTES_SHARE } from "./tenant-quotas.ts";

/**
 * The bounded queue: which command is next, and whether one more may wait. Only ids and sizes live here; bodies are
 * on disk. Deterministic and synchronous, so that check and insert are one step.
 *
 * Ordinary commands are bounded by count and by bytes, exactly; their tenants take turns (fair-lanes.ts), and none may
 * hold more than its share while others want theirs (fair-share.ts). Critical commands wait in a lane of their own, in
 * the order of arrival; it goes first and is not subject to the bound, but one tenant can not fill it without end.
 */

export interface QueueEntry {
  readonly sequence: number;
  readonly tenant: string;
  /** Size of the command's body on disk, in bytes. */
  readonly bytes: number;
  readonly critical: boolean;
  /** Commands per turn, and the tenant's part of a contended queue: that of its tier, 1 or more. */
  readonly weight: number;
  /** When it was accepted, Unix milliseconds. */
  readonly acceptedAtMs: number;
  /** After this it need not begin; null: it may always. */
  readonly deadlineAtMs: number | null;
}

export interface QueueBounds {
  /** Commands in the ordinary lane. */
  readonly count: number;
  /** Their bodies together, in bytes. */
  readonly bytes: number;
}

export type Candidate = Omit<QueueEntry, "sequence">;

/** There is no room, or what there is is for others, who hold less of their share. */
export type QueueRefusal =
  | "full"
  | "over_share"
  /** The tenant's bodies fill its part of the queue's bytes. */
  | "over_bytes"
  /** A quota of the tenant's critical commands is used up. */
  | "critical"
  | "criticalBytes";

/** Commands that are not in the queue and keep their place in its bounds: those between two attempts. */
export interface Outside {
  readonly ordinary: number;
  /** Critical ones of a tenant. */
  criticalOf(tenant: string): number;
}

const NOTHING_OUTSIDE: Outside = { ordinary: 0, criticalOf: () => 0 };

/** How a refusal is told and counted: all that the queue refuses is a full queue, for everybody or for its tenant. */
export function codeOf(refusal: OverloadCode | Exclude<QueueRefusal, "full"> | "deferred"): OverloadCode {
  switch (refusal) {
    case "over_share":
    case "over_bytes":
    case "critical":
    case "criticalBytes":
    case "deferred":
      return "queue_full";
    default:
      return refusal;
  }
}

export class CommandQueue {
  readonly #ordinary = new FairLanes();
  readonly #share = new FairShare();
  readonly #critical = new Lane();
  /** Critical commands that wait: how many, and their bodies, by tenant. */
  readonly #holdings = new TenantHoldings();
  readonly #outside: Outside;
  #bounds: QueueBounds;
  #peakDepth = 0;

  constructor(bounds: QueueBounds, outside: Outside = NOTHING_OUTSIDE) {
    this.#bounds = bounds;
    this.#outside = outside;
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
    return (
      this.#ordinary.size + this.#outside.ordinary < this.#bounds.count &&
      this.#ordinary.bytes + bytes <= this.#bounds.bytes
    );
  }

  /** For how many more ordinary commands there is room, if they are as large as those that wait. */
  get room(): number {
    const { size, bytes } = this.#ordinary;
    const places = this.#bounds.count - size - this.#outside.ordinary;
    const fit =
      size === 0 ? this.#bounds.count : Math.floor(((this.#bounds.bytes - bytes) * size) / Math.max(1, bytes));
    return Math.max(0, Math.min(places, fit));
  }

  /**
   * Takes one more command, or nothing: the one step in which the bound is checked and the place is taken. Who is
   * refused is remembered for a while as one that wants a place.
   *
   * @param nextSequence asked only when the command is taken, so that a refusal uses up no key
   * @param placesMax how many places there are at all, where something besides the bound limits them
   */
  offer(
    candidate: Candidate,
    nextSequence: () => number,
    nowMs: number,
    placesMax = Number.POSITIVE_INFINITY,
  ): QueueEntry | QueueRefusal {
    const refusal = this.refusalOf(candidate, nowMs, placesMax);
    if (refusal !== null) {
      // Places kept for one that cannot use them would stand empty.
      if (!candidate.critical && refusal !== "over_bytes") this.wants(candidate, nowMs);
      return refusal;
    }
    const entry = { ...candidate, sequence: nextSequence() };
    this.restore(entry);
    return entry;
  }

  /**
   * What an offer of this would be answered with, other than being taken; null: it would be taken.
   *
   * @param placesMax how many places there are at all, where something besides the bound limits them
   */
  refusalOf(
    candidate: Omit<Candidate, "acceptedAtMs" | "deadlineAtMs">,
    nowMs: number,
    placesMax = Number.POSITIVE_INFINITY,
  ): QueueRefusal | null {
    if (candidate.critical) {
      const more = 1 + this.#outside.criticalOf(candidate.tenant);
      if (!this.#holdings.hasRoom(candidate.tenant, "critical", more)) return "critical";
      return this.#holdings.hasRoom(candidate.tenant, "criticalBytes", candidate.bytes) ? null : "criticalBytes";
    }
    if (!this.hasRoom(candidate.bytes)) return "full";
    if (this.#ordinary.size + this.#outside.ordinary === 0) this.#share.emptied(nowMs);
    const held = this.#ordinary.holdingOf(candidate.tenant)?.bytes ?? 0;
    const isOverBytes = held > 0 && held + candidate.bytes > QUEUE_BYTES_SHARE * this.#bounds.bytes;
    if (isOverBytes && this.#share.othersLack(candidate.tenant, nowMs)) return "over_bytes";
    const places = Math.min(this.#bounds.count, placesMax) - this.#outside.ordinary;
    return this.#share.allows(candidate, places, this.#ordinary, nowMs) ? null : "over_share";
  }

  /** A tenant was refused elsewhere for lack of room, or still waits for it: others must leave it its share. */
  wants(asker: Asker, nowMs: number, agoMs = 0): void {
    this.#share.refused(asker, nowMs, agoMs);
  }

  /** Puts back a command that was accepted before: a restart refuses nothing, whatever the bound has become. */
  restore(entry: QueueEntry): void {
    if (entry.critical) {
      this.#critical.push(entry);
      this.#countCritical(entry, 1);
    } else {
      this.#ordinary.push(entry);
      this.#peakDepth = Math.max(this.#peakDepth, this.#ordinary.size);
    }
  }

  /** The next command to run; it no longer waits. Critical ones first, in the order of arrival; then tenants in turn. */
  take(): QueueEntry | undefined {
    const entry = this.#critical.shift();
    if (entry === undefined) return this.#ordinary.shift();
    this.#countCritical(entry, -1);
    return entry;
  }

  /** Takes a waiting command out. False when it does not wait here (it runs, has ended, or was never accepted). */
  remove(sequence: number): boolean {
    const critical = this.#critical.remove(sequence);
    if (critical !== undefined) this.#countCritical(critical, -1);
    return critical !== undefined || this.#ordinary.remove(sequence) !== undefined;
  }

  /** How many waiting commands go before this one if nothing more comes; null when it does not wait. */
  aheadOf(sequence: number): number | null {
    const inCritical = this.#critical.aheadOf(sequence);
    if (inCritical !== null) return inCritical;
    const inOrdinary = this.#ordinary.aheadOf(sequence);
    return inOrdinary === null ? null : this.#critical.size + inOrdinary;
  }

  /** When the command that has waited longest was accepted; null when none waits. */
  oldestAcceptedAtMs(): number | null {
    const critical = this.#critical.peek()?.acceptedAtMs ?? null;
    const ordinary = this.#ordinary.oldestAcceptedAtMs();
    return critical === null || ordinary === null ? (critical ?? ordinary) : Math.min(critical, ordinary);
  }

  /** All that wait, in no order. */
  *sequences(): Iterable<number> {
    yield* this.#critical.sequences();
    yield* this.#ordinary.sequences();
  }

  /** All of one tenant that wait: a list, which stays as it is while they are taken out. */
  sequencesOf(tenant: string): number[] {
    return [...this.#ordinary.sequencesOf(tenant), ...this.#critical.sequencesOf(tenant)];
  }

  /** Whether this command waits here. */
  has(sequence: number): boolean {
    return this.#critical.has(sequence) || this.#ordinary.has(sequence);
  }

  #countCritical({ tenant, bytes }: QueueEntry, by: 1 | -1): void {
    this.#holdings.add(tenant, "critical", by);
    this.#holdings.add(tenant, "criticalBytes", by * bytes);
  }
}
