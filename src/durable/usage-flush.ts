import { IDLE_FLUSH_MS } from "../core/charge-ahead.ts";
import { type MinuteUsage, minuteOf, type Parcel, UsageMinutes } from "../core/usage-minutes.ts";
import { nameOfKey } from "../identity/caller.ts";
import { clearOld, type KeepDays } from "../store/retention.ts";
import { saveUsage } from "../store/usage.ts";

/**
 * What a tenant's object counts for D1: at most one write a minute while it is active, and one when it falls idle. It
 * never delays or fails a check: a write runs beside it, and one that fails keeps its counts for the next.
 *
 * Losing memory loses what came after the last flush. Addresses of callers without a credential are not counted here:
 * anybody can have as many of them as there are, and D1 is everybody's.
 */

/** Objects write within this share of a minute after its end, each at its own time, so that not all write at once. */
const SPREAD = 0.3;
/** A write that takes longer counts as one that failed, in milliseconds. */
const WRITE_TIMEOUT_MS = 10_000;
/**
 * How often an idle object tries again, after 10 s and then twice as long each time. Waiting costs an object its time, so
 * an outage of more than a minute may lose an idle tenant's last minute.
 */
const IDLE_TRIES_MAX = 3;
const IDLE_RETRY_MS = 10_000;
/** One flush in so many clears old rows, in batches that are larger than what so many flushes write. */
const CLEAR_EVERY = 64;

/** For a tenant of which D1 has told no tier since the object started. */
const UNKNOWN_TIER = "unknown";

export class UsageFlush {
  readonly #db: D1Database;
  readonly #keep: KeepDays;
  /** Null: not counted. */
  readonly #tenant: string | null;
  readonly #minutes = new UsageMinutes();
  readonly #offset = SPREAD * Math.random();
  #tier = UNKNOWN_TIER;
  #life: string | null = null;
  #lastCountMs = 0;
  #timerSet = false;
  #writing = false;
  #triedMinute = 0;
  #idleTries = 0;

  /** @param objectName `tenant:<id>` or `address:<key>`, as stubs.ts names objects */
  constructor(db: D1Database, keep: KeepDays, objectName: string | undefined) {
    this.#db = db;
    this.#keep = keep;
    this.#tenant = objectName?.startsWith("tenant:") ? nameOfKey(objectName) : null;
  }

  /** Counts that are not written down yet, as far as that is known. */
  get pending(): readonly MinuteUsage[] {
    return this.#minutes.pending;
  }

  /** Whether it has been told, as far as that matters. */
  get knowsTier(): boolean {
    return this.#tenant === null || this.#tier !== UNKNOWN_TIER;
  }

  /** The tier that its caller knows the tenant in; null or undefined while D1 has told nothing. */
  heard(tier: string | null | undefined): void {
    if (tier) this.#tier = tier;
  }

  /**
   * Counts checks that were decided, here or by who was lent tokens.
   *
   * @param admitted how many were admitted; negative: so many were given back, because a later layer refused them
   * @param refused how many were refused
   */
  count(admitted: number, refused: number, nowMs: number): void {
    if (this.#tenant === null || (admitted === 0 && refused === 0)) return;
    const counts = { admitted: Math.max(0, admitted), refused, returned: Math.max(0, -admitted) };
    this.#minutes.add(minuteOf(nowMs), this.#tier, counts);
    this.#lastCountMs = nowMs;
    this.#idleTries = 0;
    // Tried once a minute while it is active, whatever becomes of it.
    if (this.#triedMinute !== minuteOf(nowMs) && this.#minutes.isDue(nowMs, this.#offset)) void this.#write(nowMs);
    this.#planIdle(IDLE_FLUSH_MS);
  }

  #planIdle(inMs: number): void {
    if (this.#timerSet) return;
    this.#timerSet = true;
    setTimeout(() => void this.#whenIdle(), inMs);
  }

  async #whenIdle(): Promise<void> {
    this.#timerSet = false;
    const nowMs = Date.now();
    const idleMs = nowMs - this.#lastCountMs;
    if (idleMs >= 0 && idleMs < IDLE_FLUSH_MS) return this.#planIdle(IDLE_FLUSH_MS - idleMs);
    const written = await this.#write(nowMs);
    // A parcel that was under way has arrived; what gathered behind it is another.
    if (written && !this.#minutes.isEmpty) await this.#write(nowMs);
    if (this.#minutes.isEmpty || this.#idleTries >= IDLE_TRIES_MAX) return;
    this.#planIdle(IDLE_RETRY_MS * 2 ** this.#idleTries);
    this.#idleTries += 1;
  }

  /** Writes what is pending. Never rejects. @returns whether it is known to be written */
  async #write(nowMs: number): Promise<boolean> {
    const parcel = this.#writing ? null : this.#minutes.parcel();
    if (parcel === null || this.#tenant === null) return false;
    this.#writing = true;
    this.#triedMinute = minuteOf(nowMs);
    try {
      await inTime(this.#save(this.#tenant, parcel));
      this.#minutes.arrived();
    } catch (error) {
      console.warn(JSON.stringify({ event: "usage_flush_failed", tenant: this.#tenant, error: String(error) }));
      return false;
    } finally {
      this.#writing = false;
    }
    if (Math.random() < 1 / CLEAR_EVERY) await this.#clear(nowMs);
    return true;
  }

  async #clear(nowMs: number): Promise<void> {
    try {
      await inTime(clearOld(this.#db, nowMs, this.#keep));
    } catch (error) {
      // Somebody else's flush clears it then.
      console.warn(JSON.stringify({ event: "clear_old_failed", error: String(error) }));
    }
  }

  #save(tenant: string, parcel: Parcel): Promise<void> {
    this.#life ??= crypto.randomUUID();
    return saveUsage(this.#db, { tenant, tier: this.#tier, life: this.#life }, parcel);
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`no answer in ${WRITE_TIMEOUT_MS} ms`)), WRITE_TIMEOUT_MS);
  try {
    await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
