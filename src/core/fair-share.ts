import type { FairLanes } from "./fair-lanes.ts";
import { type Amount, type Asker, RecentWants } from "./recent-wants.ts";

/**
 * How much of the queue one tenant may hold. The rule:
 *
 * - A tenant that has something waiting, or was refused of late, *wants* what it has waiting, as much again as it had
 *   waiting at most of late, and what it was refused (recent-wants.ts). Any other wants nothing.
 * - Everyone's *share* is found by filling the bound like a vessel, by weight: the level rises for all at once, whoever
 *   has what it wants stops there, and the level ends where the bound is reached. The tenant that offers counts as one
 *   that wants without end.
 * - A tenant may take a place while it holds less than its share, unless the room that is left is needed by those who
 *   were refused last time and stand lower than it does: who hold less for their weight. What a share has beyond whole
 *   places goes last. The first place is everybody's, room given.
 *
 * Why that is both halves of "when the queue is contended, nobody holds more than its weighted share; when it is not,
 * anyone may use all of it":
 *
 * - The queue is contended when what all want exceeds the bound. As long as it does not, the level passes everyone
 *   else's wants, and the share of the tenant that offers is all that nobody else wants: the whole bound when it is
 *   alone.
 * - When it is contended the level is at least bound ÷ sum of weights, so nobody's share is less than bound × weight ÷
 *   sum of weights, and nobody gets past its own rounded up. Shares add up to the bound, so room that was not given
 *   away is room for those who lack. Whoever holds more from before is not thrown out; it gets nothing more until it
 *   has come down, and what comes free meanwhile goes to the lowest of those who ask: shares alone would let those
 *   who are quickest take it all.
 *
 * A rule that took every tenant with a command waiting for one that wants its whole share would be simpler, but forty
 * tenants that send one now and then would shut another one out of an all but empty queue.
 *
 * The same holds for bytes as for commands: else a few large bodies would be a way around it. With more tenants than
 * places there is less than one for each, and the line of those who wait for room decides.
 */

const MEASURES = ["count", "bytes"] as const;
type Measure = (typeof MEASURES)[number];

/** What is waiting, by tenant. */
type Lanes = Pick<FairLanes, "tenantCount" | "holdings" | "holdingOf">;

/** One of the other tenants: it wants `held` and `recent` together. */
interface Other {
  readonly weight: number;
  readonly held: Amount;
  readonly recent: Amount;
  /** What it was refused since it was last given a place. */
  readonly refused: Amount;
}

const NOTHING: Amount = { count: 0, bytes: 0 };

/** The level as a ratio of whole numbers, so that shares compare exactly: places per weight. */
export interface Level {
  readonly places: number;
  readonly weights: number;
}

/**
 * Fills `bound` by weight.
 *
 * @param weight of the tenant that wants without end
 * @param others each with what it wants
 */
export function levelOf(
  bound: number,
  weight: number,
  others: readonly { readonly weight: number; readonly wanted: number }[],
): Level {
  let places = bound;
  let weights = others.reduce((sum, other) => sum + other.weight, weight);
  // The most modest first: once one of them wants more than the level, so do all that follow.
  for (const other of [...others].sort((a, b) => a.wanted * b.weight - b.wanted * a.weight)) {
    if (other.wanted * weights > places * other.weight) break;
    places -= other.wanted;
    weights -= other.weight;
  }
  return { places, weights };
}

export class FairShare {
  readonly #recent = new RecentWants();

  /** Remembers a tenant that was not given a place. */
  refused(asker: Asker, nowMs: number): void {
    this.#recent.refused(asker, nowMs);
  }

  /** Remembers how much a tenant has waiting that was given one. */
  taken(asker: Asker, held: Amount, nowMs: number): void {
    this.#recent.holds(asker, held, nowMs);
  }

  /** Does not forget a tenant that still waits for its place. */
  keep(asker: Asker, nowMs: number): void {
    this.#recent.keep(asker, nowMs);
  }

  /**
   * Whether the rule gives one more place to this tenant. That there is room for it at all has been seen to.
   *
   * @param used what is taken of the bounds
   */
  allows(asker: Asker, bounds: Amount, used: Amount, lanes: Lanes, nowMs: number): boolean {
    this.#recent.advance(nowMs);
    const size: Amount = { count: 1, bytes: asker.bytes };
    const recent = this.#recent.total();
    const own = this.#recent.of(asker.tenant);
    const fitsAll = (m: Measure) => used[m] + size[m] + recent[m] - own[m] <= bounds[m];
    const held = lanes.holdingOf(asker.tenant) ?? NOTHING;
    // The first place, and a queue that is not contended, are seen without a look at each tenant.
    if (held.count === 0 || MEASURES.every(fitsAll)) return true;
    const others = this.#others(asker.tenant, lanes);
    return MEASURES.every((m) => {
      if (fitsAll(m)) return true;
      const place = { weight: asker.weight, held: held[m], size: size[m], room: bounds[m] - used[m], bound: bounds[m] };
      return withinShare(m, place, others);
    });
  }

  /** All who want something, but this one. */
  #others(tenant: string, lanes: Lanes): Other[] {
    const others: Other[] = [];
    let waiting = 0;
    for (const recent of this.#recent.tenants()) {
      const held = lanes.holdingOf(recent.tenant);
      if (held !== undefined) waiting += 1;
      if (recent.tenant === tenant) continue;
      if (held !== undefined) others.push({ weight: held.weight, held, recent, refused: recent.refused });
      else if (recent.lacks) others.push({ weight: recent.weight, held: NOTHING, recent, refused: recent.refused });
    }
    if (waiting === lanes.tenantCount) return others;
    for (const held of lanes.holdings()) {
      const isRemembered = this.#recent.of(held.tenant).count > 0;
      if (!isRemembered && held.tenant !== tenant)
        others.push({ weight: held.weight, held, recent: NOTHING, refused: NOTHING });
    }
    return others;
  }
}

/** What is asked for, in one measure. */
interface Place {
  readonly weight: number;
  readonly held: number;
  readonly size: number;
  readonly room: number;
  readonly bound: number;
}

/** The rule, for one measure. */
function withinShare(m: Measure, { weight, held, size, room, bound }: Place, others: readonly Other[]): boolean {
  // With everyone raised to where this tenant stands, or will stand: does the bound hold it? Then its share is larger
  // than what it holds, or will hold. The same as a comparison with the level, and costs no sorting.
  let now = held * weight;
  let then = (held + size) * weight;
  let waiting = 0;
  for (const other of others) {
    const wanted = other.held[m] + other.recent[m];
    now += Math.min(wanted * weight, other.weight * held);
    then += Math.min(wanted * weight, other.weight * (held + size));
    waiting += lackOf(other, m, other.refused, held, weight);
  }
  if (now >= bound * weight) return false;
  if (then <= bound * weight) return room - size >= waiting;
  // What its share has beyond whole places is nobody's before the others have all of theirs.
  const wants = others.map((other) => ({ weight: other.weight, wanted: other.held[m] + other.recent[m] }));
  const { places, weights } = levelOf(bound, weight, wants);
  return room - size >= others.reduce((sum, other) => sum + lackOf(other, m, other.recent, places, weights), 0);
}

/** How much a tenant lacks that should come up to a level, in whole places and at least one, as far as it wants. */
function lackOf({ weight, held }: Other, m: Measure, more: Amount, places: number, weights: number): number {
  const due = Math.max(1, Math.floor((places * weight) / weights));
  return Math.max(0, Math.min(more[m], due - held[m]));
}
