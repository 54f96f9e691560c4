import type { MeterDisk } from "../core/charge-ahead.ts";
import type { Meter } from "../core/meter.ts";
import type { Limits } from "../core/policy.ts";
import {
  deleteMeter,
  deleteMeters,
  prepareLimiter,
  SHAPE,
  type StoredLimiter,
  type StoredUsage,
  saveMeter,
  saveState,
} from "./limiter-store.ts";

/**
 * A limiter's rows, and what an object that starts now would read of them. The tables are made, and rows of an older
 * shape are rewritten, with this life's first write and not before.
 */
export class LimiterDisk implements MeterDisk {
  readonly #sql: SqlStorage;
  readonly #written: Map<string, Meter>;
  /** What was left in an older shape, until this life's first write makes it into the present one. */
  #old: StoredLimiter | null;
  #prepared: boolean;
  readonly #usage: () => StoredUsage;

  /** @param usage what has been counted until now: it is written with the limits */
  constructor(sql: SqlStorage, stored: StoredLimiter | null, usage: () => StoredUsage) {
    this.#usage = usage;
    this.#sql = sql;
    this.#written = new Map(stored?.meters);
    this.#old = stored?.shape === SHAPE ? null : stored;
    this.#prepared = stored?.shape === SHAPE;
  }

  get written(): ReadonlyMap<string, Meter> {
    return this.#written;
  }

  /** Whether there is anything on disk. */
  get hasRows(): boolean {
    return this.#prepared || this.#old !== null;
  }

  /** Whether this life has written, or an earlier one in the present shape. */
  get isPrepared(): boolean {
    return this.#prepared;
  }

  save(id: string, meter: Meter): void {
    this.#prepare();
    saveMeter(this.#sql, id, meter);
    this.#written.set(id, meter);
  }

  delete(id: string): void {
    this.#prepare();
    deleteMeter(this.#sql, id);
    this.#written.delete(id);
  }

  deleteAll(): void {
    if (this.hasRows) {
      this.#prepare();
      deleteMeters(this.#sql);
    }
    this.#written.clear();
  }

  saveState(limits: Limits): void {
    this.#prepare();
    saveState(this.#sql, limits, this.#usage());
  }

  #prepare(): void {
    if (!this.#prepared) prepareLimiter(this.#sql, this.#old);
    this.#prepared = true;
    this.#old = null;
  }
}
