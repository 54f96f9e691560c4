import type { MeterDisk } from "../core/charge-ahead.ts";
import type { Meter } from "../core/meter.ts";

/** A limiter object's rows, in memory, and how many were written. */
export class MeterRows implements MeterDisk {
  readonly written = new Map<string, Meter>();
  count = 0;
  /** Broken on purpose: nothing is written until the object falls idle. */
  isLost = false;

  get hasRows(): boolean {
    return this.count > 0;
  }

  get isPrepared(): boolean {
    return this.count > 0;
  }

  save(id: string, meter: Meter): void {
    if (this.isLost) return;
    this.written.set(id, meter);
    this.count += 1;
  }

  delete(id: string): void {
    this.written.delete(id);
    this.count += 1;
  }

  deleteAll(): void {
    this.written.clear();
    this.count += 1;
  }

  saveState(): void {
    this.count += 1;
  }
}
