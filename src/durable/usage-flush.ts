import { MINUTE_MS, minuteOf, type Parcel, UsageMinutes, type WaitingUsage } from "../core/usage-minutes.ts";
import { nameOfKey } from "../identity/caller.ts";
import { clearOld, type KeepDays } from "../store/retention.ts";
import { saveUsage } from "../store/usage.ts";

/**
 * What a tenant's object counts for D1: at most one write a minute. An object that falls idle tells it at once, so that who
 * looks after a burst sees it; if it has done so in this minute it keeps what waits with its own rows, and has an alarm set
 * for the next one. An object that is asked all the time needs no alarm. A write never delays or fails a check: it runs beside it, and one that fails is tried again by alarm.
 *
 * Losing memory loses what was counted after the state row was last written: no more than the last seconds before an
 * object would have fallen idle, or the last minute of one that is asked all the time. A parcel is on disk under its
 * number before it leaves. Addresses of callers without a credential are not counted here: anybody can have as many of
 * them as there are, and D1 is everybody's.
 */

/** Objects write within this share of a minute after its end, each at its own time, so that not all write at once. */
const SPREAD = 0.3;
/** A write that takes longer counts as one that failed, in milliseconds. */
const WRITE_TIMEOUT_MS = 10_000;
/** An alarm is late when it has not rung so long after its time, in milliseconds; who is asked then no longer waits for it. */
const ALARM_LATE_MS = 30_000;
/** How long after a write that failed an idle object tries again; twice as long each time, up to the longest. */
const RETRY_MS = 10_000;
const RETRY_MS_MAX = 300_000;
/** One flush in so many clears old rows, in batches that are larger than what so many flushes write. */
const CLEAR_EVERY = 64;

/** For a tenant of which D1 has told no tier yet. */
const UNKNOWN_TIER = "unknown";

/** What is kept on disk with the limiter's state: who counts, what waits, and the alarm that is set for it. */
export interface KeptUsage extends WaitingUsage {
  readonly tenant: string;
  readonly tier: string;
  /** Names this object's disk to D1: numbers of parcels ascend within it. */
  readonly life: string;
  /** Unix milliseconds; null: none is set. */
  readonly alarmMs: number | null;
  /** In which D1 was told last, or should have been: whole minutes since the epoch. */
  readonly triedMinute: number;
  /** How often in a row it could not be. */
  readonly failures: number;
}

/** What goes in a parcel: minutes that have ended; those, or the present one where there are none; all there is. */
type Share = "ended" | "any" | "all";

/** A parcel that D1 may have heard of, as the table of tenants would then name it. */
export type SentParcel = Parcel & Pick<KeptUsage, "life">;

/** What it needs of its object. */
export interface UsageHost {
  /** It has yet to fall idle, and says so then. */
  isActive(): boolean;
  /** Writes the state row, with {@link UsageFlush.kept} in it. */
  save(): void;
  /** Never rejects. @returns whether it is set */
  setAlarm(atMs: number): Promise<boolean>;
}

export class UsageFlush {
  readonly #db: D1Database;
  readonly #keep: KeepDays;
  readonly #host: UsageHost;
  /** Null: not counted. */
  readonly #tenant: string | null;
  readonly #minutes: UsageMinutes;
  readonly #offset = SPREAD * Math.random();
  #tier: string;
  readonly #life: string;
  #alarmMs: number | null;
  #writing = false;
  #triedMinute: number;
  #failures: number;

  /**
   * @param objectName `tenant:<id>` or `address:<key>`, as stubs.ts names objects; one that an alarm has woken may not know
   * @param kept what an earlier life left on disk
   */
  constructor(db: D1Database, keep: KeepDays, objectName: string | undefined, kept: KeptUsage | null, host: UsageHost) {
    this.#db = db;
    this.#keep = keep;
    this.#host = host;
    this.#tenant = objectName?.startsWith("tenant:") ? nameOfKey(objectName) : (kept?.tenant ?? null);
    this.#minutes = new UsageMinutes(kept ?? undefined);
    this.#tier = kept?.tier ?? UNKNOWN_TIER;
    this.#life = kept?.life ?? crypto.randomUUID();
    this.#alarmMs = kept?.alarmMs ?? null;
    this.#triedMinute = kept?.triedMinute ?? 0;
    this.#failures = kept?.failures ?? 0;
  }

  /** What is to be on disk; null for who is not counted. */
  get kept(): KeptUsage | null {
    const tenant = this.#tenant;
    if (tenant === null) return null;
    const { waiting } = this.#minutes;
    return {
      tenant,
      tier: this.#tier,
      life: this.#life,
      alarmMs: this.#alarmMs,
      triedMinute: this.#triedMinute,
      failures: this.#failures,
      ...waiting,
    };
  }

  /** Counts of which D1 has not heard, and those of which it may have. */
  get unsent(): { pending: WaitingUsage["pending"]; parcel: SentParcel | null } {
    const { sending, waiting } = this.#minutes;
    return { pending: waiting.pending, parcel: sending && { ...sending, life: this.#life } };
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
   * @returns whether there is now something to be kept when the object falls idle
   */
  count(admitted: number, refused: number, nowMs: number): boolean {
    if (this.#tenant === null || (admitted === 0 && refused === 0)) return false;
    const counts = { admitted: Math.max(0, admitted), refused, returned: Math.max(0, -admitted) };
    this.#minutes.add(minuteOf(nowMs), this.#tier, counts);
    // Tried once a minute while it is active, whatever becomes of it; where an alarm is set, that does it.
    if (this.#triedMinute !== minuteOf(nowMs) && this.#minutes.isDue(nowMs, this.#offset) && !this.#isAlarmSet(nowMs)) {
      this.#sendBehind(nowMs, "ended");
    }
    return true;
  }

  /** The object has fallen idle: what waits goes to D1, or to disk and by alarm to D1. */
  whenIdle(nowMs: number): void {
    if (this.#tenant === null) return;
    const isFree = this.#failures === 0 && !this.#writing && !this.#isAlarmSet(nowMs);
    if (isFree && this.#triedMinute !== minuteOf(nowMs)) {
      this.#sendBehind(nowMs, "all");
      return;
    }
    this.#plan(nowMs);
    this.#host.save();
  }

  /** The alarm has rung. @throws only when the object cannot write: the platform then rings it again */
  async ring(): Promise<void> {
    this.#alarmMs = null;
    await this.#send(Date.now(), "any");
  }

  /** One that lies further ahead than any is set was set by a clock that has stepped back since. */
  #isAlarmSet(nowMs: number): boolean {
    const aheadMs = this.#alarmMs === null ? Number.NEGATIVE_INFINITY : this.#alarmMs - nowMs;
    return -ALARM_LATE_MS < aheadMs && aheadMs <= RETRY_MS_MAX;
  }

  /** Sees to it that what waits is sent. A write that is under way does so when it has ended. */
  #plan(nowMs: number): void {
    if (this.#minutes.isEmpty || this.#writing || this.#isAlarmSet(nowMs)) return;
    void this.#setAlarm(this.#nextTryMs(nowMs));
  }

  async #setAlarm(atMs: number): Promise<void> {
    this.#alarmMs = atMs;
    const isSet = await this.#host.setAlarm(atMs);
    if (!isSet && this.#alarmMs === atMs) this.#alarmMs = null;
  }

  #nextTryMs(nowMs: number): number {
    if (this.#failures > 0) return nowMs + Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (this.#failures - 1));
    // What is left behind a parcel that went in this minute goes in the next.
    const fromMs = this.#triedMinute === minuteOf(nowMs) ? (this.#triedMinute + 1) * MINUTE_MS : nowMs;
    return this.#minutes.dueAtMs(fromMs, this.#offset);
  }

  /** As {@link #send}. When its row cannot be written the object is at its end, and the next one sends what is on disk. */
  #sendBehind(nowMs: number, share: Share): void {
    this.#send(nowMs, share).catch((error: unknown) => {
      console.warn(JSON.stringify({ event: "usage_not_saved", tenant: this.#tenant, error: String(error) }));
    });
  }

  /** @param share of what waits, if no parcel is under way */
  async #send(nowMs: number, share: Share): Promise<void> {
    if (this.#writing || this.#tenant === null) return;
    const parcel = this.#minutes.sending ?? this.#makeParcel(minuteOf(nowMs), share);
    if (parcel === null) return;
    this.#triedMinute = minuteOf(nowMs);
    // What leaves the object waits for what it has written (the platform's output gate).
    this.#host.save();
    this.#writing = true;
    try {
      const sender = { tenant: this.#tenant, tier: this.#tier, life: this.#life };
      await inTime(saveUsage(this.#db, sender, parcel));
      this.#minutes.arrived();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      console.warn(JSON.stringify({ event: "usage_flush_failed", tenant: this.#tenant, error: String(error) }));
    }
    this.#writing = false;
    // One that is active plans when it falls idle.
    if (!this.#host.isActive()) this.#plan(Date.now());
    this.#host.save();
    if (this.#failures === 0 && Math.random() < 1 / CLEAR_EVERY) await this.#clear(nowMs);
  }

  /** An alarm that rings early is not set anew, and takes the present minute. */
  #makeParcel(present: number, share: Share): Parcel | null {
    if (share === "all") return this.#minutes.makeParcel(null);
    return this.#minutes.makeParcel(present) ?? (share === "any" ? this.#minutes.makeParcel(null) : null);
  }

  async #clear(nowMs: number): Promise<void> {
    try {
      await inTime(clearOld(this.#db, nowMs, this.#keep));
    } catch (error) {
      // Somebody else's flush clears it then.
      console.warn(JSON.stringify({ event: "clear_old_failed", error: String(error) }));
    }
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
