/**
 * What an object keeps: only what was committed outlives it. The writes of one event are one commit, as in the real
 * storage, so a crash loses all of an event or nothing; a write that was not committed is undone.
 */

/** What can take a write back. */
interface Undoable {
  /** @param before what was there; undefined: nothing */
  restore(key: unknown, before: unknown): void;
}

export class Disk {
  /** Table, key and what was there before, one after the other: three places a write. */
  readonly #undo: unknown[] = [];
  #writes = 0;

  /** Writes so far, undone ones included: a step that leaves this number alone has written nothing. */
  get writes(): number {
    return this.#writes;
  }

  /** Takes note of a write that was just made. */
  wrote(table: Undoable, key: unknown, before: unknown): void {
    this.#writes += 1;
    this.#undo.push(table, key, before);
  }

  commit(): void {
    this.#undo.length = 0;
  }

  rollback(): void {
    while (this.#undo.length > 0) {
      const [table, key, before] = this.#undo.splice(-3);
      (table as Undoable).restore(key, before);
    }
  }
}

/** A table of such a storage: a map whose writes can be undone until they are committed. */
export class Table<K, V> implements Undoable {
  readonly #disk: Disk;
  readonly #rows = new Map<K, V>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: K): V | undefined {
    return this.#rows.get(key);
  }

  entries(): Iterable<readonly [K, V]> {
    return this.#rows.entries();
  }

  values(): Iterable<V> {
    return this.#rows.values();
  }

  put(key: K, row: V): void {
    const before = this.#rows.get(key);
    this.#rows.set(key, row);
    this.#disk.wrote(this, key, before);
  }

  delete(key: K): void {
    const before = this.#rows.get(key);
    if (this.#rows.delete(key)) this.#disk.wrote(this, key, before);
  }

  /** Only ever called with what {@link put} and {@link delete} have noted. */
  restore(key: unknown, before: unknown): void {
    if (before === undefined) this.#rows.delete(key as K);
    else this.#rows.set(key as K, before as V);
  }
}
