import type { FairLanes } from "./fair-lanes.ts";

/**
 * How much of the queue one tenant may hold. The rule:
 *
 * - A tenant *lacks* places when it was refused one of late; it *wants* the queue when it lacks, or has something waiting.
 * - While others want it too, a tenant's *share* of the places is theirs and its own by weight, rounded up, at least one.
 * - Within its share a tenant takes any place that there is. Beyond it, only places that nobody who lacks still needs to
 *   come up to a share of its own.
 *
 * So a tenant that is alone may fill the queue, and so may one among others who are never refused. As soon as another
 * one is, what comes free is that one's until it has its share: whoever held more is not thrown out, and gets nothing
 * more until it has come down. An empty queue ends all lack: it had a place for each tenant that came. Shares are of commands; bytes are only bounded for all together.
 */

/**
 * How long a refusal is remembered: the time that a caller is told to wait while there is no pace, so that its place is
 * still kept when it comes back. Not longer: a place kept for one that does not come is of no use to anybody.
 */
export const FAIR_MEMORY_MS = 30_000;
/** Tenants remembered. Each costs a step for every command that is offered beyond a share. */
const FAIR_REMEMBERED_MAX = 1_000;

/** A tenant that asks for a place. */
export interface Asker {
  readonly tenant: string;
  readonly weight: number;
}

/** What is waiting, by tenant. */
type Lanes = Pick<FairLanes, "size" | "holdings" | "holdingOf">;

export class FairShare {
  /** By tenant, the one refused last at the end. */
  readonly #refused = new Map<string, { readonly weight: number; readonly atMs: number }>();
  #emptiedAtMs = Number.NEGATIVE_INFINITY;

  /** The queue is empty: there was a place for each tenant that came, so none lacks any. */
  emptied(nowMs: number): void {
    this.#refused.clear();
    this.#emptiedAtMs = nowMs;
  }

  /**
   * Remembers a tenant that was not given a place.
   *
   * @param agoMs how long ago that was: an isolate tells of it later, and the queue may have been empty since
   */
  refused({ tenant, weight }: Asker, nowMs: number, agoMs = 0): void {
    this.#forgetOld(nowMs);
    const emptiedAfterMs = this.#emptiedAtMs - (nowMs - agoMs);
    // Longer than a refusal is remembered: the clock has stepped back.
    if (agoMs > 0 && emptiedAfterMs >= 0 && emptiedAfterMs < FAIR_MEMORY_MS) return;
    this.#refused.delete(tenant);
    if (this.#refused.size < FAIR_REMEMBERED_MAX) this.#refused.set(tenant, { weight, atMs: nowMs });
  }

  /** Whether a tenant other than this one was refused of late. */
  othersLack(tenant: string, nowMs: number): boolean {
    this.#forgetOld(nowMs);
    return this.#refused.size - (this.#refused.has(tenant) ? 1 : 0) > 0;
  }

  /**
   * Whether the rule gives one more place to this tenant. That there is room for it at all has been seen to.
   *
   * @param places how many there are
   * @param lanes what is waiting, by tenant
   */
  allows(asker: Asker, places: number, lanes: Lanes, nowMs: number): boolean {
    const othersLack = this.othersLack(asker.tenant, nowMs);
    const held = lanes.holdingOf(asker.tenant)?.count ?? 0;
    if (held === 0 || !othersLack) return true;
    const weights = this.#weightsOfWanting(asker, lanes);
    const shareOf = (weight: number) => Math.max(1, Math.ceil((places * weight) / weights));
    if (held < shareOf(asker.weight)) return true;
    let lacking = 0;
    for (const [tenant, { weight }] of this.#refused) {
      if (tenant === asker.tenant) continue;
      lacking += Math.max(0, shareOf(weight) - (lanes.holdingOf(tenant)?.count ?? 0));
    }
    return lanes.size + lacking < places;
  }

  #weightsOfWanting(asker: Asker, lanes: Lanes): number {
    let weights = asker.weight;
    for (const { tenant, weight } of lanes.holdings()) if (tenant !== asker.tenant) weights += weight;
    for (const [tenant, { weight }] of this.#refused) {
      if (tenant !== asker.tenant && lanes.holdingOf(tenant) === undefined) weights += weight;
    }
    return weights;
  }

  /** Refusals that are too old, or from a time that is yet to come: the clock has stepped back. */
  #forgetOld(nowMs: number): void {
    for (const [tenant, { atMs }] of this.#refused) {
      if (Math.abs(nowMs - atMs) < FAIR_MEMORY_MS) return;
      this.#refused.delete(tenant);
    }
  }
}
