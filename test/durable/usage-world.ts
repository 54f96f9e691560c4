import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { TenantLimiter } from "../../src/durable/tenant-limiter.ts";
import { readTenantUsage } from "../../src/store/usage.ts";
import { settled } from "../support/event-loop.ts";
import { type Limiter, newLimiter } from "./support.ts";

/**
 * A tenant's object on virtual time, over a database that fails when it is told to: its timers go off and its alarm rings
 * as time passes, and it may lose its memory at any moment. Its rows are those of a real object.
 */

// Far from the machine's own time, which sets off alarms: those here ring when a test's time comes to them.
export const T0 = Date.UTC(2096, 9, 1, 12);
const MINUTE = T0 / 60_000;

/** No timer of an object has an alarm ring sooner than this after it. */
const STEP_MS = 1_000;

/** What becomes of a batch: done; not done; done, and nobody hears of it; nobody ever hears of it, or it is not done. */
export type Fate = "done" | "failed" | "unheard" | "never";

/** The database as objects of these tests see it. */
export class FatefulDatabase {
  fate: Fate = "done";
  /** When batches were begun, in milliseconds since T0. */
  writes: number[] = [];
  /** Rows that batches have written. */
  rows = 0;
  /** Batches that are under way, and are going to end. */
  busy = 0;

  readonly binding = new Proxy(env.DB, {
    get: (target, name) => {
      if (name !== "batch") return target.prepare.bind(target);
      return async (statements: D1PreparedStatement[]) => {
        this.writes.push(Date.now() - T0);
        const { fate } = this;
        if (fate === "failed") throw new Error("away");
        if (fate === "never") await new Promise(() => undefined);
        this.busy += 1;
        const results = await target.batch(statements).finally(() => {
          this.busy -= 1;
        });
        this.rows += results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
        if (fate === "unheard") throw new Error("the connection broke");
        return results;
      };
    },
  });
}

export class Tenant {
  readonly #stub: Limiter;
  readonly #database: FatefulDatabase;
  #object: TenantLimiter | null = null;
  #alarmMs: number | null = null;
  /** Alarms that were set. */
  alarms = 0;

  private constructor(database: FatefulDatabase, stub: Limiter) {
    this.#database = database;
    this.#stub = stub;
  }

  static async begin(database: FatefulDatabase, stub: Limiter = newLimiter()): Promise<Tenant> {
    const tenant = new Tenant(database, stub);
    await tenant.restart();
    return tenant;
  }

  get name(): string {
    return this.#stub.name?.slice("tenant:".length) ?? "";
  }

  /** The object loses its memory, and starts anew from its rows. */
  async restart(): Promise<void> {
    // What an earlier life has under way ends with it: nothing goes on but by a timer.
    const nowMs = Date.now();
    vi.clearAllTimers();
    vi.setSystemTime(nowMs);
    await this.#inside((_object, state) => {
      this.#object = new TenantLimiter(state, { ...env, DB: this.#database.binding });
      vi.spyOn(state.storage, "setAlarm").mockImplementation(async (atMs) => {
        this.alarms += 1;
        this.#alarmMs = Number(atMs);
      });
    });
  }

  /** @returns what the object answers */
  async do<T>(work: (object: TenantLimiter) => T): Promise<T> {
    return await this.#inside((object) => work(object));
  }

  /** Checks at this moment, so many of them admitted by limits that admit all. */
  async check(count = 1): Promise<void> {
    await this.do((object) => {
      for (let n = 0; n < count; n++) object.check({ cost: 1, limits: null, tier: "gold" });
    });
  }

  /** Time passes. What the database is asked it answers at once. */
  async pass(ms: number): Promise<void> {
    const untilMs = Date.now() + ms;
    for (;;) {
      // Timers set alarms, so there are no jumps past one.
      const stepMs = vi.getTimerCount() > 0 ? STEP_MS : ms;
      const nextMs = Math.min(untilMs, Date.now() + stepMs, Math.max(Date.now(), this.#alarmMs ?? untilMs));
      await this.#inside(async (object) => {
        await vi.advanceTimersByTimeAsync(nextMs - Date.now());
        if (this.#alarmMs === null || this.#alarmMs > Date.now()) return;
        this.#alarmMs = null;
        void object.alarm();
      });
      do await settled(3);
      while (this.#database.busy > 0);
      const alarmMs = this.#alarmMs ?? Number.POSITIVE_INFINITY;
      if (Date.now() >= untilMs && alarmMs > untilMs) return;
    }
  }

  /** Rows that the object has written so far. */
  async rows(): Promise<number> {
    return await this.#inside((_object, { storage: { sql } }) =>
      Number(sql.exec("SELECT total_changes() AS n").one().n),
    );
  }

  /** By minute since T0, what D1 knows: admitted, refused. */
  async stored(): Promise<number[][]> {
    const { minutes } = await readTenantUsage(env.DB, this.name, MINUTE - 5, MINUTE + 600);
    return minutes.map(({ minute, admitted, refused }) => [minute - MINUTE, admitted, refused]);
  }

  /** All that was admitted, by what D1 knows and what the object tells, as the admin's view adds them. */
  async shown(): Promise<number> {
    const { minutes, isIn } = await readTenantUsage(env.DB, this.name, MINUTE - 5, MINUTE + 600);
    const { pending, parcel } = await this.do((object) => object.usage());
    const onTheWay = parcel === null || isIn(parcel.life, parcel.number) ? [] : parcel.minutes;
    return [...minutes, ...onTheWay, ...pending].reduce((sum, { admitted }) => sum + admitted, 0);
  }

  async #inside<T>(work: (object: TenantLimiter, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return await runInDurableObject(this.#stub, (own: TenantLimiter, state) => work(this.#object ?? own, state));
  }
}
