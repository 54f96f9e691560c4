/**
 * Whether the object's disk has room for work. Asking the database takes as long as writing a row does, and the question
 * comes up several times for each command, so it is put now and then only: what can be written in between is far less
 * than what is kept free.
 */

/** An object may have 10 GB. Past this it takes only what ends work, so that ending work stays possible. */
const STORAGE_BYTES_MAX = 8 * 1024 ** 3;
/** Questions that one look answers. A command asks one or two, and writes a few MB at most. */
const ANSWERS_PER_LOOK = 256;

export class DiskSpace {
  readonly #sql: Pick<SqlStorage, "databaseSize">;
  #answersLeft = 0;

  constructor(sql: Pick<SqlStorage, "databaseSize">) {
    this.#sql = sql;
  }

  /** While it is short of space each question is a look: space that has come free is seen at once. */
  get isShort(): boolean {
    if (this.#answersLeft > 0) {
      this.#answersLeft -= 1;
      return false;
    }
    const isShort = this.#sql.databaseSize > STORAGE_BYTES_MAX;
    if (!isShort) this.#answersLeft = ANSWERS_PER_LOOK - 1;
    return isShort;
  }
}
